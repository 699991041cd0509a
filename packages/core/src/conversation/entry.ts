/** Makes log entries: content, place, writer and time. */
import type { CallPlace, Entry, EntryContent } from '@witan/protocol/entries'

/** The fields of an entry beside its content and its seq, which the store assigns. */
interface EntryHead {
  readonly place: CallPlace
  /** The run or task that the entry belongs to. */
  readonly job: string
  /** The writer's epoch; 0 if it does not own the job. */
  readonly epoch: number
  /** `(job, appendNo)` is unique. A store that lost the reply to a commit uses it to find out whether the commit happened. */
  readonly appendNo: number
  readonly at: number
}

/** Makes an entry that is not stored yet: its seq is 0. */
export function makeEntry({ type, kind, body }: EntryContent, { place, job, epoch, appendNo, at }: EntryHead): Entry {
  return { type, kind, body, seq: 0, at, place, job, epoch, appendNo } as Entry
}
