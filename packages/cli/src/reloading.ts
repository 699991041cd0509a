/** A configuration that can be read again: its own modules are loaded afresh each time, and watched. */
import { existsSync, type FSWatcher, watch } from 'node:fs'
import { registerHooks } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** The modules of one configuration. */
export interface ProjectModules {
  /** From now on every module of the configuration is loaded again. */
  renew(): void
  /** Calls `changed` a moment after any of its files was written, those too that are loaded later. */
  watch(changed: () => void): { close(): void }
  close(): void
}

const settleMs = 120
const mark = 'reload'

/**
 * Follows the relative imports that start at `file`. Packages, Witan's own among them, are loaded once and stay: only what
 * somebody edits beside the configuration is read again.
 */
export function createProjectModules(file: string): ProjectModules {
  const entry = pathToFileURL(file).href
  const files = new Set([file])
  let follow: (file: string) => void = () => {}
  let generation = 0
  const hooks = registerHooks({
    resolve: (specifier, context, next) => {
      const found = next(specifier, context)
      const isEntry = withoutQuery(found.url) === entry
      const isImport = /^\.{0,2}\//.test(specifier) && marked(context.parentURL)
      if (!found.url.startsWith('file:') || !(isEntry || isImport)) return found
      const path = fileURLToPath(withoutQuery(found.url))
      files.add(path)
      follow(path)
      const url = new URL(found.url)
      url.searchParams.set(mark, String(generation))
      return { ...found, url: url.href }
    },
  })
  return {
    renew: () => {
      generation += 1
    },
    watch: (changed) => {
      const watching = watchFiles(files, changed)
      follow = watching.follow
      for (const one of files) follow(one)
      return watching
    },
    close: () => hooks.deregister(),
  }
}

/**
 * Folders are watched rather than files: an editor may put a new file in the place of the old one. No folder is left before the
 * end, so that no change is lost while another one is taken up.
 */
function watchFiles(files: ReadonlySet<string>, changed: () => void) {
  let timer: NodeJS.Timeout | undefined
  const watchers = new Map<string, FSWatcher>()
  return {
    /** Watches the folder of a file, if it does not yet. */
    follow(file: string): void {
      const folder = dirname(file)
      if (watchers.has(folder)) return
      const watcher = watch(folder, (_, name) => {
        if (name === null || !files.has(join(folder, name))) return
        clearTimeout(timer)
        timer = setTimeout(changed, settleMs)
      })
      // A folder that goes away is no reason to stop serving.
      watcher.on('error', () => {
        watcher.close()
        watchers.delete(folder)
      })
      watchers.set(folder, watcher)
    },
    close(): void {
      clearTimeout(timer)
      for (const watcher of watchers.values()) watcher.close()
    },
  }
}

/** Calls `found` with a file of one of these names a moment after it was written in the folder. */
export function watchForFile(
  { folder, names }: { readonly folder: string; readonly names: readonly string[] },
  found: (file: string) => void,
): { close(): void } {
  let timer: NodeJS.Timeout | undefined
  const watcher = watch(folder, (_, name) => {
    if (name === null || !names.includes(name)) return
    clearTimeout(timer)
    timer = setTimeout(() => existsSync(join(folder, name)) && found(join(folder, name)), settleMs)
  })
  watcher.on('error', () => watcher.close())
  return {
    close() {
      clearTimeout(timer)
      watcher.close()
    },
  }
}

function withoutQuery(url: string): string {
  return url.split(/[?#]/, 1)[0] ?? url
}

function marked(url: string | undefined): boolean {
  return url !== undefined && URL.canParse(url) && new URL(url).searchParams.has(mark)
}
