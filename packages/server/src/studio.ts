/** Serves the built Studio: its files, and its page for every other path. */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { extname, join, normalize, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { acceptedCoding, type Coding, codedTag, varies } from './encoding.ts'
import { isKnown } from './file-reply.ts'

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
  "script-src 'self'",
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

/** The names of the forms that the build has compressed. Nobody asks for them by name. */
const suffixes: Readonly<Record<Coding, string>> = { br: '.br', gzip: '.gz' }

/**
 * The file of a path; the page for a path that names no file, so that the Studio can route it; null for a file that is not there. A
 * form that the build has compressed is sent where the request accepts it.
 */
export async function studioResponse(folder: URL, path: string, headers = new Headers()): Promise<Response | null> {
  const root = fileURLToPath(folder)
  const page = await readFile(join(root, 'index.html')).catch(() => null)
  if (page === null)
    return new Response(notBuilt, {
      headers: { 'content-type': typeOf('.html'), 'cache-control': 'no-store', ...safety },
    })
  const name = fileName(path)
  if (name === null || Object.values(suffixes).includes(extname(name))) return null
  const isAsset = /^assets[/\\]/.test(name)
  const asPage = () => respond({ root, name: 'index.html', bytes: page }, headers)
  if ((extname(name) === '' && !isAsset) || name === 'index.html') return asPage()
  const bytes = await readFile(join(root, name)).catch(() => null)
  if (bytes !== null) return respond({ root, name, bytes }, headers)
  return isAsset || Object.hasOwn(types, extname(name)) ? null : asPage()
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

/** The hash in the name of a file; null for one without it. The content of a file whose name has one never changes. */
function hashOf(name: string): string | null {
  return /^assets[/\\].*-([\w-]{8,})\.\w+$/.exec(name)?.[1] ?? null
}

interface StudioFile {
  readonly root: string
  readonly name: string
  readonly bytes: Buffer<ArrayBuffer>
}

async function respond({ root, name, bytes }: StudioFile, asked: Headers): Promise<Response> {
  const hash = hashOf(name)
  const cache = hash === null ? 'no-cache' : 'public, max-age=31536000, immutable'
  const digest = hash ?? createHash('sha256').update(bytes).digest('base64url').slice(0, 16)
  const { coding } = acceptedCoding(asked)
  const packed = coding === null ? null : await readFile(join(root, name + suffixes[coding])).catch(() => null)
  const tag = coding === null || packed === null ? `"${digest}"` : codedTag(`"${digest}"`, coding)
  const headers = { etag: tag, ...varies, 'cache-control': cache, ...safety }
  if (isKnown(asked, digest)) return new Response(null, { status: 304, headers })
  const encoding = coding === null || packed === null ? {} : { 'content-encoding': coding }
  return new Response(packed ?? bytes, { headers: { 'content-type': typeOf(name), ...encoding, ...headers } })
}

function typeOf(name: string): string {
  return types[extname(name) || name] ?? 'application/octet-stream'
}
