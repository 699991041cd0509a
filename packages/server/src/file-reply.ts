/** Answers with the content of a file, so that no browser shows or runs it as a page of this server. */
import type { FileContent } from '@witan/core'
import { plainTag } from './encoding.ts'
import type { JsonReply } from './route.ts'

/** Whether the request has the content of that digest already, in any coding. */
export function isKnown(headers: Headers, digest: string): boolean {
  const known =
    headers
      .get('if-none-match')
      ?.split(',')
      .map((one) => plainTag(one.trim().replace(/^W\//, ''))) ?? []
  return known.includes(`"${digest}"`) || known.includes('*')
}

/** The file as a reply; 304 if the request has it already. `policy` limits a browser that shows the file as a page. */
export function fileReply(
  { name, mediaType, bytes }: FileContent,
  at: { readonly digest: string; readonly headers: Headers; readonly policy?: string },
): JsonReply {
  const { digest, headers, policy = "sandbox; default-src 'none'" } = at
  const always = {
    etag: `"${digest}"`,
    'cache-control': 'private, no-cache',
    'content-disposition': disposition(name),
    'content-security-policy': policy,
    'cross-origin-resource-policy': 'same-origin',
  }
  if (isKnown(headers, digest)) return { status: 304, headers: always }
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
