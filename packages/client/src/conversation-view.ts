/** A conversation built from its events: the calls of its runs, the messages, and the open interruptions. */
import type { Interruption, InterruptionState } from '@witan/protocol'
import type { Artifact } from '@witan/protocol/entries'
import type { FileReference } from '@witan/protocol/files'
import type { Source } from '@witan/protocol/knowledge'
import type { Plan } from '@witan/protocol/plan'
import type { OutsideCaller } from '@witan/protocol/schemas'

/** The state of a call. `waiting` means parked until an answer arrives; no process has it in memory. */
export type CallState = 'running' | 'waiting' | 'completed' | 'failed' | 'cancelled'

/** Tokens of one call, without its children. `complete` is false if a provider reported none. */
export interface Tokens {
  readonly input: number
  readonly output: number
  readonly complete: boolean
}

/** Information for people: a notice, or a model call that failed and may be retried. */
export interface CallNotice {
  readonly code: string
  readonly detail: string
}

/** A message to a running task: attributed, as its model reads it. */
export interface TaskMessage {
  readonly seq: number
  readonly text: string
}

/** An interruption, open or settled. */
export interface Asked {
  readonly interruption: Interruption
  readonly askedAt: string
  readonly state: InterruptionState
  /** When it was settled, and by which principal; null while it is open, and if it was never answered. */
  readonly settledAt: string | null
  readonly by: string | null
  /** The answer; of a condition only whether it was declined; null for an action, and in events of earlier versions. */
  readonly answer: unknown
}

/** A person joined the conversation or left it. */
export interface PersonChange {
  readonly seq: number
  readonly at: string
  readonly user: string
  readonly name: string | null
  readonly change: 'joined' | 'left'
  /** The principal that asked for it. */
  readonly by: string
}

/** What a call's model has reasoned, if its agent shows it. It is seen live only; later its document has it, in full detail. */
export interface Reasoned {
  /** Of all its model calls so far, with an empty line between them. */
  readonly text: string
  /** How much of the text is of model calls that have ended. */
  readonly settled: number
  /** How long it took, without what is under way. */
  readonly ms: number
  /** Since when the present model call reasons; null if it does not. */
  readonly since: string | null
}

/** What a message found in the knowledge bases of the agent that it came to, by itself. */
export interface Retrieval {
  readonly seq: number
  readonly at: string
  readonly query: string
  readonly passages: readonly Pick<Source, 'id' | 'base' | 'document'>[]
}

/** What an agent read of its memory, or wrote or erased there. A read of a person with nothing has no blocks. */
export interface MemoryUse {
  readonly seq: number
  readonly at: string
  readonly op: 'read' | 'write' | 'erase'
  readonly agent: string
  /** Null if the agent has several. */
  readonly scope: string | null
  /** Whom it is about, such as `user:anna`; null for nobody. */
  readonly subject: string | null
  readonly blocks: readonly { readonly key: string; readonly revision: number }[]
}

/** One node of the tree: an agent or a tool at work. */
export interface CallView {
  readonly callId: string
  /** A call of the same view; null for a root call. */
  readonly parentCallId: string | null
  readonly rootCallId: string
  /** A call that waits for its approval counts as a tool until it starts, even if it then starts an agent. */
  readonly kind: 'agent' | 'tool'
  readonly name: string
  readonly agentPath: string
  readonly document: string
  readonly state: CallState
  /** The delegated message, or the user's prompt for a root. */
  readonly task: string
  /** The streamed text so far, then the final answer. An agent that handed over has the answer of its target: see `speakersOf`. */
  readonly text: string
  readonly reasoned: Reasoned | null
  readonly arguments: unknown
  readonly bound: readonly string[]
  /** The parameters that its model sees, and the names of hidden ones. */
  readonly parameters: unknown
  readonly hiddenParameters: readonly string[]
  readonly result: unknown
  readonly output: unknown
  readonly truncated: boolean
  readonly finishReason: string | null
  readonly error: CallNotice | null
  readonly notices: readonly CallNotice[]
  readonly interruptionId: string | null
  /** Its interruptions, in order. */
  readonly asked: readonly Asked[]
  readonly model: string | null
  readonly modelCalls: number
  readonly tokens: Tokens
  /** Set for a run that an agent of another server called: which, and for whom. */
  readonly caller: OutsideCaller | null
  /** Set for a call of an agent on another server: its address, or the URL of its card. */
  readonly remote: string | null
  /** A run without a person's message, such as a follow-up after background work. */
  readonly hidden: boolean
  /** A task: its caller does not wait for it, and it may outlive its run. */
  readonly background: boolean
  /** The call that handed control over to this one, in the same document; null if there is none [C33]. */
  readonly handedFrom: string | null
  /** Control has come back to the call that handed over. */
  readonly returned: boolean
  /** Set for a tool call that handed control over: the agent that has it then. */
  readonly transferToAgent: string | null
  /** It criticises the answer of its parent [F08]. */
  readonly isCritic: boolean
  /** The guardrail for which it checks what its parent reads or says; null for none. */
  readonly guardrail: string | null
  /** Set for a child of a workflow: its index in the workflow's list and the round of a loop, both from 0. */
  readonly step: { readonly index: number; readonly round: number } | null
  /** The child of the nearest parallel above, as `<parallel's id>.<index>`; null outside of one [K24]. */
  readonly branch: string | null
  /** Messages to a running task, in order. */
  readonly taskMessages: readonly TaskMessage[]
  /** The entry with its answer or result: an agent's last model reply, or the end of what has no model; null while there is none. */
  readonly answerSeq: number | null
  /** The files that this tool call has saved, in order [T31]. */
  readonly artifacts: readonly Artifact[]
  /** The passages that its final answer names, in the order of their first mention. */
  readonly sources: readonly Source[]
  /** What its messages found in its knowledge bases by themselves, in order. */
  readonly retrievals: readonly Retrieval[]
  /** What its agent read of its memory, or what this call wrote there, in order. */
  readonly memories: readonly MemoryUse[]
  /** The plan of its agent: what was left as it began, and what it made of it; null for none. */
  readonly plan: Plan | null
  /** What was said of its answers, in order [F08]. */
  readonly critiques: readonly Critique[]
  /** What hooks have refused or rewritten of it, or failed at, in order [F02]. */
  readonly hooks: readonly HookUse[]
  /** How far it has come, of a tool call that runs and says so, while one listens; else null. */
  readonly progress: CallProgress | null
  /** The MCP servers whose tools it has. */
  readonly mcp: readonly McpServerOfCall[]
  /** When it began; of a call that an approval held, when that was asked. */
  readonly startedAt: string
  readonly endedAt: string | null
  readonly children: readonly string[]
  /** Which attempt of the present model call the text belongs to. */
  readonly attempt: number
  /** The next delta begins a new text, because the model call before it has ended. */
  readonly textEnded: boolean
}

/** How far a tool call has come, in whatever its tool counts. */
interface CallProgress {
  readonly progress: number
  readonly total: number | null
  readonly message: string | null
}

/** What an MCP server offers a call: its tools, by the names that models read. Equal digests mean equal definitions. */
export interface McpServerOfCall {
  readonly server: string
  readonly tools: readonly string[]
  readonly digest: string
}

/** What a critique says of an answer: it stands, or it was a draft, and its agent answers again. */
export interface Critique {
  readonly seq: number
  readonly at: string
  readonly verdict: 'pass' | 'revise'
  readonly problems: readonly string[]
  /** The agent whose model said it. */
  readonly by: string
  /** The seq of the answer. */
  readonly answerSeq: number
}

/** What a hook decided of something that stood at a point of a call. What hooks allow is nowhere. */
export interface HookUse {
  readonly seq: number
  readonly at: string
  readonly hook: string
  /** Such as `beforeTool`. */
  readonly point: string
  readonly effect: 'refused' | 'rewritten' | 'failed'
  /** Null for what was rewritten. */
  readonly reason: string | null
}

/** A message a person sent into a run. */
export interface ChatMessage {
  readonly seq: number
  readonly rootCallId: string
  readonly author: string
  readonly text: string
  /** Files that came with it; absent if there are none [Rb53]. */
  readonly files?: readonly FileReference[]
}

/** A complete conversation. Nothing is removed from it; it changes in place with each event. */
export interface ConversationView {
  /** The last applied event; events up to it are skipped. */
  readonly lastSeq: number
  readonly calls: ReadonlyMap<string, CallView>
  /** Root calls, oldest first; their ids are the ids of the runs. A call whose parent is unknown is also here. */
  readonly runs: readonly string[]
  readonly messages: readonly ChatMessage[]
  /** Who joined or left, in order; those of its start are not among them. */
  readonly changes: readonly PersonChange[]
  /** The files that its agents made, by id, in the order in which they were made [T31]. */
  readonly artifacts: ReadonlyMap<string, Artifact>
  readonly open: ReadonlyMap<string, Interruption>
  /** Runs and tasks with a requested cancel that have not ended yet. */
  readonly cancelling: ReadonlySet<string>
}
