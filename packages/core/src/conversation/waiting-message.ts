/** A message in the inbox of a document. */
import type { AnsweredCall } from '@witan/protocol/entries'
import type { SaidBlocks } from './known-blocks.ts'
import type { Words } from './said.ts'
import type { EndedTask } from './task-state.ts'

/** A message that no model has read yet. */
export interface WaitingMessage
  extends Pick<Words, 'author' | 'text' | 'isAttributed' | 'isScrubbed' | 'files' | 'people' | 'seq' | 'only'> {
  /** Set if it names its speaker, one of several people. */
  readonly isNamed?: true
  /** The text without what a model's server said, if that differs: what a start entry may hold of it. */
  readonly plain?: string
  /** Set if its sender may wait for the reply. */
  readonly id?: string
  /** Artificial actions sent with the message: the model sees them after it, as calls that the model itself made [Rb52]. */
  readonly calls?: readonly AnsweredCall[]
  /** The tasks that it reports. If no model reads it, they are reported again. */
  readonly reports?: readonly EndedTask[]
  /** The guardrails whose agents let it pass. */
  readonly passed?: Set<string>
  /** The call whose guardrails have found something in it, and let it pass. */
  readonly guardedFor?: string
  /** Set once the knowledge bases of its reader were searched for it. */
  readonly looked?: true
  /** The core blocks of a line of memory: its reader knows them once it has read it. */
  readonly remembered?: SaidBlocks
}
