/** Reads the JSON body of a request within its limits: type, size, encoding, depth, number of values. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { WitanError } from '@witan/protocol'
import { withTexts } from '@witan/protocol/digits'
import { jsonExcess, jsonSize, markParsed } from '@witan/protocol/schemas'

/** The most bytes a body may have: 1 MB. */
export const MAX_BODY_BYTES = 1_048_576

/** The most bytes of a body that may have files: 16 MB. Beside its files it has no more than any other. */
export const MAX_BODY_BYTES_WITH_FILES = 16_777_216

/** The bytes of a body and the parsed value; `value` is undefined for an empty body. */
export interface JsonBody {
  readonly bytes: Uint8Array
  readonly value: unknown
}

/** What a body may be besides plain JSON, which of its values are files, by default those of a prompt, and how many bytes it may have beside them. */
interface BodyForm {
  readonly types?: readonly string[]
  readonly lengthOfFiles?: (body: unknown) => number
  readonly mostBeside?: number
}

/** A body of documents: any of its texts may be long, so only its form is bounded, as that of all JSON. */
export const documentForm: BodyForm = { mostBeside: MAX_BODY_BYTES_WITH_FILES }

/**
 * Reads a body of at most `most` bytes. Throws `CONTENT_TYPE_UNSUPPORTED`, `BODY_TOO_LARGE`, `JSON_TOO_DEEP` or `JSON_INVALID`. An
 * empty body needs no type.
 */
export async function readJsonBody(request: Request, most = MAX_BODY_BYTES, form: BodyForm = {}): Promise<JsonBody> {
  const { types = plainTypes, lengthOfFiles = filesOfPrompt, mostBeside = MAX_BODY_BYTES } = form
  const length = request.headers.get('content-length')
  if (length !== null && Number(length) > most) throw tooLarge(`${length} bytes`, most)
  const typed = request.headers.get('content-type')
  if (typed !== null) checkType(request, typed, types)
  const bytes = length === null ? await readUnknownLength(request, most) : new Uint8Array(await request.arrayBuffer())
  if (bytes.byteLength > most) throw tooLarge(`${bytes.byteLength} bytes`, most)
  if (bytes.byteLength === 0) return { bytes, value: undefined }
  checkType(request, typed, types)
  const value = markParsed(await parseJson(bytes, mostBeside))
  if (bytes.byteLength <= MAX_BODY_BYTES) return { bytes, value }
  await nextTurn()
  const beside = bytes.byteLength - lengthOfFiles(value)
  if (beside > mostBeside) throw tooLarge(`${beside} bytes beside its files`, mostBeside)
  return { bytes, value }
}

/** How long the base64 of a prompt's files is. */
function filesOfPrompt(body: unknown): number {
  const { prompt } = (body ?? {}) as { readonly prompt?: unknown }
  let length = 0
  for (const part of Array.isArray(prompt) ? prompt : [])
    if (part?.type === 'file' && typeof part.data === 'string') length += part.data.length
  return length
}

/** A longer body takes some milliseconds at each step: other work goes on in between. */
const shortBytes = 65_536

/**
 * Parses UTF-8 JSON that nests at most 64 deep; a number that JavaScript would change is read as text. Messages give the position of
 * a mistake, never the text around it.
 */
async function parseJson(bytes: Uint8Array, mostBeside: number): Promise<unknown> {
  const isShort = bytes.byteLength <= shortBytes
  if (!isShort) await nextTurn()
  const text = decode(bytes)
  const value = parsed(text, bytes.byteLength > mostBeside ? mostBeside : null)
  if (!isShort) await nextTurn()
  const exact = withTexts(text)
  if (exact === text) return value
  if (!isShort) await nextTurn()
  return JSON.parse(exact)
}

/** `mostBeside`: null where no more can be beside the files. */
function parsed(text: string, mostBeside: number | null): unknown {
  if (mostBeside !== null) refuseLongRest(text, mostBeside)
  const excess = jsonExcess(text)
  if (excess !== null) {
    const hint = excess.isDepth ? 'Flatten the value.' : 'Send less in one request.'
    throw new WitanError(
      excess.isDepth ? 'JSON_TOO_DEEP' : 'BODY_TOO_LARGE',
      `The body cannot be read: ${excess.problem}.`,
      { hint },
    )
  }
  try {
    return JSON.parse(text)
  } catch (error) {
    const at = /position (\d+)/.exec(error instanceof Error ? error.message : '')?.[1]
    const place = at === undefined ? 'its end' : `character ${at}`
    throw new WitanError('JSON_INVALID', `The body is not JSON: it stops making sense at ${place}.`, {
      hint: 'Send one JSON value.',
    })
  }
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new WitanError('JSON_INVALID', 'The body is not valid UTF-8.', { hint: 'Encode the JSON as UTF-8.' })
  }
}

const plainTypes: readonly string[] = ['application/json']

/** Only JSON: a page of another origin cannot send such a type without asking first. */
function checkType(request: Request, type: string | null, types: readonly string[]): void {
  const encoding = request.headers.get('content-encoding')
  const [, name, rest] = /^\s*([^\s;]*)\s*(.*)$/s.exec(type ?? '') ?? []
  const fits = types.includes(name?.toLowerCase() ?? '') && /^(;\s*charset\s*=\s*"?utf-8"?\s*)?;?\s*$/i.test(rest ?? '')
  if (fits && (encoding === null || encoding === 'identity')) return
  const hint = `Send \`Content-Type: ${types[0]}\` and no \`Content-Encoding\`.`
  const named = `\`${type?.replace(/[^\w/+.;= -]/g, '').slice(0, 80)}\``
  const got = fits ? 'an encoded body' : type === null ? 'none' : named
  throw new WitanError(
    'CONTENT_TYPE_UNSUPPORTED',
    `The content type must be \`${types.join('` or `')}\` in UTF-8; got ${got}.`,
    { hint },
  )
}

async function readUnknownLength(request: Request, most: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let total = 0
  if (request.body === null) return new Uint8Array()
  for await (const part of request.body) {
    total += part.byteLength
    if (total > most) throw tooLarge(`at least ${total} bytes`, most)
    parts.push(part)
  }
  return Buffer.concat(parts)
}

/** Only files may make a body longer. */
function refuseLongRest(text: string, most: number): void {
  const { beside, written } = jsonSize(text)
  if (beside + written <= most) return
  throw tooLarge('more bytes than that beside its files', most)
}

function tooLarge(actual: string, most: number): WitanError {
  const hint = 'Send less in one request.'
  return new WitanError('BODY_TOO_LARGE', `The body has ${actual}; the limit is ${most} bytes.`, { hint })
}
