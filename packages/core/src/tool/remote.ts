/** The contract of what calls agents on other servers. The engine knows it only as the body of a call. */
import type { AgentData } from '@witan/protocol'
import type { RemoteAgent } from '@witan/protocol/entries'
import type { PendingOutcome, ResultOutcome } from './outcome.ts'
import type { CallBody, ToolContext } from './tool.ts'

/** The edge to an agent on another server, and the agent whose edge it is. */
export interface RemoteLink {
  readonly edge: RemoteAgent
  readonly from: Pick<AgentData, 'id' | 'address'>
}

/** One call of an agent on another server, each time that its body runs: at first, after an answer, after a crash. */
export interface RemoteCall extends RemoteLink {
  /** The id of the call: that of the first message to the other server. */
  readonly callId: string
  /** What its caller asks. */
  readonly message: string
  /** What has become of the call so far: answers, the last note, where to save one, and whether it is still wanted. */
  readonly context: Pick<ToolContext, 'caller' | 'signal' | 'answers' | 'note' | 'saveNote' | 'artifacts'>
  readonly body: CallBody
}

/**
 * Calls agents on other servers. Whatever the other server does is an outcome: its answer (`answered`), a failure, or interruptions that
 * must be settled before the call goes on.
 */
export interface RemoteCaller {
  /** Whether a part of the tree's budget goes with a call of this agent; absent: none does. */
  sharesBudget?(remote: string): boolean
  call(of: RemoteCall): Promise<ResultOutcome | PendingOutcome>
  /** Its run was cancelled or has failed: tells the other server to stop, as far as the last note says what there is to stop. Never throws. */
  abandon(of: AbandonedCall): void
}

/** A call that nobody waits for any more. */
export interface AbandonedCall extends RemoteLink {
  readonly database: string
  readonly callId: string
  readonly note: unknown
}
