/** What a tool call may wait for: a child call, or somebody outside. */
import type { AgentData, Interruption } from '@witan/protocol'
import type { AgentStartBody, ExchangeMessage } from '@witan/protocol/entries'

/** The message and terms of a spawned child. They are copied to the child's start, so that a fold needs no edge. */
export type Spawn = Pick<
  AgentStartBody,
  'agent' | 'message' | 'generated' | 'map' | 'history' | 'answer' | 'overrides'
> & {
  /** Set for an agent on another server: its address or the URL of its card, and what is known of it here. `agent` is its name. */
  readonly remote?: { readonly at: string; readonly agent: AgentData }
  /** Set for a message to a peer: the message, and the JSON Schema of its reply. */
  readonly peerMessage?: {
    readonly sent: ExchangeMessage
    readonly reply: Readonly<Record<string, unknown>> | null
  }
}

type FilledIn = 'id' | 'path' | 'agent' | 'callId' | 'addressee' | 'state' | 'expiresAt' | 'caller'
type PromptOf<Kind> = Kind extends unknown ? Omit<Kind, FilledIn> : never

/**
 * The prompt part of an interruption, without what the engine fills in. Without an addressee, anybody who may answer can.
 * `terms` limits the answer.
 */
export type InterruptionDraft = PromptOf<Interruption> & {
  readonly addressee?: string
  readonly terms?: unknown
  /** Of an agent on another server: the path of what asks below it; absent: the agent itself. */
  readonly below?: string
}
