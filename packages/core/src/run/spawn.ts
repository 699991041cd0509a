/** Starts child calls: binds their parameters, gives them an address and records their start. */
import type { AgentStartBody, TaskGrant, Writable } from '@witan/protocol/entries'
import { placeOfChild } from '../conversation/address.ts'
import { openPlan } from '../conversation/plan.ts'
import { hitNotice } from '../hook/decision.ts'
import type { AgentCall, ToolCall } from '../conversation/state.ts'
import { bind, withGenerated } from '../parameter/bind.ts'
import { startParameters } from '../parameter/visibility.ts'
import type { Spawn } from '../tool/waiting.ts'
import type { PinnedAgent } from '../job/environment.ts'
import { type Job, record } from '../job/job.ts'
import { initialCalls, listedAtStart } from '../job/start.ts'
import { answeredMessage, recordSent } from './peer-message.ts'
import { recordSpawn } from '../job/task.ts'

/** A child to start, for a tool call that a reply asked for or for a tool that already runs and waits. */
interface Spawning {
  readonly toolCall: ToolCall
  readonly child: Spawn
  readonly callId: string
  /** What it gets of the tree's budget for itself; null for nothing. */
  readonly grant: TaskGrant | null
  readonly isTask: boolean
}

/** Records the start of a child call. The parent call of a running tool's child is the tool's call. */
export function spawn({ toolCall, child, callId, grant, isTask }: Spawning, job: Job): void {
  const parent = toolCall.owner
  const isRunning = toolCall.place !== null
  const { remote } = child
  const pinned =
    remote === undefined
      ? job.env.pinned(job.log.state.database, child.agent, job.run.revisions)
      : { data: remote.agent, revision: parent.revision }
  if (pinned === null) throw new Error(`agent ${child.agent} is gone or disabled`)
  const parentCall = toolCall.place?.call ?? parent.place.call
  const toolCallId = isRunning ? null : toolCall.requested.id
  const held = grant === null ? {} : isTask ? { background: grant } : { share: grant }
  const more = { toolCallId, ...held }
  startChild({ parent, child, pinned, callId, parentCall, more }, job)
}

/** A child to start below `parent`. */
export interface ChildStart {
  readonly parent: AgentCall
  readonly child: Spawn
  readonly pinned: PinnedAgent
  readonly callId: string
  readonly parentCall: string
  /** Set for a child of a parallel. */
  readonly branch?: string | undefined
  /** What its start says beside that. */
  readonly more: Pick<
    AgentStartBody,
    'toolCallId' | 'background' | 'share' | 'step' | 'critique' | 'guardrail' | 'passTakes'
  >
}

/** Records the start of a child call. */
export function startChild(of: ChildStart, job: Job): void {
  const { parent, child, pinned, callId, parentCall, branch, more } = of
  const { state } = job.log
  const declared = pinned.data.parameters
  const binding = bind(declared, {
    parent: parent.parameters,
    conversationValues: state.conversationValues,
    map: child.map,
  })
  const parameters = withGenerated(binding, child.generated)
  const { peerMessage, answer, overrides, remote } = child
  const own = {
    agent: child.agent,
    remote: remote?.at,
    parameters,
    call: callId,
    job: more.background === undefined ? parent.job : callId,
  }
  const exchange = peerMessage === undefined ? undefined : answeredMessage(peerMessage, { job, parent, child: own })
  const named = { ...own, exchange, parentCall, branch }
  const { place, known } = placeOfChild({ state, run: job.run }, parent, named)
  const shown = startParameters(declared, parameters)
  const clean =
    exchange === undefined && remote === undefined ? job.env.guards.redactNow(pinned.data, child.message) : null
  const body: Writable<AgentStartBody> = {
    agent: child.agent,
    message: clean?.text ?? child.message,
    generated: child.generated,
    map: child.map,
    history: child.history,
    revision: pinned.revision,
    parameters: shown.parameters,
    revisions: {},
    initial: initialCalls(pinned.data, {
      isFresh: known === null || child.history === 'isolated',
      principal: job.run.principal,
    }),
    hidden: false,
    originRunId: null,
    toolCallId: more.toolCallId,
  }
  // Set one by one, as in a reply: few starts have any of these, and a spread costs more than the rest of the start.
  if (shown.hiddenParameters !== undefined) body.hiddenParameters = shown.hiddenParameters
  const plan = child.history === 'isolated' || known === null ? undefined : openPlan(known, pinned.data)
  if (plan !== undefined) body.plan = plan
  if (answer !== undefined) body.answer = answer
  if (overrides !== undefined) body.overrides = overrides
  if (exchange !== undefined) body.exchange = exchange
  if (remote !== undefined) body.remote = remote.at
  const mcp =
    remote === undefined ? listedAtStart({ env: job.env, state }, { agent: pinned.data, parameters }) : undefined
  if (mcp !== undefined) body.mcp = mcp
  if (more.background !== undefined) body.background = more.background
  if (more.share !== undefined) body.share = more.share
  if (more.step !== undefined) body.step = more.step
  if (more.critique !== undefined) body.critique = more.critique
  if (more.guardrail !== undefined) body.guardrail = more.guardrail
  if (more.passTakes !== undefined) body.passTakes = more.passTakes
  if (more.background === undefined) record(job, place, { type: 'start', kind: 'agent', body })
  else recordSpawn(job, place, body)
  for (const hit of clean?.hits ?? []) record(job, place, { type: 'notice', kind: null, body: hitNotice(hit) })
  if (peerMessage !== undefined) recordSent(job, place, { sender: parent, text: child.message, sent: peerMessage.sent })
}
