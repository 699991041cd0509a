/** What the Studio knows about one conversation: the calls of its runs, what was said, and what is still open. */
import type { Interruption } from '@witan/protocol'

/** Where a call stands. `waiting` means parked for somebody outside; nothing of it is in memory anywhere. */
export type CallState = 'running' | 'waiting' | 'completed' | 'failed' | 'cancelled'

/** Tokens of one call alone, without its children. `complete` is false where a provider did not say. */
export interface Tokens {
  readonly input: number
  readonly output: number
  readonly complete: boolean
}

/** Something a person should know: a notice, or a model call that failed and may be tried again. */
export interface CallNotice {
  readonly code: string
  readonly detail: string
}

/** Words that came into a task from outside: attributed, as its model reads them. */
export interface ToldWords {
  readonly seq: number
  readonly text: string
}

/** One node of the tree: an agent or a tool at work. */
export interface CallView {
  readonly callId: string
  readonly parentCallId: string | null
  readonly rootCallId: string
  readonly kind: 'agent' | 'tool'
  readonly name: string
  readonly agentPath: string
  readonly document: string
  readonly state: CallState
  /** What it was asked: the delegated message, or the user's prompt for a root. */
  readonly task: string
  /** What it says: streamed so far, then its final answer. */
  readonly text: string
  readonly arguments: unknown
  readonly bound: readonly string[]
  readonly parameters: unknown
  readonly result: unknown
  readonly output: unknown
  readonly truncated: boolean
  readonly finishReason: string | null
  readonly error: CallNotice | null
  readonly notices: readonly CallNotice[]
  readonly interruptionId: string | null
  readonly model: string | null
  readonly modelCalls: number
  readonly tokens: Tokens
  /** A run that no person asked for, such as a follow-up after background work. */
  readonly hidden: boolean
  /** A task: its caller does not wait for it, and it may outlive its run. */
  readonly background: boolean
  /** What a task was told while it was at work, in order. */
  readonly told: readonly ToldWords[]
  readonly startedAt: string
  readonly endedAt: string | null
  readonly children: readonly string[]
  /** Which attempt of the present model call the text belongs to. */
  readonly attempt: number
  /** The next delta begins a new text, because the model call before it has ended. */
  readonly textEnded: boolean
}

/** A message a person sent into a run. */
export interface ChatMessage {
  readonly seq: number
  readonly rootCallId: string
  readonly author: string
  readonly text: string
}

/** A whole conversation as its events tell it. */
export interface ConversationView {
  readonly lastSeq: number
  readonly calls: ReadonlyMap<string, CallView>
  /** Root calls, oldest first; their ids are the ids of the runs. */
  readonly runs: readonly string[]
  readonly messages: readonly ChatMessage[]
  readonly open: ReadonlyMap<string, Interruption>
  /** Runs and tasks that somebody asked to stop and that have not ended yet. */
  readonly cancelling: ReadonlySet<string>
}

/** A conversation of which nothing was read yet. */
export const emptyConversation: ConversationView = {
  lastSeq: 0,
  calls: new Map(),
  runs: [],
  messages: [],
  open: new Map(),
  cancelling: new Set(),
}
