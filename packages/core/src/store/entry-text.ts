/**
 * The stored text of a log entry: a flat JSON array with everything but the seq, which is in the row's key. Branches and the view come
 * last, if any. A call that is the job itself is 0, an invocation of the run is what follows the run's name, and usage is a list.
 */
import type { Entry, EntryView } from '@witan/protocol/entries'
import { type Fields as UsageFields, longCall, longUsage, shortCall, shortUsage } from './short-usage.ts'

/** The text of an entry, made once when it is appended. */
export function entryText(entry: Entry): string {
  const { type, kind, at, job, epoch, appendNo, view } = entry
  const { call, parentCall, run, document, author, agentPath, invocation } = entry.place
  const names = [call === job ? 0 : call, parentCall === job ? 0 : parentCall, run === job ? 0 : run]
  const place = [...names, document, author, agentPath, shortInvocation(invocation, run)]
  const { branches } = entry.place
  const fields = [type, kind, at, job, epoch, appendNo, ...place, shortBody(entry)]
  if (view !== undefined) return JSON.stringify([...fields, branches ?? null, view])
  return JSON.stringify(branches === undefined ? fields : [...fields, branches])
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

/** The body, with the usage of an end as a list. */
function shortBody({ type, kind, body }: Entry): unknown {
  if (type !== 'end' || kind === 'tool') return body
  const usage = kind === 'model' ? shortCall(body.usage) : shortUsage(body.usage)
  return usage === null ? body : { ...body, usage }
}

function longBody(type: string, kind: string | null, body: unknown): unknown {
  if (type !== 'end' || kind === 'tool') return body
  const { usage } = body as UsageFields
  if (!Array.isArray(usage)) return body
  return { ...(body as UsageFields), usage: kind === 'model' ? longCall(usage) : longUsage(usage) }
}

/** In a list if it could be taken for one that is shortened. */
function shortInvocation(invocation: string, run: string): string | 0 | readonly [string] {
  if (invocation === run) return 0
  if (invocation.startsWith('.')) return [invocation]
  return invocation.startsWith(`${run}.`) ? invocation.slice(run.length) : invocation
}

function longInvocation(short: string | 0 | readonly [string], run: string): string {
  if (short === 0) return run
  if (typeof short !== 'string') return short[0]
  return short.startsWith('.') ? run + short : short
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

type Fields = [
  ...[type: string, kind: string | null, at: number, job: string, epoch: number, appendNo: number],
  ...[call: string | 0, parentCall: string | 0 | null, run: string | 0, document: string, author: string],
  ...[agentPath: string, invocation: string | 0 | readonly [string], body: unknown],
  ...[branches?: readonly string[] | null, view?: EntryView],
]

/** The entry that a text was made from, with the seq of its row. */
export function entryOf(text: string, seq: number): Entry {
  const fields = JSON.parse(text) as Fields
  const [type, kind, at, job, epoch, appendNo, ...rest] = fields
  const [shortCall, shortParent, shortRun, document, author, agentPath, shortOne, body, branches, view] = rest
  const call = shortCall === 0 ? job : shortCall
  const parentCall = shortParent === 0 ? job : shortParent
  const run = shortRun === 0 ? job : shortRun
  const invocation = longInvocation(shortOne, run)
  const own = { call, parentCall, run, document, author, agentPath, invocation }
  const place = branches == null ? own : { ...own, branches }
  const entry = { type, kind, body: longBody(type, kind, body), seq, at, place, job, epoch, appendNo } as Entry
  return view === undefined ? entry : { ...entry, view }
}
