/** Takes documents in: each is checked for itself, and a bad one fails alone. */
import { WitanError } from '@witan/protocol'
import {
  type AttributeType,
  type AttributeValue,
  documentInputSchema,
  type KnowledgeBase,
  mostDocuments,
} from '@witan/protocol/knowledge'
import { decodeBase64 } from '../identity/base64.ts'
import { jsonLength } from '../identity/json-length.ts'
import { runWithPauses } from '../identity/pausable.ts'
import { pause } from '../identity/turn.ts'
import { documentDigest } from '../knowledge/digest.ts'
import type { Attributes } from '../knowledge/document.ts'
import type { IngestRow, PendingDocument } from '../knowledge/records.ts'

/** The most bytes of all contents of a request: 16 MiB. */
const mostBytes = 16 * 1_048_576
const mostAttributes = 20_000
const mostDetail = 300
/** A multiple of four, so that each piece of base64 is base64. */
const pieceCharacters = 262_144

type Failure = IngestRow['failed'][number]

/** What is to be read, and what failed already. */
interface Accepted {
  readonly pending: readonly PendingDocument[]
  readonly failed: readonly Failure[]
}

/** A document that is refused: why, for whoever sent it. */
class Refused extends Error {
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.name = 'Refused'
    this.code = code
  }
}

/**
 * Checks documents of a request against their base and the media types that can be read. Throws `BODY_INVALID` for more than 1,000 and
 * `BODY_TOO_LARGE` for more than 16 MiB of content; everything else fails a document alone. Of two with one key the first is taken.
 */
export async function acceptDocuments(
  base: KnowledgeBase,
  documents: readonly unknown[],
  mediaTypes: readonly string[],
): Promise<Accepted> {
  if (documents.length > mostDocuments)
    throw new WitanError(
      'BODY_INVALID',
      `The request has ${documents.length} documents, of ${mostDocuments} at most.`,
      {
        path: 'documents',
        hint: 'Send several requests.',
      },
    )
  refuseLarge(documents)
  const pending: PendingDocument[] = []
  const failed: Failure[] = []
  const keys = new Set<string>()
  for (const [index, document] of documents.entries()) {
    await pause()
    try {
      const accepted = await accept(base, document, mediaTypes)
      if (keys.has(accepted.key)) throw new Refused('BODY_INVALID', 'Another document of the request has this key.')
      keys.add(accepted.key)
      pending.push(accepted)
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      failed.push({ key: shownKey(document, index), code: error.code, detail: error.message.slice(0, mostDetail) })
    }
  }
  return { pending, failed }
}

function refuseLarge(documents: readonly unknown[]): void {
  let bytes = 0
  for (const document of documents) {
    const { text, data } = (document ?? {}) as Readonly<Record<string, unknown>>
    if (typeof text === 'string') bytes += Buffer.byteLength(text)
    if (typeof data === 'string') bytes += Buffer.byteLength(data, 'base64')
  }
  if (bytes > mostBytes)
    throw new WitanError('BODY_TOO_LARGE', `The documents have ${bytes} bytes, of ${mostBytes} at most.`, {
      hint: 'Send several requests.',
    })
}

async function accept(base: KnowledgeBase, given: unknown, mediaTypes: readonly string[]): Promise<PendingDocument> {
  const { attributes: all } = (given ?? {}) as { readonly attributes?: unknown }
  if (jsonLength(all, mostAttributes) > mostAttributes)
    throw new Refused('BODY_INVALID', `Its attributes have more than ${mostAttributes} characters.`)
  const parsed = documentInputSchema.safeParse(given)
  if (!parsed.success) throw invalid(parsed.error.issues[0])
  const { key, mediaType, text, data } = parsed.data
  const essence = essenceOf(mediaType)
  if (!/^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/.test(essence))
    throw new Refused('BODY_INVALID', '`mediaType` is no media type, such as `text/markdown`.')
  if (!mediaTypes.includes(essence))
    throw new Refused('MEDIA_TYPE_UNSUPPORTED', `Nothing reads \`${essence}\`. Read are ${mediaTypes.join(', ')}.`)
  if ((text === undefined) === (data === undefined))
    throw new Refused('BODY_INVALID', 'It needs either `text` or `data` in base64.')
  const document = {
    key,
    title: parsed.data.title === null ? null : stored(parsed.data.title),
    uri: parsed.data.uri === null ? null : stored(parsed.data.uri),
    mediaType,
    content: text === undefined ? await decoded(data as string) : text.toWellFormed(),
    attributes: attributesOf(base, parsed.data.attributes),
  }
  if (typeof document.content === 'string' && document.content.includes('\0'))
    throw new Refused('DOCUMENT_UNREADABLE', 'It is not text: it has NUL characters.')
  return { ...document, digest: await runWithPauses(documentDigest(base, document)) }
}

function invalid(issue: { readonly path: readonly PropertyKey[]; readonly message: string } | undefined): Refused {
  const path = issue?.path.map(String).join('.') || 'document'
  return new Refused('BODY_INVALID', `\`${path.slice(0, 100)}\` is not valid: ${issue?.message ?? ''}.`)
}

/** A media type without parameters, in lower case. */
function essenceOf(mediaType: string): string {
  return (mediaType.split(';', 1)[0] ?? '').trim().toLowerCase()
}

/** A text as every store can keep it. */
function stored(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd')
}

async function decoded(data: string): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  for (let from = 0; from < data.length; from += pieceCharacters) {
    await pause()
    const piece = data.slice(from, from + pieceCharacters)
    const isLast = from + pieceCharacters >= data.length
    const bytes = isLast || !piece.endsWith('=') ? decodeBase64(piece) : null
    if (bytes === null) throw new Refused('BODY_INVALID', '`data` is not base64, with padding and without line ends.')
    parts.push(bytes)
  }
  return Buffer.concat(parts)
}

function attributesOf(base: KnowledgeBase, given: Readonly<Record<string, AttributeValue>>): Attributes {
  for (const [name, value] of Object.entries(given)) {
    const type = Object.hasOwn(base.attributes, name) ? base.attributes[name] : undefined
    if (type === undefined) throw new Refused('BODY_INVALID', `The base declares no attribute \`${name}\`.`)
    if (typeOf(value) !== type) throw new Refused('BODY_INVALID', `The attribute \`${name}\` must be a ${type}.`)
  }
  const entries = Object.entries(given).map(([name, value]) => [name, storedValue(value)] as const)
  return Object.fromEntries(entries)
}

function typeOf(value: AttributeValue): AttributeType {
  return Array.isArray(value) ? 'string[]' : (typeof value as 'string' | 'number' | 'boolean')
}

function storedValue(value: AttributeValue): AttributeValue {
  if (Array.isArray(value)) return value.map(stored)
  return typeof value === 'string' ? stored(value) : value
}

/** The key of a document that failed: as it was sent, or its place in the request. */
function shownKey(document: unknown, index: number): string {
  const { key } = (document ?? {}) as { readonly key?: unknown }
  if (typeof key !== 'string' || key === '') return `documents.${index}`
  return key
    .slice(0, mostDetail)
    .toWellFormed()
    .replace(/[\p{Cc}\u2028\u2029]/gu, '\ufffd')
}
