/** The folder of the built Studio, for the server that serves it. */

/** The folder of the built assets; the same from the sources and from the published package. Empty until `vite build` ran. */
export const studioFolder: URL = new URL('../dist/app/', import.meta.url)
