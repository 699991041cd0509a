/** Says why an entry cannot stand where it stands in its log. Only an imported log is asked: the engine writes no such entry. */
import { isDeepStrictEqual } from 'node:util'
import type { AgentStartBody, CallPlace, Entry, ModelEndBody, RequiredBody } from '@witan/protocol/entries'
import type { JobRow } from '../store/store.ts'
import { remoteAgent } from '../agent/remote-agent.ts'
import { isLive } from '../store/job-change.ts'
import { placeOfTarget } from './address.ts'
import { isRequired } from './fold-interruptions.ts'
import { checkOf } from './guards.ts'
import {
  type AgentCall,
  awaitsCritique,
  type ConversationState,
  isTop,
  type LiveJob,
  liveJob,
  type ToolCall,
} from './state.ts'
import { isWorkflow } from './workflow.ts'

/** What an import remembers of a log beside its fold. */
export interface Begun {
  /** Every call that has started. */
  readonly calls: Set<string>
  /** The calls with a job of their own, by id. */
  readonly jobs: Map<string, Pick<JobRow, 'kind' | 'firstSeq'>>
  /** Tool calls that were started only to be refused: their reply was to be a last answer, so its fold has no place for them. */
  readonly refused: Map<string, CallPlace>
}

/** Why `entry` cannot follow what is folded in `state`; null if it can, and then it is noted in `begun`. */
export function misplaced(state: ConversationState, entry: Entry, begun: Begun): string | null {
  const { type, place } = entry
  if (type !== 'start') return misplacedFact(state, entry, begun)
  if (begun.calls.has(place.call)) return `starts the call \`${place.call}\` a second time`
  const run = liveJob(state, entry.job)
  const why = entry.kind === 'agent' ? misplacedAgent(state, run, entry) : misplacedTool(run, entry)
  if (why !== null) return why
  begun.calls.add(place.call)
  if (entry.kind === 'agent' && place.parentCall === null)
    begun.jobs.set(place.call, { kind: 'run', firstSeq: entry.seq })
  else if (entry.kind === 'agent' && entry.body.background !== undefined)
    begun.jobs.set(place.call, { kind: 'task', firstSeq: entry.seq })
  if (entry.kind === 'tool' && askedIn(run, place, entry.body.toolCallId) === undefined)
    begun.refused.set(place.call, place)
  return null
}

/** Of an entry that starts nothing. */
function misplacedFact(state: ConversationState, entry: Entry, begun: Begun): string | null {
  const { type, kind, place, job } = entry
  if (type === 'participant' || type === 'notice') return null
  if (type === 'task') return begun.calls.has(place.call) ? null : noCall(entry)
  const run = liveJob(state, job)
  const call = run?.calls.get(place.call)
  const toolCall = run?.toolCalls.get(place.call)
  if (type === 'message' && entry.body.exchange === undefined) return misplacedMessage(state, entry, begun)
  if (isRequired(entry)) {
    const { held, id } = entry.body
    const asked = held === undefined ? toolCall : askedIn(run, place, held.toolCallId)
    if (asked === undefined) return noCall(entry)
    if (held !== undefined && !isHeldBy(entry, asked))
      return `holds the call \`${held.toolCallId}\`, which is another or has begun`
    if (asked.interruptions.some((one) => one.id === id)) return `asks \`${id}\` a second time`
    return otherPlace(place, held === undefined ? asked.place : placeOfTool(asked.owner, place.call))
  }
  if (type === 'resolved')
    return toolCall?.interruptions.some(({ id }) => id === entry.body.id)
      ? null
      : `settles \`${entry.body.id}\`, which nobody has asked or which is settled`
  // What it is about may have been answered since: until its tool begins, a call of a tool has no place of its own.
  if (type === 'hook' && entry.body.at === 'onInterruption') {
    const owner = run?.calls.get(place.parentCall ?? '')
    return owner === undefined ? noCall(entry) : otherPlace(place, placeOfTool(owner, place.call))
  }
  if (type === 'hook' && toolCall !== undefined) return otherPlace(place, toolCall.place)
  if (kind === 'tool' || isOfTool(entry)) {
    const refused = type === 'error' ? begun.refused.get(place.call) : undefined
    begun.refused.delete(place.call)
    return toolCall === undefined && refused === undefined
      ? noCall(entry)
      : otherPlace(place, toolCall?.place ?? refused)
  }
  if (call === undefined) return noCall(entry)
  if (type === 'message') return null
  return misplacedOfAgent(entry, run as LiveJob, call) ?? otherPlace(place, call.place)
}

/** Whether a call that has not begun is the one that an approval is about. */
function isHeldBy({ body }: Entry & { readonly body: RequiredBody }, { state, requested }: ToolCall): boolean {
  return state === 'requested' && (!('tool' in body) || body.tool === requested.name)
}

/** Whether a tool call leaves such an entry. */
function isOfTool({ type, body }: Entry): boolean {
  return type === 'checkpoint' || type === 'artifact' || type === 'plan' || (type === 'memory' && body.op !== 'read')
}

/** Of an entry of an agent's call that is under way. */
function misplacedOfAgent({ type, kind, body }: Entry, run: LiveJob, call: AgentCall): string | null {
  if (type === 'end' && kind === 'model') return misplacedReply(call, body)
  if (kind === 'agent') return misplacedEnd(run, call)
  if (type !== 'summary' || body.document === call.document.path) return null
  return `sums up \`${body.document}\`, which is not the document of its call`
}

function misplacedMessage({ id }: ConversationState, entry: Entry, begun: Begun): string | null {
  const { parentCall, document, call } = entry.place
  if (parentCall !== null) return begun.calls.has(call) ? null : noCall(entry)
  return document === id ? null : `is a message to \`${document}\`, which is not the document of the root`
}

function noCall({ place, job }: Entry): string {
  return `belongs to the call \`${place.call}\`, which is not under way in the job \`${job}\``
}

/** All entries of a call have one place. */
function otherPlace(place: CallPlace, right: CallPlace | null | undefined): string | null {
  return isDeepStrictEqual(place, right) ? null : `does not have the place of the call \`${place.call}\``
}

function misplacedAgent(
  state: ConversationState,
  run: LiveJob | null,
  { place, job, body }: Entry & { body: AgentStartBody },
): string | null {
  const { call, parentCall } = place
  if (parentCall === null) return misplacedRoot(state, { place, job, body })
  const tool = run?.toolCalls.get(parentCall) ?? null
  const parent = tool?.owner ?? run?.calls.get(parentCall)
  if (parent === undefined) return `starts a child of \`${parentCall}\`, which is not under way in the job \`${job}\``
  if (body.handOver !== undefined) {
    if (parent.handedTo !== null) return `takes the control of \`${parentCall}\`, which has given it away`
    return otherPlace(place, placeOfTarget(parent, { agent: body.agent, call }))
  }
  const { run: root, agentPath, invocation } = parent.place
  const isBelow =
    place.run === root &&
    place.author === (body.remote ?? body.agent) &&
    place.agentPath === `${agentPath}/${body.agent}` &&
    place.invocation.startsWith(`${invocation}.sub.${body.agent}`) &&
    place.document.startsWith(`${state.id}/`)
  if (!isBelow) return `does not have the place of a child of \`${parentCall}\``
  if (body.remote !== undefined && remoteAgent(parent.agent, body.agent) === null)
    return `calls \`${body.agent}\`, which \`${parent.agent.id}\` does not list among its agents on other servers`
  if (body.step !== undefined)
    return isWorkflow(parent) ? null : `is a step of \`${parentCall}\`, which has no workflow`
  // A message that the process of the call had not read yet may stand before it.
  if (body.critique === true)
    return awaitsCritique(parent) && parent.critic === null
      ? null
      : `criticises \`${parentCall}\`, which waits for no critique`
  if (body.guardrail !== undefined)
    return parent.guard === null && checkOf(parent, body.guardrail) !== null
      ? null
      : `checks \`${parentCall}\`, which waits for no such check`
  const asked = parent.toolCalls.find(
    ({ requested: { id }, state: stands }) => id === body.toolCallId && stands === 'requested',
  )
  return tool !== null || asked !== undefined ? null : noAsking(body.toolCallId)
}

function misplacedRoot(
  { id, run, rootAgent }: ConversationState,
  { place, job, body }: Pick<Entry & { body: AgentStartBody }, 'place' | 'job' | 'body'>,
): string | null {
  const { call } = place
  const { agent, background, handOver, step } = body
  if (run !== null) return `starts a run while the run \`${run.root.place.call}\` is under way`
  if (background !== undefined || handOver !== undefined || step !== undefined || job !== call)
    return 'starts a run as a part of another one'
  if (agent !== rootAgent) return `starts a run of \`${agent}\` in a conversation with \`${rootAgent}\``
  const root = { call, parentCall: null, run: call, document: id, author: agent, agentPath: agent, invocation: call }
  return otherPlace(place, root)
}

function misplacedTool(
  run: LiveJob | null,
  { place, body, job }: Entry & { type: 'start'; kind: 'tool' },
): string | null {
  const parent = run?.calls.get(place.parentCall ?? '')
  if (parent === undefined)
    return `starts a tool of \`${place.parentCall}\`, which is not under way in the job \`${job}\``
  const toolCall = askedIn(run, place, body.toolCallId)
  if (toolCall === undefined ? parent.reply !== null : toolCall.state !== 'requested') return noAsking(body.toolCallId)
  return otherPlace(place, placeOfTool(parent, place.call))
}

function placeOfTool({ place }: AgentCall, call: string): CallPlace {
  return { ...place, call, parentCall: place.call }
}

/** The tool call of that id that the parent of a place has made in its last reply. */
function askedIn(run: LiveJob | null, { parentCall }: CallPlace, toolCallId: string): ToolCall | undefined {
  return run?.calls.get(parentCall ?? '')?.toolCalls.find(({ requested }) => requested.id === toolCallId)
}

function noAsking(toolCallId: string | null): string {
  return `answers the tool call \`${toolCallId}\`, which nobody has made or which is under way`
}

function misplacedReply(call: AgentCall, { purpose, taken }: ModelEndBody): string | null {
  if (purpose !== undefined) return null
  if (isWorkflow(call)) return 'is a reply of a workflow, which has no model'
  if (call.reply !== null) return `is a reply of \`${call.place.call}\`, whose tool calls are under way`
  return taken > call.document.inbox.length ? 'has read messages that are not there' : null
}

function misplacedEnd({ calls }: LiveJob, call: AgentCall): string | null {
  for (const other of calls.values())
    if (other.parent === call && !isTop(other))
      return `ends \`${call.place.call}\` before its child \`${other.place.call}\``
  return null
}

/** Why the row of a job does not belong to a log that ends as `state`; null if it does. */
export function misplacedJob(state: ConversationState, job: JobRow, { jobs }: Begun): string | null {
  const { id, kind, status, firstSeq, result } = job
  const begun = jobs.get(id)
  if (begun?.kind !== kind || firstSeq > begun.firstSeq || firstSeq < 1)
    return `is of a ${kind} that its log does not begin`
  if (isLive(job) !== (liveJob(state, id) !== null))
    return 'has ended where its log has not, or has not where its log has'
  const isAtWork = status === 'queued' || status === 'running'
  if (isLive(job) !== (isAtWork || status === 'waiting'))
    return `has the status \`${status}\`, which does not fit its end`
  if (isAtWork) return null
  const { runId, conversationId } = (result ?? {}) as { readonly runId?: unknown; readonly conversationId?: unknown }
  return runId === id && conversationId === state.id ? null : `has no result of the ${kind} \`${id}\``
}
