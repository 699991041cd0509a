/** Pages of a document: where one begins, and its cursors, which follow the seq and not the dates [Rb54]. */
import { createHash } from 'node:crypto'
import { type DetailLevel, type Document, WitanError } from '@witan/protocol'
import { readJson } from '@witan/protocol/schemas'
import { type PageBound, pageBound } from '../identity/page-bound.ts'
import { frozen } from '../identity/frozen.ts'
import { isTurnSpent, nextTurn } from '../identity/turn.ts'
import type { DocumentFold, KeptMessage, ShownCall } from './document.ts'

/** A gap between two messages: after this message, or with seq 0 before all messages. */
interface Gap {
  readonly seq: number
  readonly part: number
}

/** The direction of a page from its gap. */
type Direction = 'older' | 'newer'

/**
 * Where a page begins: at the newest message, at a date (exclusive, ms), or where another page ended. A date cuts the log at the
 * first message that is not earlier (`before`), or the first that is later (`after`).
 */
export type PageStart =
  | { readonly kind: 'newest' }
  | { readonly kind: 'before' | 'after'; readonly date: number }
  | { readonly kind: 'cursor'; readonly direction: Direction; readonly gap: Gap }

/** Where the page begins, how many messages it has at most, how much detail, and where it ends beside its limit. */
export interface DocumentPage {
  readonly start: PageStart
  readonly limit: number
  readonly detail: DetailLevel
  /** Default: at about 4 MiB of JSON. */
  readonly bound?: PageBound
  /** Takes out of a text what was hidden after it was written. */
  readonly scrub?: ((text: string) => string) | null
  /** True for a reader who may not read what a model's server said. */
  readonly isPlain?: boolean
}

/** A page of a document, in the order of the log. It grows from its start. It shares only the results of tool calls with the fold, and they are frozen. */
export async function pageOf(
  document: DocumentFold,
  page: DocumentPage,
): Promise<Pick<Document, 'messages' | 'olderCursor' | 'newerCursor' | 'hasMore'>> {
  const { messages, path } = document
  const { start, limit } = page
  const isOlder = start.kind === 'cursor' ? start.direction === 'older' : start.kind !== 'after'
  const edge = edgeOf(messages, start)
  // Messages that come while the page grows belong to a later one.
  const most = isOlder ? Math.min(limit, edge) : Math.min(limit, messages.length - edge)
  const isLast = edge + most === messages.length
  const taken = await take(messages, { from: isOlder ? edge - 1 : edge, step: isOlder ? -1 : 1, most }, page)
  const [from, to] = isOlder ? [edge - taken.length, edge] : [edge, edge + taken.length]
  const isEnd = isOlder ? edge === messages.length : isLast && taken.length === most
  const olderCursor = from === 0 ? null : cursorText(path, 'older', messages[from - 1])
  const newerCursor = isEnd ? null : cursorText(path, 'newer', messages[to - 1])
  return {
    messages: isOlder ? taken.reverse() : taken,
    olderCursor,
    newerCursor,
    hasMore: (isOlder ? olderCursor : newerCursor) !== null,
  }
}

/** At most `most` messages, as long as they fit. */
async function take(
  messages: readonly KeptMessage[],
  { from, step, most }: { readonly from: number; readonly step: 1 | -1; readonly most: number },
  { detail, bound = pageBound(), scrub = null, isPlain = false }: DocumentPage,
): Promise<Document['messages']> {
  const taken: Document['messages'] = []
  for (let count = 0; count < most; count += 1) {
    if (isTurnSpent()) await nextTurn()
    const message = shown(messages[from + count * step] as KeptMessage, { detail, isPlain })
    if (scrub !== null && message.reasoning !== undefined) message.reasoning = scrub(message.reasoning)
    if (!(await bound.fits(message))) break
    taken.push(message)
  }
  return taken
}

/** The number of messages before the start of a page. */
function edgeOf(messages: readonly KeptMessage[], start: PageStart): number {
  switch (start.kind) {
    case 'newest':
      return messages.length
    case 'before':
      return countUntil(messages, ({ at }) => at >= start.date)
    case 'after':
      return countUntil(messages, ({ at }) => at > start.date)
    case 'cursor': {
      const { seq, part } = start.gap
      return countUntil(messages, (one) => one.seq > seq || (one.seq === seq && one.part > part))
    }
    default:
      return assertNever(start)
  }
}

function countUntil(messages: readonly KeptMessage[], isBehind: (message: KeptMessage) => boolean): number {
  const index = messages.findIndex(isBehind)
  return index < 0 ? messages.length : index
}

function shown(
  { at, part: _, text: whole, plainText, parts, usage, toolCalls, reasoning, ...message }: KeptMessage,
  { detail, isPlain }: { readonly detail: DetailLevel; readonly isPlain: boolean },
): Document['messages'][number] {
  const isOther = isPlain && plainText !== undefined
  const text = isOther ? plainText : whole
  return {
    ...message,
    text,
    parts: isOther ? [{ type: 'text', text }] : parts.map((one) => ({ ...one })),
    toolCalls:
      detail === 'simple'
        ? []
        : toolCalls.map((one) =>
            callOf(isPlain && one.plainResult !== undefined ? { ...one, result: one.plainResult } : one, detail),
          ),
    date: iso(at),
    usage: usage === null ? null : { ...usage },
    ...(detail !== 'full' || reasoning === undefined ? {} : { reasoning }),
  }
}

type Call = Document['messages'][number]['toolCalls'][number]

function callOf({ id, name, written, result, document, cost }: ShownCall, detail: DetailLevel): Call {
  const call = { id, name, arguments: parsed(written), result: frozen(result), document }
  if (detail !== 'full') return call
  const { startedAt, endedAt, usage } = cost
  const at = { startedAt: startedAt === null ? null : iso(startedAt), endedAt: endedAt === null ? null : iso(endedAt) }
  return { ...call, ...at, usage: usage === null ? null : { ...usage } }
}

/** The arguments as a value, or as text if they are not JSON or nested too deep. */
function parsed(text: string): unknown {
  const read = readJson(text)
  return read.ok ? read.value : text
}

function iso(at: number): string {
  return new Date(at).toISOString()
}

function cursorText(path: string, direction: Direction, behind: KeptMessage | undefined): string {
  const { seq, part } = behind ?? { seq: 0, part: 0 }
  return [direction, seq, part, markOf(path)].join('.')
}

/** A mark that binds a cursor to its document. */
function markOf(path: string): string {
  return createHash('sha256').update(path).digest('base64url').slice(0, 10)
}

const cursorPattern = /^(older|newer)\.(\d{1,15})\.(\d{1,6})\.([\w-]{10})$/

/** Parses a cursor of this document. Throws `BODY_INVALID` for any other text. */
export function readCursor(path: string, text: string): PageStart & { readonly kind: 'cursor' } {
  const [, direction, seq, part, mark] = cursorPattern.exec(text) ?? []
  if (mark === undefined) throw cursorError('is no cursor of a document')
  if (mark !== markOf(path)) throw cursorError('belongs to another document')
  return { kind: 'cursor', direction: direction as Direction, gap: { seq: Number(seq), part: Number(part) } }
}

/** Refuses a cursor beyond the log's end, left from a deleted conversation of the same id. Throws `BODY_INVALID`. */
export function assertWithin(start: PageStart, lastSeq: number): void {
  if (start.kind === 'cursor' && start.gap.seq > lastSeq) throw cursorError('points beyond the end of the conversation')
}

function cursorError(what: string): WitanError {
  return new WitanError('BODY_INVALID', `\`cursor\` ${what}.`, {
    path: 'cursor',
    hint: 'Send the `olderCursor` or `newerCursor` of a page of this document as it is, or leave it out for the newest messages.',
  })
}

function assertNever(start: never): never {
  throw new Error(`unknown start of a page ${JSON.stringify(start)}`)
}
