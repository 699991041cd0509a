/** What one reader was shown of a document: the messages that were made of it so far. */
import type { AgentStartBody } from '@witan/protocol/entries'
import type { ModelMessage } from '../model/message.ts'
import type { Naming } from '../parameter/known-people.ts'
import type { Scrubber } from '../parameter/scrub.ts'
import type { ReadIds } from './read-ids.ts'

/** A document as its model messages for one reader, as far as they have been made. */
export interface DocumentView {
  readonly agent: string
  readonly scrub: Scrubber
  readonly scrubOthers: Scrubber
  /** The names by which it knows people. */
  readonly naming: Naming
  /** What it reads of other agents. */
  readonly history: NonNullable<AgentStartBody['handOver']>['history']
  readonly unseen: string
  /** The index in `said` of the first thing that it reads. */
  readonly from: number
  /** The index behind the last thing that was made into messages. */
  upTo: number
  /** How many parts of the next thing were: its results are made into messages one by one. */
  part: number
  readonly messages: ModelMessage[]
  /** For each thing said, from `from` on, how many messages stood before it. */
  readonly starts: number[]
  /** The ids of artifacts in the messages. Null until somebody asks for one. */
  read: ReadIds | null
}
