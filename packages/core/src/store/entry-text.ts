/**
 * The stored text of a log entry: a flat JSON array with everything but the seq, which is in the row's key. It begins with type, kind, time
 * and job; then come where the entry belongs and its body, each as a short list. What cannot be told from a short one is stored as by
 * earlier versions: each field of its place, and the body as an object.
 */
import type { Entry, EntryView } from '@witan/protocol/entries'
import { longBody, shortBody } from './short-body.ts'
import { longPlace, shortPlace } from './short-place.ts'
import { type Fields, longCall, longUsage, shortCall, shortUsage } from './short-usage.ts'

/** The text of an entry, made once when it is appended to this conversation. */
export function entryText(entry: Entry, conversation: string): string {
  const { type, kind, at, job } = entry
  const place = shortPlace(entry, conversation)
  const body = bodyList(entry) ?? withShortUsage(entry)
  return JSON.stringify(
    place === null ? [type, kind, at, job, ...allFields(entry)] : [type, kind, at, job, place, body],
  )
}

/** Whether two entries with one seq are the same one. Nobody writes two entries with one number in one epoch at one time. */
export function isSameEntry(one: Entry, other: Omit<Entry, 'kind' | 'body' | 'place'>): boolean {
  return (
    one.type === other.type &&
    one.at === other.at &&
    one.job === other.job &&
    one.epoch === other.epoch &&
    one.appendNo === other.appendNo
  )
}

/** The body as a list; null if it has no form. A model's reply says how long it took. */
function bodyList({ type, kind, at, body }: Entry): readonly unknown[] | null {
  if (type !== 'end' || kind === 'tool') return shortBody(type, kind, body as unknown as Fields)
  if (kind === 'agent') return shortBody(type, kind, { ...body, usage: shortUsage(body.usage) ?? body.usage })
  if (!Number.isSafeInteger(body.startedAt) || !Number.isSafeInteger(at)) return null
  return shortBody(type, kind, { ...body, usage: shortCall(body.usage) ?? body.usage, startedAt: at - body.startedAt })
}

/** The body, with the usage of an end as a list. */
function withShortUsage({ type, kind, body }: Entry): unknown {
  if (type !== 'end' || kind === 'tool') return body
  const usage = kind === 'model' ? shortCall(body.usage) : shortUsage(body.usage)
  return usage === null ? body : { ...body, usage }
}

/** What follows the job where nothing is short but the body's usage. */
function allFields(entry: Entry): readonly unknown[] {
  const { epoch, appendNo, view } = entry
  const { call, parentCall, run, document, author, agentPath, invocation, branches = null } = entry.place
  const place = [epoch, appendNo, call, parentCall, run, document, author, agentPath, [invocation]]
  return [...place, withShortUsage(entry), branches, ...(view === undefined ? [] : [view])]
}

/** How many characters of an entry's text are enough to hold its place and the beginning of its message. */
export const beginningCharacters = 2000
const mostCharacters = 200

/** The first 200 characters of a conversation's first message. */
export function firstWords(text: string): string {
  return text.slice(0, mostCharacters).replace(/[\ud800-\udbff]$/, '')
}

/** The same, read from the first characters of the first entry's text; null if that entry is not a message. */
export function firstWordsOf(beginning: string): string | null {
  if (!beginning.startsWith('["message",')) return null
  // A quote inside a JSON string has a backslash before it, so the first match is the field itself.
  const [, rest] = beginning.split('"text":"', 2)
  const written = /^(?:[^"\\]|\\u[\dA-Fa-f]{4}|\\[^u])*/.exec(rest ?? '')?.[0] ?? ''
  return firstWords(JSON.parse(`"${written}"`) as string)
}

type ShortFields = [
  type: string,
  kind: string | null,
  at: number,
  job: string,
  place: readonly unknown[],
  body: unknown,
]

type AllFields = [
  ...[type: string, kind: string | null, at: number, job: string, epoch: number, appendNo: number],
  ...[call: string | 0, parentCall: string | 0 | null, run: string | 0, document: string, author: string],
  ...[agentPath: string, invocation: string | 0 | readonly [string], body: unknown],
  ...[branches?: readonly string[] | null, view?: EntryView],
]

/** The entry that a text was made from, with its conversation and the seq of its row. */
export function entryOf(text: string, seq: number, conversation: string): Entry {
  const fields = JSON.parse(text) as ShortFields | AllFields
  return isShort(fields) ? shortEntry(fields, seq, conversation) : longEntry(fields, seq)
}

function isShort(fields: ShortFields | AllFields): fields is ShortFields {
  return Array.isArray(fields[4])
}

function shortEntry([type, kind, at, job, list, stored]: ShortFields, seq: number, conversation: string): Entry {
  const { place, epoch, appendNo, view } = longPlace(list, { job, conversation })
  const entry = { type, kind, body: bodyOf({ type, kind, at }, stored), seq, at, place, job, epoch, appendNo } as Entry
  return view === undefined ? entry : { ...entry, view }
}

function bodyOf(
  { type, kind, at }: { readonly type: string; readonly kind: string | null; readonly at: number },
  stored: unknown,
) {
  if (!Array.isArray(stored)) return withLongUsage(type, kind, stored)
  const body = longBody(stored)
  const isReply = type === 'end' && kind === 'model'
  return withLongUsage(type, kind, isReply ? { ...body, startedAt: at - (body['startedAt'] as number) } : body)
}

function withLongUsage(type: string, kind: string | null, body: unknown): unknown {
  if (type !== 'end' || kind === 'tool') return body
  const { usage } = body as Fields
  if (!Array.isArray(usage)) return body
  return { ...(body as Fields), usage: kind === 'model' ? longCall(usage) : longUsage(usage) }
}

/** From a text of an earlier version too: a call that is the job itself is 0, an invocation what follows the run's name. */
function longEntry(fields: AllFields, seq: number): Entry {
  const [type, kind, at, job, epoch, appendNo, ...rest] = fields
  const [shortCall, shortParent, shortRun, document, author, agentPath, shortOne, body, branches, view] = rest
  const call = shortCall === 0 ? job : shortCall
  const parentCall = shortParent === 0 ? job : shortParent
  const run = shortRun === 0 ? job : shortRun
  const own = { call, parentCall, run, document, author, agentPath, invocation: longInvocation(shortOne, run) }
  const place = branches == null ? own : { ...own, branches }
  const entry = { type, kind, body: withLongUsage(type, kind, body), seq, at, place, job, epoch, appendNo } as Entry
  return view === undefined ? entry : { ...entry, view }
}

function longInvocation(short: string | 0 | readonly [string], run: string): string {
  if (short === 0) return run
  if (typeof short !== 'string') return short[0]
  return short.startsWith('.') ? run + short : short
}
