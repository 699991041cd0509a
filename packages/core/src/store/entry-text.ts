/** The stored text of a log entry: a flat JSON array with everything but the seq, which is in the row's key. Branches and the view come last, if any. */
import type { Entry, EntryView } from '@witan/protocol/entries'

/** The text of an entry, made once when it is appended. */
export function entryText(entry: Entry): string {
  const { type, kind, at, job, epoch, appendNo, body, view } = entry
  const { call, parentCall, run, document, author, agentPath, invocation } = entry.place
  const place = [call, parentCall, run, document, author, agentPath, invocation]
  const { branches } = entry.place
  const fields = [type, kind, at, job, epoch, appendNo, ...place, body]
  if (view !== undefined) return JSON.stringify([...fields, branches ?? null, view])
  return JSON.stringify(branches === undefined ? fields : [...fields, branches])
}

/** Whether two entries with one seq are the same one. Nobody writes two entries with one number in one epoch at one time. */
export function isSameEntry(one: Entry, other: Entry): boolean {
  return (
    one.type === other.type &&
    one.at === other.at &&
    one.job === other.job &&
    one.epoch === other.epoch &&
    one.appendNo === other.appendNo
  )
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
  ...[call: string, parentCall: string | null, run: string, document: string, author: string],
  ...[agentPath: string, invocation: string, body: unknown],
  ...[branches?: readonly string[] | null, view?: EntryView],
]

/** The entry that a text was made from, with the seq of its row. */
export function entryOf(text: string, seq: number): Entry {
  const fields = JSON.parse(text) as Fields
  const [type, kind, at, job, epoch, appendNo, ...rest] = fields
  const [call, parentCall, run, document, author, agentPath, invocation, body, branches, view] = rest
  const own = { call, parentCall, run, document, author, agentPath, invocation }
  const place = branches == null ? own : { ...own, branches }
  const entry = { type, kind, body, seq, at, place, job, epoch, appendNo } as Entry
  return view === undefined ? entry : { ...entry, view }
}
