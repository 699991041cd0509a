/** How one line of the log is kept as text: a flat JSON array, self-contained but for its seq, which is in the row's key. */
import type { Entry } from '@witan/protocol/entries'

/** The text of an entry. Made once, when it is appended; nothing reads it back before a fold from the store. */
export function entryText(entry: Entry): string {
  const { type, kind, at, job, epoch, appendNo, body } = entry
  const { call, parentCall, run, document, author, agentPath, invocation } = entry.place
  const place = [call, parentCall, run, document, author, agentPath, invocation]
  return JSON.stringify([type, kind, at, job, epoch, appendNo, ...place, body])
}

type Fields = [
  ...[type: string, kind: string | null, at: number, job: string, epoch: number, appendNo: number],
  ...[call: string, parentCall: string | null, run: string, document: string, author: string],
  ...[agentPath: string, invocation: string, body: unknown],
]

/** The entry that a text was made from, with the seq of its row. */
export function entryOf(text: string, seq: number): Entry {
  const fields = JSON.parse(text) as Fields
  const [type, kind, at, job, epoch, appendNo, call, parentCall, run, document, author, agentPath, invocation, body] =
    fields
  const place = { call, parentCall, run, document, author, agentPath, invocation }
  return { type, kind, body, seq, at, place, job, epoch, appendNo } as Entry
}
