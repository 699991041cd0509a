/** Hands control of a call's place in the tree to another agent, and takes it back [C33]. */
import { plainDetail } from '@witan/protocol/entries'
import type { AgentStartBody, CallPlace, ErrorBody, MessageBody } from '@witan/protocol/entries'
import { placeOfTarget } from '../conversation/address.ts'
import { type AgentCall, positionOf, type ToolCall } from '../conversation/state.ts'
import { pairOf } from '../conversation/fold-hand-over.ts'
import { attributed } from '../model/attribution.ts'
import { bind } from '../parameter/bind.ts'
import { startParameters } from '../parameter/visibility.ts'
import { refusedTransfer, result, type TransferOutcome } from '../tool/outcome.ts'
import { openPlan } from '../conversation/plan.ts'
import type { PinnedAgent } from '../job/environment.ts'
import { type Job, record } from '../job/job.ts'
import { initialCalls, listedAtStart } from '../job/start.ts'
import { recordOutcome } from './admit.ts'

/**
 * Hands over from the call that owns `toolCall`. The end of the tool call, the hand-over and the start of the target are stored in one
 * append, so that none of them is there without the others [E41].
 */
export function handOver(toolCall: ToolCall, job: Job, to: TransferOutcome): void {
  const source = toolCall.owner
  const pinned = job.env.pinned(job.log.state.database, to.agent, job.run.revisions)
  const refusal = pinned === null ? `${to.agent} is not available` : refusalOf(source, job, to.agent)
  if (pinned === null || refusal !== null) return recordOutcome(toolCall, job, refusedTransfer(refusal ?? ''))
  refuseOthers(toolCall, job)
  recordOutcome(toolCall, job, { ...result({ status: 'ok' }), handsTo: to.agent })
  record(job, source.place, {
    type: 'transfer',
    kind: null,
    body: { from: source.agent.id, to: to.agent, returned: false },
  })
  // A target that reads words only does not see the hand-over. Where the last words are its own, it needs something to answer.
  const endsWithOwn = to.handOver.history === 'words' && !isNewHere(source, to.agent)
  const place = startTarget(source, job, { to, pinned })
  if (endsWithOwn) addRuntimeMessage(place, job, `${source.agent.id} has handed over to you.`)
}

/** A hand-over: to whom, and how. */
type Target = Omit<TransferOutcome, 'kind'>

/** Records the start of the call that gets the control of `source`, and returns its place. */
export function startTarget(
  source: AgentCall,
  job: Job,
  { to, pinned }: { readonly to: Target; readonly pinned: PinnedAgent },
): CallPlace {
  const place = placeOfTarget(source, { agent: to.agent, call: job.env.ids.call() })
  record(job, place, { type: 'start', kind: 'agent', body: startOf(source, job, { to, pinned }) })
  return place
}

/** Refuses what else would take control away in the same reply: the first valid call counts [E35]. */
export function refuseOthers(toolCall: ToolCall, job: Job): void {
  for (const other of toolCall.owner.toolCalls)
    if (other !== toolCall && other.state !== 'settled')
      recordOutcome(other, job, refusedTransfer('another transfer of this reply was taken'))
}

/** Why this hand-over may not be made now; null if it may [E40]. */
function refusalOf({ agent, document }: AgentCall, { run }: Job, to: string): string | null {
  if (document.handOvers.includes(pairOf(agent.id, to)))
    return `you handed over to ${to} before and no person or tool has said anything since`
  const { maxTransfers } = run.root.agent.limits
  return run.transfers < maxTransfers ? null : `${run.transfers} of ${maxTransfers} transfers are used`
}

function startOf(
  source: AgentCall,
  job: Job,
  { to, pinned }: { readonly to: Target; readonly pinned: PinnedAgent },
): AgentStartBody {
  const { data, revision } = pinned
  const { conversationValues } = job.log.state
  const { bound } = bind(data.parameters, { parent: source.parameters, conversationValues, map: to.map })
  const plan = openPlan(source.document, data)
  const mcp = listedAtStart({ env: job.env, state: job.log.state }, { agent: data, parameters: bound })
  return {
    agent: data.id,
    ...(plan === undefined ? {} : { plan }),
    ...(mcp === undefined ? {} : { mcp }),
    revision,
    toolCallId: null,
    message: source.message,
    ...startParameters(data.parameters, bound),
    generated: null,
    map: to.map,
    history: 'agent',
    revisions: {},
    initial: initialCalls(data, { isFresh: isNewHere(source, data.id), principal: job.run.principal }),
    hidden: false,
    originRunId: null,
    handedFrom: source.place.call,
    handOver: to.handOver,
  }
}

/** Whether an agent has not worked in the document of a call yet. */
function isNewHere(call: AgentCall, agent: string): boolean {
  return positionOf(call).agent.id !== agent && !call.document.handOverTargets.includes(agent)
}

/**
 * Gives control back to the call that had handed over to `target`, which has ended. `speaker` gave the answer. `failure`: why
 * there is none, for the agent that gets control.
 */
export function returnControl(
  { agent, parent }: AgentCall,
  job: Job,
  { speaker, failure }: { readonly speaker: AgentCall; readonly failure?: Pick<ErrorBody, 'code' | 'detail'> },
): void {
  const source = parent as AgentCall
  const body = { from: agent.id, to: source.agent.id, returned: true }
  record(job, source.place, { type: 'transfer', kind: null, body })
  if (failure !== undefined) {
    const said = (detail: string) => attributed('witan', source.place.author, `${agent.id} failed: ${detail}`)
    const [text, forModel] = [said(plainDetail(failure)), said(failure.detail)]
    addMessage(source.place, job, { author: 'witan', text, ...(forModel === text ? {} : { forModel }) })
    // Where the last words are its own, its model would have nothing to answer.
  } else if (speaker.agent.id === source.agent.id)
    addRuntimeMessage(source.place, job, `${agent.id} has given control back; go on.`)
}

/** Puts words of the runtime into the document for the agent of that call. */
function addRuntimeMessage(place: CallPlace, job: Job, words: string): void {
  addMessage(place, job, { author: 'witan', text: attributed('witan', place.author, words) })
}

function addMessage(place: CallPlace, job: Job, body: MessageBody): void {
  record(job, { ...place, author: 'witan' }, { type: 'message', kind: null, body })
}
