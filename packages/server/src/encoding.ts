/** Content codings: which one a client accepts, and the compression of a reply that is complete in memory. */
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

/** The codings of this server, the better one first. */
const codings = ['br', 'gzip'] as const

/** A content coding of this server. */
export type Coding = (typeof codings)[number]

/** What a client accepts: the coding to use, or null for none, and whether it refuses a reply without one. */
interface Accepted {
  readonly coding: Coding | null
  readonly refusesIdentity: boolean
}

const none: Accepted = { coding: null, refusesIdentity: false }

/**
 * Reads `Accept-Encoding` (RFC 9110 §12.5.3): the accepted coding of the highest weight, brotli before gzip. Without the header, and
 * where identity weighs more, none. A part that is not well formed is ignored.
 */
export function acceptedCoding(headers: Headers): Accepted {
  const given = headers.get('accept-encoding')
  if (given === null) return none
  const weights = new Map<string, number>()
  for (const part of given.slice(0, longestHeader).toLowerCase().split(',')) {
    const [, name, weight = '1'] = /^\s*([\w*!#$%&'+.^`|~-]+)\s*(?:;\s*q=([01](?:\.\d{0,3})?)\s*)?$/.exec(part) ?? []
    if (name !== undefined) weights.set(name === 'x-gzip' ? 'gzip' : name, Math.min(1, Number(weight)))
  }
  const rest = weights.get('*')
  const identity = weights.get('identity') ?? (rest === 0 ? 0 : undefined)
  let coding: Coding | null = null
  let best = identity ?? 0
  for (const one of codings) {
    const weight = weights.get(one) ?? rest ?? 0
    if (weight > best || (coding === null && weight > 0 && weight === best)) [coding, best] = [one, weight]
  }
  return { coding, refusesIdentity: identity === 0 }
}

const longestHeader = 1_000

/** The header of a reply that exists in more than one coding. */
export const varies = { vary: 'Accept-Encoding' } as const

/** The ETag of a reply in a coding: another one than without it, since its bytes differ. `plainTag` undoes it. */
export function codedTag(tag: string, coding: Coding): string {
  return tag.replace(/"$/, `-${coding}"`)
}

/** The ETag of a reply without a coding, as `If-Match` and `If-None-Match` are compared. */
export function plainTag(tag: string): string {
  return tag.replace(/-(?:br|gzip)"$/, '"')
}

/** Smaller replies are sent as they are: the header would cost what is gained. */
const leastBytes = 1_024
/** Larger ones too: both forms are in memory for a moment. Pages of the API end far below. */
const mostBytes = 16 * 1_048_576
/** How many replies are compressed at once; further ones are sent as they are, so that no queue holds memory. */
const mostAtOnce = 8

/**
 * Levels at which a MiB of JSON costs 4 to 5 ms of CPU, on a thread beside the event loop; the usual level of brotli costs 1.6 s.
 * The window bounds the memory of one compression to about a megabyte.
 */
const brotli = { [constants.BROTLI_PARAM_QUALITY]: 1, [constants.BROTLI_PARAM_LGWIN]: 18 }
const pack: Readonly<Record<Coding, (bytes: Uint8Array) => Promise<Buffer>>> = {
  br: (bytes) => promisify(brotliCompress)(bytes, { chunkSize: 65_536, params: brotli }),
  gzip: (bytes) => promisify(gzip)(bytes, { chunkSize: 65_536, level: 1 }),
}
let atOnce = 0

const textual =
  /^(?:text\/(?!event-stream)[\w.+-]+|application\/(?:[\w.-]+\+)?(?:json|xml)|application\/(?:javascript|x-ndjson|yaml)|image\/svg\+xml)\s*(?:;|$)/i

/** A reply that is complete in memory. */
export interface WholeReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array<ArrayBuffer> | null
}

/**
 * The reply in the coding that its request accepts. Replies that are small, packed already or marked `no-transform` stay as they are.
 * A reply to HEAD gets the headers alone.
 */
export async function encoded(request: Request, reply: WholeReply): Promise<WholeReply> {
  const { status, headers, body } = reply
  if (!isCompressible(reply)) return { status, headers: withKnownTag(request, reply), body }
  const { coding, refusesIdentity } = acceptedCoding(request.headers)
  const length = body?.length ?? 0
  const isWorth = (length >= leastBytes || refusesIdentity) && length <= mostBytes && atOnce < mostAtOnce
  if (coding === null || body === null || !isWorth) return { status, headers: { ...headers, ...varies }, body }
  const packed = request.method === 'HEAD' ? null : await packedBytes(body, coding)
  const tag = headers.etag === undefined ? {} : { etag: codedTag(headers.etag, coding) }
  return { status, headers: { ...headers, ...tag, ...varies, 'content-encoding': coding }, body: packed }
}

async function packedBytes(body: string | Uint8Array<ArrayBuffer>, coding: Coding): Promise<Uint8Array<ArrayBuffer>> {
  atOnce += 1
  try {
    const bytes = await pack[coding](typeof body === 'string' ? Buffer.from(body) : body)
    return bytes as Uint8Array<ArrayBuffer>
  } finally {
    atOnce -= 1
  }
}

function isCompressible({ status, headers, body }: WholeReply): boolean {
  if (body === null || body.length === 0 || status === 304) return false
  return textual.test(headers['content-type'] ?? '') && !/\bno-transform\b/.test(headers['cache-control'] ?? '')
}

/** A 304 carries the ETag that the client has. */
function withKnownTag({ headers: asked }: Request, { status, headers }: WholeReply): Readonly<Record<string, string>> {
  if (status !== 304 || headers.etag === undefined) return headers
  const known =
    asked
      .get('if-none-match')
      ?.split(',')
      .map((one) => one.trim().replace(/^W\//, '')) ?? []
  return { ...headers, ...varies, etag: known.find((one) => plainTag(one) === headers.etag) ?? headers.etag }
}
