/** Serves the built Studio: its files, and its page for every other path. */
import { readFile } from 'node:fs/promises'
import { extname, join, normalize, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.map': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
}

const policy = [
  "default-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'self'",
].join('; ')

const safety = {
  'content-security-policy': policy,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
}

const notBuilt = `<!doctype html><html lang="en"><title>Witan</title><h1>Witan is running</h1>
<p>The Studio is not built. Run <code>npm run build -w @witan/studio</code> and load this page again.</p></html>
`

/** The file of a path; the page for a path that names no file, so that the Studio can route it; null for a file that is not there. */
export async function studioResponse(folder: URL, path: string): Promise<Response | null> {
  const root = fileURLToPath(folder)
  const page = await readFile(join(root, 'index.html')).catch(() => null)
  if (page === null) return respond(Buffer.from(notBuilt), '.html', 'no-store')
  const name = fileName(path)
  if (name === null) return null
  const isAsset = /^assets[/\\]/.test(name)
  if ((extname(name) === '' && !isAsset) || name === 'index.html') return respond(page, '.html', 'no-cache')
  const file = await readFile(join(root, name)).catch(() => null)
  if (file !== null) return respond(file, extname(name), cacheFor(name))
  return isAsset || Object.hasOwn(types, extname(name)) ? null : respond(page, '.html', 'no-cache')
}

/** The path below the folder, or null for one that leaves it. */
function fileName(path: string): string | null {
  let decoded: string
  try {
    decoded = decodeURIComponent(path)
  } catch {
    return null
  }
  if (/[\0\\]/.test(decoded)) return null
  const name = normalize(decoded.replace(/^\/+/, ''))
  return name === '..' || name.startsWith(`..${sep}`) || name.startsWith(sep) ? null : name
}

/** The content of a file whose name has a hash never changes. */
function cacheFor(name: string): string {
  return /^assets[/\\].*-[\w-]{8,}\.\w+$/.test(name) ? 'public, max-age=31536000, immutable' : 'no-cache'
}

function respond(bytes: Buffer<ArrayBuffer>, extension: string, cache: string): Response {
  const type = types[extension] ?? 'application/octet-stream'
  return new Response(bytes, { headers: { 'content-type': type, 'cache-control': cache, ...safety } })
}
