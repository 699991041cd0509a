/** What the fold knows of a conversation: its documents, and the calls that are live. */
import type { AgentData, Problem, TaskStatus, UsageCounters } from '@witan/protocol'
import type { AnsweredCall, CallPlace, LoggedToolCall, RequiredBody, TaskGrant } from '@witan/protocol/entries'
import type { Spending } from '../budget/budget.ts'
import type { ModelMessage } from '../model/message.ts'
import type { Bound, GivenParameters } from '../parameter/parameter.ts'
import type { Scrubber } from '../parameter/scrub.ts'
import type { Answer } from '../tool/tool.ts'
import type { Stored } from './given.ts'
import type { SparseMap } from './sparse-map.ts'
import type { Gathered } from './answer.ts'

/** What a tool call of the current step has come to. */
export type SlotState =
  /** The model asked for it; nothing is recorded yet. */
  | 'asked'
  /** Its intent is in the log. */
  | 'started'
  /** A child call answers it. */
  | 'child'
  /** Somebody outside is asked. */
  | 'waiting'
  /** Somebody answered; the tool turns the answer into its outcome. */
  | 'answered'
  | 'settled'

/** Somebody was asked, and answered or did not. */
export interface Answered {
  readonly asked: RequiredBody
  readonly answer: Answer
}

/** One tool call of a step. */
export interface Slot {
  readonly asked: LoggedToolCall
  readonly owner: AgentCall
  state: SlotState
  /** The tool call's or child's own place, once it has one. */
  place: CallPlace | null
  name: string
  /** What is open of it now. */
  interruption: RequiredBody | null
  /** What it asked when it had started, and what came of that. */
  answered: Answered | null
  /** What stood before it, and what came of that: a call that was held has not started yet. */
  passed: Answered | null
  /** What the model reads. */
  content: string
  /** The epoch its intent was written in: a later owner cannot know whether the effect happened. */
  epoch: number
}

/**
 * Stands before the message that opens a child's call. It is part of what the model reads and never of the child's document: the
 * next delegation finds the caller's document as it is then.
 */
export interface Preface {
  readonly text: string
  /** The opening as it was shown last: adapters keep what they made of a message by its identity. */
  opening: ModelMessage | null
  shown: ModelMessage | null
}

/** A live activation of an agent. */
export interface AgentCall {
  readonly place: CallPlace
  /** The job that works on it: its own for a root call and a task, else its caller's. */
  readonly job: string
  readonly agent: AgentData
  readonly revision: number
  readonly parent: AgentCall | null
  readonly toolCallId: string | null
  readonly message: string
  /** Its agent's, or what its delegation wants instead [F14]. */
  readonly model: string
  readonly temperature: number | null
  readonly depth: number
  readonly parameters: Bound
  readonly document: DocumentState
  readonly startedAt: number
  /** Its start entry: the seq is known once that is stored. */
  readonly start: { readonly seq: number }
  /** Calls that stand before its first step [Rb40]. */
  readonly initial: readonly LoggedToolCall[]
  /** Its system message: made once, from its own definition and values. */
  readonly system: ModelMessage
  /** Takes out of what its model reads the values that it must not see; null where there are none. */
  readonly scrub: Scrubber
  /** What its model reads of its caller's document, where the edge shares it [C5]. */
  readonly preface: Preface | null
  /** What its caller reads of it beside its answer, where the edge asks for more [K20, K21]. */
  readonly gathered: Gathered | null
  /** Index of the first message of the document that its model sees. */
  firstMessage: number
  /** False while an earlier call on the same document is live [C14]. */
  active: boolean
  iterations: number
  /** Empty replies and answers off their schema so far; one is forgiven [E28]. */
  failures: number
  calledTool: boolean
  slots: readonly Slot[]
  /** The reply that ends the call, once it is there. */
  final: { readonly text: string; readonly finishReason: string; readonly offered: boolean } | null
  /** Counters by agent path of this call and everything below it that has ended or called a model. */
  readonly usage: Map<string, UsageCounters>
}

/** Whether a call is what its job is about: the root call of a run, or a task's own. */
export function isTop(call: AgentCall): boolean {
  return call.job === call.place.call
}

/** Somebody's words that no model has seen yet. */
export interface WaitingMessage {
  readonly text: string
  /** Set where somebody may wait for the reply. */
  readonly id?: string
  /** Calls that stand behind it as if the model had made them [Rb52]. */
  readonly calls?: readonly AnsweredCall[]
  /** The tasks that it tells of: where nobody reads it, they are told again. */
  readonly told?: readonly EndedTask[]
}

/** Where an activation of the document begins: what stands before it is closed. */
export interface Turn {
  /** Index of its first message. */
  from: number
  /** Its start entry: the seq is known once that is stored. */
  readonly start: { readonly seq: number }
  readonly isRoot: boolean
}

/** The messages of one agent on one path. */
export interface DocumentState {
  readonly path: string
  readonly messages: ModelMessage[]
  readonly inbox: WaitingMessage[]
  /** Live calls on this document in call order; the first is the active one. */
  readonly calls: AgentCall[]
  readonly turns: Turn[]
  /** What the last model call of the document read and wrote, in tokens; null where nobody said, or it was cut since. */
  tokens: number | null
}

/** What may be spent: the root agent's caps, or of a task what its tree gave it. */
export type TreeCaps = Pick<AgentData, 'limits' | 'onExhausted'>

/** A task as the run that started it knows it. */
export interface StartedTask {
  readonly place: CallPlace
  readonly toolCallId: string
  readonly startedAt: number
}

/** A task that has ended, until its caller or the root's model is told. */
export interface EndedTask {
  readonly place: CallPlace
  /** The call that started it, and the job of that call. */
  readonly caller: { readonly place: CallPlace; readonly job: string }
  readonly status: 'completed' | 'failed'
  /** What came of it, in words. */
  readonly text: string
}

/** A live job of a conversation: its run, or a task. */
export interface RunState {
  /** What the job is about: the root call, or the task's own. */
  readonly root: AgentCall
  readonly tree: TreeCaps
  /** Set on a task: what it got, and the job that gave it. */
  readonly grant: (TaskGrant & { readonly from: string }) | null
  /** What its tasks have spent, and what those that live may still [D13]. */
  readonly lent: Spending
  /**
   * Where it counts itself: of a task the `lent` of whoever answers for it now, of a run what was spent on the same words of a
   * person before it.
   */
  account: Spending
  /** The messages that it was sent, by their ids: one that is sent again is no second one. */
  readonly heard: Set<string>
  /** The tasks it started, ended ones included. */
  readonly tasks: StartedTask[]
  /** The revisions that the whole run keeps [C8]. */
  readonly revisions: Readonly<Record<string, number>>
  /** Live agent calls, parents before children. */
  readonly calls: Map<string, AgentCall>
  /** Live tool calls and waiting ones by their call id. */
  readonly slots: Map<string, Slot>
  modelCalls: number
  /** Model calls of its agents that failed: spent, and in no usage. */
  failedCalls: number
  toolIterations: number
  tokens: number
  /** In US dollars, of the calls whose price was known. */
  costUsd: number
  /** How often an agent was called under one invocation id [E73]. */
  readonly invocations: Map<string, number>
  /** Work of earlier epochs in ms, and the epoch at work: time spent waiting for somebody is no work. */
  readonly worked: { ms: number; epoch: number; from: number; to: number }
  /** Of a task, the status that the log told last. */
  told: TaskStatus | null
  /** How often an owner of it was lost, as far as the log tells. */
  recovered: number
  cancelled: boolean
  /** Why the whole run must fail. */
  failure: Problem | null
}

/** The folded log of a conversation. Changed only by `fold`. */
export interface ConversationState {
  readonly database: string
  readonly id: string
  /** Its name within the process; made once, since every append and every model call looks its readers up. */
  readonly channel: string
  readonly rootAgent: string
  /** What was given, with its flags as they stand now: what the next run binds. */
  stored: Stored
  /** What the run that is live, or was the last, binds. */
  given: GivenParameters
  /** Whether that run hides what an earlier one showed: then the history is scrubbed too. */
  wasShown: boolean
  readonly maxModelIterationsPerCall: number | null
  /** Documents by path and bound values [C7]. */
  readonly documents: Map<string, DocumentState>
  /** How many documents share a path. */
  readonly ordinals: Map<string, number>
  run: RunState | null
  /** What is spent on the last words of a person, by runs that have ended and by their tasks [R17]. */
  spent: Spending
  /** Live tasks by their ids, in the order they were started. */
  readonly tasks: SparseMap<string, RunState>
  /** Tasks that ended and that nobody was told of yet, by their ids. */
  readonly untold: SparseMap<string, EndedTask>
  /** What models read of ended tasks that said what their callers may not know, by the tasks’ ids. */
  readonly scrubbed: SparseMap<string, string>
  /** How runs ended badly whose tasks went on, by their ids [E52]. */
  readonly badEnds: SparseMap<string, string>
  /** The last seq that is folded and stored. */
  seq: number
}

/** The live job of that id: the run, or a task. */
export function liveJob(state: ConversationState, job: string): RunState | null {
  if (state.run !== null && state.run.root.place.call === job) return state.run
  return state.tasks.get(job) ?? null
}
