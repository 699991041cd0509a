/** The folded state of a conversation: its documents and its live calls. */
import type { AgentData, TaskStatus, UsageCounters } from '@witan/protocol'
import type { Source } from '@witan/protocol/knowledge'
import type {
  AnsweredMessage,
  CallPlace,
  GuardedPart,
  ListedTool,
  LoggedToolCall,
  RequiredBody,
  TaskGrant,
  ToolMode,
} from '@witan/protocol/entries'
import type { Exchanges } from '../tool/exchange.ts'
import type { StepPlace, WorkflowStep } from '../agent/workflow/workflow-step.ts'
import type { Spending } from '../budget/budget.ts'
import type { Principal } from '../identity/principal.ts'
import type { Bound, ConversationValues } from '../parameter/parameter.ts'
import type { People } from '../parameter/person.ts'
import type { Scrubber } from '../parameter/scrub.ts'
import type { Scrubbers } from '../parameter/scrubbers.ts'
import type { OfferedServer } from '@witan/protocol/mcp'
import type { AgentAnswer, Answer, CallAnswer } from '../tool/tool.ts'
import type { Artifacts } from './fold-artifacts.ts'
import type { StoredValues } from './stored-values.ts'
import type { SparseMap } from './sparse-map.ts'
import type { BadEnd, EndedTask, StartedTask, TaskAnswer } from './task-state.ts'
import type { DocumentView } from './document-view.ts'
import type { Gathered } from './callers-view.ts'
import { asksOutput } from '../model/output.ts'
import type { Remembered } from './known-blocks.ts'
import type { Checked, CheckedTool, GuardCall } from './checked.ts'
import type { FinalReply } from './final-reply.ts'
import type { KeptPlan } from './kept-plan.ts'
import type { SharedHistory } from './shared-history.ts'
import type { Reply, Said, SaidResult } from './said.ts'
import type { WaitingMessage } from './waiting-message.ts'

export type { WaitingMessage } from './waiting-message.ts'

/** The state of a tool call in the current step. */
type ToolCallState =
  /** Requested by the model; nothing is recorded yet. */
  | 'requested'
  /** Its start is in the log. */
  | 'started'
  /** A child call answers it. */
  | 'child'
  /** A child call that the tool asked for is live: the tool runs again with its answer. */
  | 'paused'
  /** An interruption is open. */
  | 'waiting'
  /** An answer has come: the tool turns it into its outcome, or runs again with it. */
  | 'answered'
  | 'settled'

/** A settled interruption, with its answer. */
interface Answered {
  readonly asked: RequiredBody
  readonly answer: Answer
}

/** One tool call of a step. */
export interface ToolCall {
  readonly requested: LoggedToolCall
  readonly owner: AgentCall
  state: ToolCallState
  /** The place of the tool call or child, once it has one. */
  place: CallPlace | null
  name: string
  /** Its open interruptions, oldest first. */
  interruptions: readonly RequiredBody[]
  /** The answers to what it has waited for since its start, oldest first. */
  answers: readonly CallAnswer[]
  /** The last checkpoint that the tool saved; undefined for none. */
  note: unknown
  /** The settled interruption of its gate, for a call that was held before its start. */
  passed: Answered | null
  /** Its result, once it is settled. */
  result: SaidResult | null
  /** True if it runs only once all other calls of its reply are settled; known from its start on. */
  isLast: boolean
  /** What checks have decided of it; null before the first. */
  checked: CheckedTool | null
  /** The epoch in which it last began to run. A later owner cannot know whether its effect happened. */
  epoch: number
}

/** The present pass of a workflow through its agents. */
export interface WorkflowState {
  /** The text that its steps work on. */
  input: string
  /** In the order of their start; empty before the first pass. */
  steps: readonly (WorkflowStep & { readonly call: string })[]
}

interface HandOver {
  /** What the model of its target reads of other agents: everything, or people's words and final texts only. */
  readonly history: 'all' | 'words'
  /** Whether control comes back to the call that handed over once the target has answered. */
  readonly returns: boolean
}

/** A live call of an agent. */
export interface AgentCall {
  readonly place: CallPlace
  /** The job that runs it: its own for a root call and a task, else its caller's. */
  readonly job: string
  readonly agent: AgentData
  readonly revision: number
  readonly parent: AgentCall | null
  /** Set for a hand-over: how its agent got control from `parent`, in whose document it works and at whose depth [C33]. */
  readonly handOver: HandOver | null
  /** The call that has, or had last, what control this call handed over and did not get back. */
  handedTo: AgentCall | null
  /** Set for a call that answers a peer: the message; a call that got control for good answers it in its place. */
  readonly exchange: AnsweredMessage | null
  /** Set for a step of `parent`, a workflow. */
  readonly step: StepPlace | null
  /** Set for a workflow: its children instead of a model. */
  readonly workflow: WorkflowState | null
  /** Set for an agent on another server: its address, or the URL of its card. A running tool is the body of its call. */
  readonly remote: string | null
  /** The tool call of its parent that asked for it; null at the root, for a hand-over and for a step. */
  readonly askedBy: ToolCall | null
  readonly toolCallId: string | null
  /** What it was asked, or what a hook made of that. */
  message: string
  /** The words that began its work, as they waited when it became active; null for none, as behind a hand-over. */
  opening: WaitingMessage | null
  /** The model of its agent, or the delegation's override [F14]. */
  readonly model: string
  readonly temperature: number | null
  /** The tool mode with which it began: its agent's own, or that of its run [T12]. */
  readonly toolMode: ToolMode
  readonly depth: number
  readonly parameters: Bound
  /** The people of the conversation when its run began: who can be asked changes with the next run [E60]. */
  readonly people: People
  readonly document: DocumentState
  readonly startedAt: number
  /** Its start entry; the seq is known once that is stored. */
  readonly start: { readonly seq: number }
  /** The part of its tree's budget that is held for it until it ends; null for none. A task has its grant. */
  readonly share: TaskGrant | null
  /** The initial queries, which run before its first step [Rb40]. */
  readonly initial: readonly LoggedToolCall[]
  /** Removes values that its model must not see from what it reads; null if there are none. */
  readonly scrub: Scrubber
  /** The same for what other agents wrote: it removes every value that its model may not see. */
  readonly scrubOthers: Scrubber
  /** The names of the values hidden from its model, joined by spaces; compared to reuse a view. */
  readonly unseen: string
  /** The part of its caller's document that its model reads, if the edge shares it [C5]. */
  readonly shared: SharedHistory | null
  /** Its texts and errors, and those said in its place; null if its caller reads only the answer [K20, K21]. */
  readonly gathered: Gathered | null
  /** The index in `said` from which its model reads. */
  firstSaid: number
  /** False while an earlier call on the same document is live [C14], or while another call has its control. */
  active: boolean
  iterations: number
  /** Those of its iterations that its agent's limit does not count: 1 once a reply only ended the tool mode [Tb09]. */
  uncountedIterations: number
  /** Empty replies and answers that do not match the schema so far; the first is retried [E28]. */
  failures: number
  /** Whether a model call of it ended without a reply, and the log has that as an entry. */
  hasNoReply: boolean
  calledTool: boolean
  /** True once its model has ended the tool mode: the rest of the call is `auto` [Tb09]. */
  endedToolMode: boolean
  toolCalls: readonly ToolCall[]
  /** The reply that asked for them. */
  reply: Reply | null
  /** Tool calls of the current step beyond the limit of one reply. They do not run, and their results say so. */
  refused: readonly LoggedToolCall[]
  /** Answers that did not end the call, because a message arrived meanwhile. */
  earlierAnswers: readonly string[]
  /** The reply that ends the call, once it has come. */
  final: FinalReply | null
  /** Set for a call that criticises the answer of its parent [F08]. */
  readonly isCritic: boolean
  /** The call that criticises its answer, and what that said once it has ended; null for none. */
  critic: { readonly end: AgentAnswer | null } | null
  /** The agent that checks what it reads or says; null for none. */
  guard: GuardCall | null
  /** What it checks, if it is such an agent itself. */
  readonly guards: GuardedPart | null
  /** Its answer before, while it is being revised [F08]. */
  draft: FinalReply | null
  /** Whether its memory is looked up: what its model reads of it stands in its document. */
  hasRemembered: boolean
  /** Whether the log says that it may not read what it knows of people. */
  isMemoryWithheld: boolean
  /** What checks have decided of it, as the log has it; null before the first. */
  checked: Checked | null
  /** How often it has revised its plan. */
  planRevisions: number
  /** The passages that it and its ended children have read, by id; null for none. */
  sources: Map<string, Source> | null
  /** What its MCP servers offer it; null until that is known. */
  mcp: readonly OfferedServer[] | null
  /** Usage by agent path, of this call and its ended children. */
  readonly usage: Map<string, UsageCounters>
}

/** Whether the answer of a call is to be criticised before it ends the call. A last answer, and one that a tool gave, is not. */
export function awaitsCritique({ agent, final }: AgentCall): boolean {
  return agent.enableReflection && final?.reply !== undefined && final.offered && final.isCriticised !== true
}

/** Whether the critique that a call waits for is another agent's: its own model is asked for nothing meanwhile. */
export function asksCritic(call: AgentCall): boolean {
  if (!awaitsCritique(call) || call.agent.reflection.agent === null) return false
  return call.critic !== null || call.document.inbox.length === 0
}

/** Whether a call has its answer, in each form that its agent asks for, and criticised if it is to be. */
export function isAnswered(call: AgentCall): boolean {
  const { final, agent } = call
  return final !== null && (final.output !== undefined || !asksOutput(agent)) && !awaitsCritique(call)
}

/** Whether a call is the top of its job: the root call of a run, or a task's own call. */
export function isTop(call: AgentCall): boolean {
  return call.job === call.place.call
}

/** The call at which control of a call's place in the tree began: itself, unless control was handed over to it. */
export function positionOf(call: AgentCall): AgentCall {
  let at = call
  while (at.handOver !== null && at.parent !== null) at = at.parent
  return at
}

/** The call that has the control of `call`, or that gave the answer in its place: itself, unless it handed over. */
export function callInControl(call: AgentCall): AgentCall {
  let at = call
  while (at.handedTo !== null) at = at.handedTo
  return at
}

/** Who asked a call, or the call that it stands in for: an agent's id, or `user`. */
export function askerOf(call: AgentCall): string {
  return positionOf(call).parent?.agent.id ?? 'user'
}

/** The call that its answer stands for. A hand-over that returns stands for itself, unless it has left the loop that all of them work in. */
export function answeredCall(call: AgentCall): AgentCall {
  const leaves = call.final?.exits === true
  let at = call
  while (at.handOver !== null && at.parent !== null && (leaves || !at.handOver.returns)) at = at.parent
  return at
}

/** Where a call on the document begins. Everything before it is complete. */
export interface CallStart {
  /** The index in `said` where it begins. */
  from: number
  /** Its start entry; the seq is known once that is stored. */
  readonly start: { readonly seq: number }
  readonly isRoot: boolean
}

/** The document of one path. */
export interface DocumentState {
  readonly path: string
  /** Only grows, except that a cut replaces the list. */
  said: Said[]
  /** What its readers were shown of `said`: a cache, which only the view fills and a cut empties. */
  views: readonly DocumentView[]
  readonly inbox: WaitingMessage[]
  /** Live calls on this document in call order; the first one is active. A call that got control stands before the one that gave it. */
  readonly calls: AgentCall[]
  /** The tools that messages to peers were sent with here. */
  peerTools: readonly string[]
  /** The agents that control was handed to here. */
  handOverTargets: readonly string[]
  /** The hand-overs here, as `from>to`, since a person or a tool last said something [E40]. */
  handOvers: readonly string[]
  readonly callStarts: CallStart[]
  /** What agents have read here of their memory, by agent; null before the first. */
  remembered: Map<string, Remembered> | null
  /** The latest plan of each agent that works here, by its id. */
  readonly plans: Map<string, KeptPlan>
  /** The last note of the calls of an agent on another server; undefined for none. */
  remoteNote: unknown
  /** The seq of the last message of a person that was read here; 0 for none. */
  readUpTo: number
  /** Input and output tokens of the document's last model call; null if unknown, or if the document was cut since. */
  tokens: number | null
}

/** A live job of a conversation: its run, or a task. */
export interface LiveJob {
  /** Its top call: the root call of a run, or a task's own call. */
  readonly root: AgentCall
  /** Its limits: the root agent's, or those of a task's grant. */
  readonly tree: Pick<AgentData, 'limits' | 'onExhausted'>
  /** Set on a task: its grant, and the job that funded it. */
  readonly grant: (TaskGrant & { readonly from: string }) | null
  /** What its ended tasks have spent, and the grants of its live tasks [D13]. */
  readonly taskSpending: Spending
  /** Where its spending is charged: a task's to the `taskSpending` of the job that funds it now, a run's to what its message has cost so far. */
  account: Spending
  /** The ids of the messages sent to this job, read or not. A repeat is not stored again. */
  readonly messageIds: SparseMap<string, true>
  /** The tasks it started, ended ones included. */
  readonly tasks: StartedTask[]
  /** The exchanges between its agents. */
  readonly exchanges: Exchanges
  /** The principal that its run works for: the one that began it, also if others speak in it later [C31]. Its evidence may be renewed [E22]. */
  principal: Principal
  /** The revisions that the run pins [C8]. */
  readonly revisions: Readonly<Record<string, number>>
  /** What was answered to another call and holds for one that has not begun, by its id: it asks that no more. */
  readonly told: SparseMap<string, readonly CallAnswer[]>
  /** Live agent calls, parents before children. */
  readonly calls: Map<string, AgentCall>
  /** Started and waiting tool calls, by call id. */
  readonly toolCalls: Map<string, ToolCall>
  modelCalls: number
  /** The provider warnings of this run. */
  warnings: readonly string[]
  /** Model calls of its agents that ended without a reply; they are spent, but in no usage. */
  failedCalls: number
  toolIterations: number
  /** How often its models have handed over. */
  transfers: number
  tokens: number
  /** In US dollars, for calls with a known price. */
  costUsd: number
  /** How often an agent was called under one invocation id [E73]. */
  readonly invocations: SparseMap<string, number>
  /** Working time of earlier epochs in ms, and the current epoch. Parked time does not count. */
  readonly worked: { ms: number; epoch: number; from: number; to: number }
  /** A task's latest status in the log. */
  loggedStatus: TaskStatus | null
  /** How often the log says that it was taken over from a lost owner. */
  recovered: number
  cancelled: boolean
}

/** The folded log of a conversation. Changed only by `fold`. */
export interface ConversationState {
  readonly database: string
  readonly id: string
  /** Its key in the hub of the process, computed once. */
  readonly channel: string
  readonly rootAgent: string
  /** The conversation's values with their current flags, which the next run binds. */
  stored: StoredValues
  /** The values that the live or latest run binds. */
  conversationValues: ConversationValues
  readonly maxModelIterationsPerCall: number | null
  /** Who takes part now. */
  people: People
  /** The caller from another server who has spoken to the root; null without one. */
  outsider: string | null
  /** Whether words have named their speaker: then those of nobody in particular do too, while several people take part. */
  hasNamed: boolean
  /** One scrubber per set of hidden values. */
  readonly scrubbers: Scrubbers
  /** Documents by path and bound values [C7]. */
  readonly documents: Map<string, DocumentState>
  /** The highest ordinal among the documents that share a path. */
  readonly ordinals: SparseMap<string, number>
  run: LiveJob | null
  /** What ended runs and their tasks have spent on the last message of a person [R17]. */
  spent: Spending
  /** Live tasks by their ids, in the order they were started. */
  readonly tasks: SparseMap<string, LiveJob>
  /** Ended tasks that are not reported yet, by id. */
  readonly unreported: SparseMap<string, EndedTask>
  /** What callers' models read of ended tasks, by task id, if it differs from the task's own result. */
  readonly answers: SparseMap<string, TaskAnswer>
  /** How runs failed or were cancelled whose tasks continue, by run id [E52]. */
  readonly badEnds: SparseMap<string, BadEnd>
  readonly artifacts: Artifacts
  /** The lists of MCP servers' tools that its entries have, by their digests. */
  readonly listings: SparseMap<string, readonly ListedTool[]>
  /** What agents demand once in a conversation, and is met. */
  readonly met: SparseMap<string, true>
  /** How many entries are folded. */
  folded: number
  /** The last seq that is folded and stored. */
  seq: number
}

/** The live job of that id: the run, or a task. */
export function liveJob(state: ConversationState, job: string): LiveJob | null {
  if (state.run !== null && state.run.root.place.call === job) return state.run
  return state.tasks.get(job) ?? null
}
