/** Answers with the content of a file, so that no browser shows or runs it as a page of this server. */
import type { FileContent } from '@witan/core'
import type { JsonReply } from './route.ts'

/** The file as a reply; 304 if the request has it already. */
export function fileReply(
  { name, mediaType, bytes }: FileContent,
  { digest, headers }: { readonly digest: string; readonly headers: Headers },
): JsonReply {
  const etag = `"${digest}"`
  const always = {
    etag,
    'cache-control': 'private, no-cache',
    'content-disposition': disposition(name),
    'content-security-policy': "sandbox; default-src 'none'",
    'cross-origin-resource-policy': 'same-origin',
  }
  const known = headers.get('if-none-match')?.split(',') ?? []
  if (known.some((one) => one.trim().replace(/^W\//, '') === etag)) return { status: 304, headers: always }
  return { status: 200, bytes: new Uint8Array(bytes), headers: { ...always, 'content-type': mediaType } }
}

/** The name twice: in ASCII, and as RFC 6266 has it for all others. */
function disposition(name: string | null): string {
  if (name === null) return 'attachment'
  const plain = name.replace(/[^\w .()-]/g, '_')
  const escaped = encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16)}`,
  )
  return `attachment; filename="${plain}"; filename*=UTF-8''${escaped}`
}
