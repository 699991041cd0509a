/** The exchanges of a run as its readers see them, folded from its entries [T20]. */
import type { Entry, ExchangeEnds, ExchangeMessage, ExchangeStanding, ToolStartBody } from '@witan/protocol/entries'
import type { Exchange } from '@witan/protocol/protocols'
import { frozen } from '../identity/frozen.ts'
import { jsonLength } from '../identity/json-length.ts'
import { cutTo } from '../parameter/scrub.ts'
import { exchangeKey } from '../tool/exchange.ts'

interface Reading {
  readonly found: Map<string, Exchange>
  /** The latest exchange of two agents of a job by a protocol. */
  readonly latest: Map<string, string>
  /** Messages that were not sent, by their calls, until it is known why. */
  readonly unsent: Map<string, NonNullable<ToolStartBody['exchange']> & { readonly key: string }>
  sent: number
  /** How many more characters of messages are shown whole. */
  room: number
}

/** As many characters of messages are shown whole as a page has; of a later one that is not short, the beginning. */
const mostCharacters = 4_000_000
const shortCharacters = 1_000

/** The exchanges of the run, in the order of their beginning. */
export async function exchangesOf(entries: AsyncIterable<Entry>, run: string): Promise<Exchange[]> {
  const reading: Reading = { found: new Map(), latest: new Map(), unsent: new Map(), sent: 0, room: mostCharacters }
  for await (const entry of entries) if (entry.place.run === run) applyEntry(reading, entry)
  return [...reading.found.values()]
}

function applyEntry(reading: Reading, entry: Entry): void {
  const { place, job } = entry
  if (entry.type === 'message' && entry.body.exchange !== undefined) {
    applyMessage(reading, entry, { sent: entry.body.exchange, author: entry.body.author })
  } else if (entry.type === 'start' && entry.kind === 'tool' && entry.body.exchange !== undefined) {
    const key = keyIn(job, entry.body.exchange)
    if (!reading.latest.has(key)) reading.latest.set(key, place.call)
    reading.unsent.set(place.call, { ...entry.body.exchange, key })
  } else if (entry.type === 'error' && entry.kind === 'tool') applyError(reading, entry)
}

function keyIn(job: string, ends: Omit<ExchangeEnds, 'revision'>): string {
  return `${job} ${exchangeKey(ends)}`
}

function applyMessage(
  reading: Reading,
  { seq, job }: Entry,
  { sent, author }: { readonly sent: ExchangeMessage; readonly author: string },
): void {
  const { name, isReply, body, initiator, responder, id } = sent
  const exchange = exchangeAt(reading, id, sent)
  reading.latest.set(keyIn(job, sent), id)
  reading.sent += 1
  const to = author === initiator ? responder : initiator
  exchange.messages.push({ seq, number: reading.sent, from: author, to, name, isReply, body: shownBody(reading, body) })
  if (isReply) return
  exchange.state = sent.state
  exchange.finished = sent.finished
}

function shownBody(reading: Reading, body: unknown): unknown {
  const length = jsonLength(body)
  reading.room -= length
  return reading.room < 0 && length > shortCharacters ? cutTo(JSON.stringify(body), shortCharacters) : frozen(body)
}

const violations: ReadonlySet<string> = new Set(['PROTOCOL_VIOLATION', 'TOOL_ARGS_INVALID'])

function applyError(reading: Reading, { seq, place, body }: Entry & { type: 'error' }): void {
  const unsent = reading.unsent.get(place.call)
  reading.unsent.delete(place.call)
  const id = reading.latest.get(unsent?.key ?? '')
  if (unsent === undefined || id === undefined || !violations.has(body.code)) return
  exchangeAt(reading, id, unsent).violations.push({ seq, code: body.code, detail: body.detail })
}

function exchangeAt({ found }: Reading, id: string, of: ExchangeEnds & ExchangeStanding): Exchange {
  const known = found.get(id)
  if (known !== undefined) return known
  const { protocol, revision, initiator, responder, state, finished } = of
  const made = { id, protocol, revision, initiator, responder, state, finished, violations: [], messages: [] }
  found.set(id, made)
  return made
}
