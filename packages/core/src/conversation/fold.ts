/** The fold: applies one entry to the state. It is the only code that changes the state, and has no other effect. */
import { foldTools } from './listed.ts'
import type { AgentData } from '@witan/protocol'
import type { AgentEndBody, AgentStartBody, CheckpointBody, Entry, ErrorBody, TaskGrant } from '@witan/protocol/entries'
import { remoteAgent } from '../agent/remote-agent.ts'
import { withBudget } from '../budget/with-budget.ts'
import { channelOf } from '../identity/channel.ts'
import { renewed } from '../identity/on-behalf-of.ts'
import { principalOf } from '../identity/principal.ts'
import { foldEmbeddings, mergeUsage } from './merge-usage.ts'
import { changed, startingPeople } from '../parameter/person.ts'
import { Scrubbers } from '../parameter/scrubbers.ts'
import { dropSeparateDocument } from './address.ts'
import { agentAnswer, callersView, handleOf } from './callers-view.ts'
import { foldArtifact, foldArtifactRead } from './fold-artifacts.ts'
import { foldRequired, foldResolved } from './fold-interruptions.ts'
import { foldExchange, noteUnsent } from './fold-exchange.ts'
import { openingOf } from './remembered.ts'
import { delegatedMessage, foldMessage, readInbox } from './inbox.ts'
import { valuesAt, withHidden } from './stored-values.ts'
import { contentOf, resultText } from './said.ts'
import { type AgentCall, type ConversationState, isTop, liveJob, type LiveJob, type ToolCall } from './state.ts'
import { answerText, foldTransfer, allowHandOvers, takeControl } from './fold-hand-over.ts'
import { newCall } from './new-call.ts'
import { clockWork, newRun, nothingSpent } from './run.ts'
import { beginRemote, foldAnswered, foldSpent } from './remote.ts'
import { beginWork, endDemands, foldDemandAnswer, foldMet } from './begin-work.ts'
import { beginPass, foldStepOver, foldStepStart, isWorkflow } from './workflow.ts'
import { SparseMap } from './sparse-map.ts'
import {
  foldCheckpoint,
  foldExit,
  foldToolError,
  foldToolModeEnd,
  foldToolOver,
  foldToolStart,
  gatherError,
  settle,
  settleOpen,
} from './step.ts'
import { endTask, holdShare, noteEnd, settleAccount, startTask } from './fold-task.ts'
import { dropHistory } from './cut.ts'
import { foldNotice } from './fold-notice.ts'
import { foldMemory } from './remembered.ts'
import { foldCritique } from './critique.ts'
import { beginGuard, endGuard } from './guards.ts'
import { decisionOfHook } from '../hook/decision.ts'
import { checksOf, foldDecision } from './hooks.ts'
import { foldPlan } from './plan.ts'
import { foldNoReply, foldReply } from './fold-reply.ts'
import { foldRetrieval, noteSources, passSources } from './retrieval.ts'

/** Looks up the pinned definition of an agent. Every revision that the log names is loaded before folding [C8]. */
export type AgentLookup = (id: string, revision: number) => AgentData

/** An empty conversation. */
export function emptyState(
  about: Pick<ConversationState, 'database' | 'id' | 'rootAgent' | 'stored' | 'maxModelIterationsPerCall'>,
): ConversationState {
  const { conversationValues } = about.stored
  return {
    ...about,
    channel: channelOf(about.database, about.id),
    conversationValues,
    people: startingPeople(conversationValues),
    outsider: null,
    hasNamed: false,
    scrubbers: new Scrubbers(),
    documents: new Map(),
    ordinals: new SparseMap(),
    run: null,
    spent: nothingSpent(),
    tasks: new SparseMap(),
    unreported: new SparseMap(),
    answers: new SparseMap(),
    badEnds: new SparseMap(),
    artifacts: { made: new SparseMap(), reads: new SparseMap() },
    met: new SparseMap(),
    listings: new SparseMap(),
    folded: 0,
    seq: 0,
  }
}

/** Notes that everything up to `seq` is folded and stored. */
export function foldedUpTo(state: ConversationState, seq: number): void {
  state.seq = seq
}

/** Applies `entry` to `state`. An entry for a call that is not live changes nothing. */
export function fold(state: ConversationState, entry: Entry, agents: AgentLookup): void {
  if (entry.seq > state.seq) state.seq = entry.seq
  state.folded += 1
  const run = liveJob(state, entry.job)
  if (run !== null && entry.epoch > 0) clockWork(run.worked, entry)
  if (run !== null) foldEmbeddings(run, entry)
  switch (entry.type) {
    case 'message':
      if (entry.body.exchange !== undefined) return foldExchange(run, entry)
      foldMessage(state, run, entry)
      return tellRemote(state, run?.calls.get(entry.place.call))
    case 'start':
      if (entry.kind === 'agent') return foldAgentStart(state, entry, agents)
      noteUnsent(run, entry)
      return foldToolStart(run, entry)
    case 'end':
      return foldEnd(state, run, entry)
    case 'error':
      if (entry.kind === 'model') return foldNoReply(run, entry.place, entry.body)
      return entry.kind === 'agent' ? foldAgentOver(state, run, entry) : foldToolError(run, entry.place, entry.body)
    case 'action_required':
    case 'question_required':
    case 'approval_required':
    case 'message_required':
    case 'policy_required':
      return foldRequired(run, entry.place, entry.body)
    case 'resolved':
      if (run !== null && entry.body.evidence !== undefined) run.principal = renewed(run.principal, entry.body.evidence)
      foldResolved(run, entry.place, entry.body)
      return foldDemandAnswer(state, run, entry)
    case 'cancel':
      if (run !== null) run.cancelled = true
      return
    case 'task': {
      const task = state.tasks.get(entry.place.call)
      if (task !== undefined) task.loggedStatus = entry.body.status
      return
    }
    case 'notice':
      if (run !== null) foldNotice(run, entry)
      if (entry.body.code === 'PARAMETERS_HIDDEN')
        state.stored = withHidden(state.stored, entry.body.hidden ?? [], entry.seq - 1)
      return
    case 'transfer':
      return foldTransfer(run, entry)
    case 'checkpoint':
      if (entry.body.read !== undefined) foldArtifactRead(state.artifacts, entry.place, entry.body.read)
      return foldCheckpointOf(state, run, entry)
    case 'participant': {
      const { user: id, name, roles, change } = entry.body
      state.people = changed(state.people, { id, name, roles }, change === 'joined' ? 'there' : 'left')
      return
    }
    case 'artifact':
      return foldArtifact(state.artifacts, entry)
    case 'memory':
      return foldMemory(run, entry)
    case 'retrieval':
      return foldRetrieval(run, entry)
    case 'tools':
      return foldTools(state, run, entry)
    case 'plan':
      return foldPlan(run, entry)
    case 'critique':
      return foldCritique(run, entry)
    case 'hook':
      return foldDecision(run, entry.place, decisionOfHook(entry.body))
    case 'summary': {
      const document = run?.calls.get(entry.place.call)?.document
      if (document !== undefined) dropHistory(document, entry.body)
      return
    }
    default:
      return assertNever(entry)
  }
}

function foldAgentStart(state: ConversationState, entry: Entry & { body: AgentStartBody }, agents: AgentLookup): void {
  const { place, body } = entry
  const caller = liveJob(state, entry.job)
  // The parent of a child is the agent whose tool call it answers, or the owner of the tool that runs it.
  const tool = caller?.toolCalls.get(place.parentCall ?? '') ?? null
  const parent = tool?.owner ?? caller?.calls.get(place.parentCall ?? '') ?? null
  if (parent === null) state.conversationValues = valuesAt(state.stored, entry.seq || Number.POSITIVE_INFINITY)
  const workflow = body.step !== undefined && parent !== null && isWorkflow(parent) ? parent : null
  if (workflow !== null && body.passTakes !== undefined) {
    beginPass(workflow)
    readInbox(workflow, body.passTakes)
  }
  const { call, invocation } = newCall(state, entry, { agent: definitionOf(body, parent, agents), parent, tool })
  const { document } = call
  if (workflow !== null) foldStepStart(workflow, call)
  if (call.isCritic && parent !== null) parent.critic = { end: null }
  if (call.guards !== null && parent !== null) beginGuard(parent, call.guards, () => checksOf(parent).passed)
  if (caller !== null && parent !== null && call.handOver !== null) {
    takeControl(caller, parent, call)
    return beginWork(state, call)
  }
  document.calls.push(call)
  if (parent === null) {
    if (!body.hidden) state.spent = nothingSpent()
    state.run = newRun(call, {
      tree: withBudget(call.agent, body.incoming?.budget),
      principal: principalOf(state.database, body.principal, body.incoming),
      revisions: body.revisions,
      grant: null,
      account: state.spent,
    })
  } else {
    const from = caller as LiveJob
    from.invocations.set(invocation, 1 + (from.invocations.get(invocation) ?? 0))
    if (body.background === undefined) joinRun(from, call)
    else beginTask(state, { from, call, grant: body.background })
  }
  if (document.calls.length > 1) return
  activate(state, call, body.hidden)
}

/** The definition of the agent that a start names. */
function definitionOf(body: AgentStartBody, parent: AgentCall | null, agents: AgentLookup): AgentData {
  const { agent, revision, remote } = body
  if (remote === undefined) return agents(agent, revision)
  const known = parent === null ? null : remoteAgent(parent.agent, agent)
  if (known === null) throw new Error(`no agent on another server is known as ${agent}`)
  return known
}

/** A message for an agent on another server that has answered: it is told that too. */
function tellRemote(state: ConversationState, call: AgentCall | undefined): void {
  if (call !== undefined && call.remote !== null && call.active && call.toolCalls.length === 0)
    beginRemote(state, call, call.document.remoteNote)
}

function foldCheckpointOf(
  state: ConversationState,
  run: LiveJob | null,
  entry: Entry & { readonly body: CheckpointBody },
): void {
  const { place, body } = entry
  foldCheckpoint(run, entry)
  const call = run?.calls.get(place.call)
  if (run === null || call === undefined) return
  if (body.met === true) foldMet(run, call)
  if (call.remote === null) return
  if (body.note !== undefined) call.document.remoteNote = body.note
  if (body.spent !== undefined) foldSpent(run, call, body.spent)
  if (body.answered !== undefined) foldAnswered(state, run, { call, answered: body.answered })
}

/** Starts a task: a child with a live job of its own. Its handle is the result of the tool call [F21]. */
function beginTask(
  state: ConversationState,
  { from, call, grant }: { readonly from: LiveJob; readonly call: AgentCall; readonly grant: TaskGrant },
): void {
  const { place, toolCallId, askedBy } = call
  state.tasks.set(place.call, newRun(call, startTask(from, call, grant)))
  if (askedBy !== null) settle(askedBy, contentOf(handleOf(place.call, toolCallId)))
}

function joinRun(run: LiveJob, call: AgentCall): void {
  run.calls.set(call.place.call, call)
  holdShare(run, call, 1)
  const { askedBy } = call
  if (askedBy === null) return
  if (askedBy.place !== null) askedBy.state = 'paused'
  else {
    askedBy.state = 'child'
    askedBy.place = call.place
  }
}

function activate(state: ConversationState, call: AgentCall, isHidden = false): void {
  call.active = true
  const { said, callStarts, inbox } = call.document
  callStarts.push({ from: said.length, start: call.start, isRoot: call.parent === null })
  if (call.firstSaid === -1) {
    call.firstSaid = said.length
    call.document.plans.delete(call.agent.id)
  }
  if (call.remote !== null) return beginRemote(state, call)
  if (call.parent !== null) inbox.push(delegatedMessage(call))
  // A run begins with what came with it: words that were left over from one before join it.
  call.opening = call.parent === null ? (inbox.findLast(({ only }) => only === undefined) ?? null) : openingOf(call)
  beginWork(state, call, isHidden)
}

function foldEnd(state: ConversationState, run: LiveJob | null, entry: Entry & { type: 'end' }): void {
  if (entry.kind === 'model') return foldReply(run, entry)
  if (entry.kind === 'tool') {
    if (entry.body.endsToolMode === true) foldToolModeEnd(run, entry.place)
    const owner = entry.body.handsTo === undefined ? run?.toolCalls.get(entry.place.call)?.owner : undefined
    if (owner !== undefined) allowHandOvers(owner)
    const { result, forModel = result, truncated, sources } = entry.body
    const reader = sources === undefined ? undefined : run?.toolCalls.get(entry.place.call)?.owner
    if (reader !== undefined && sources !== undefined) noteSources(reader, sources)
    const content = resultText({ result: forModel, truncated })
    if (entry.body.exitsLoop === true) return foldExit(run, entry.place, content)
    return foldToolOver(run, entry.place, content)
  }
  return foldAgentOver(state, run, entry)
}

function foldAgentOver(state: ConversationState, run: LiveJob | null, { place, body }: AgentOver): void {
  const call = run?.calls.get(place.call)
  if (run === null || call === undefined) return
  run.calls.delete(place.call)
  holdShare(run, call, -1)
  endDemands(state, run, call)
  if ('code' in body && isOwnFailure(call, body.code)) run.failedCalls += 1
  if (!isTop(call)) passSources(call)
  const { calls, inbox } = call.document
  settleOpen(call)
  if (call.handOver !== null && call.parent !== null) {
    calls.splice(calls.indexOf(call), 1)
    if ('code' in body) gatherError(call, body)
    return mergeUsage(call.parent.usage, call.usage)
  }
  // A message that a model wrote to the child is dropped if unread; a person's message stays.
  if (call.parent !== null && (call.active || call.handedTo !== null)) {
    for (const { reports: unread = [] } of inbox.splice(0))
      for (const task of unread) state.unreported.set(task.place.call, task)
  }
  calls.splice(calls.indexOf(call), 1)
  const next = calls[0]
  if (next !== undefined && !next.active) activate(state, next)
  dropSeparateDocument(state, call)
  if (call.parent === null) {
    state.run = null
    settleAccount(state, run, body)
    return noteEnd(state, run, body)
  }
  if (isTop(call)) return endTask(state, run, body)
  mergeUsage(call.parent.usage, call.usage)
  const { askedBy } = call
  if (askedBy?.state === 'paused') return answerTool(askedBy, call, body)
  if (call.isCritic) {
    call.parent.critic = { end: agentAnswer(body, (text) => answerText(call, text)) }
    return
  }
  if (call.guards !== null)
    return endGuard(
      call.parent,
      agentAnswer(body, (text) => answerText(call, text)),
    )
  if ('code' in body) gatherError(call.parent, body)
  if (call.step !== null && isWorkflow(call.parent)) return foldStepOver(call.parent, call, body)
  // Values bound to the child but not declared by its caller are scrubbed from the answer [C17].
  if (askedBy === null) return
  const content = contentOf(callersView(body, call.gathered))
  settle(askedBy, call.handedTo === null ? content : answerText(call.handedTo, content), call.scrub)
  allowHandOvers(call.parent)
}

/** Whether a failed model call of this call was spent, in a log of an earlier version: it has no entry of its own. */
function isOwnFailure({ handedTo, workflow, hasNoReply }: AgentCall, code: string): boolean {
  if (handedTo !== null || workflow !== null || hasNoReply) return false
  return code === 'MODEL_CALL_FAILED' || code === 'MODEL_CONTEXT_EXCEEDED'
}

/** Passes an agent's answer to the tool that runs it, scrubbed of values bound below the tool [C17]. */
function answerTool(toolCall: ToolCall, call: AgentCall, body: AgentEndBody | ErrorBody): void {
  const { agent, message } = call
  const answer = agentAnswer(body, (text) => answerText(call, text))
  toolCall.state = 'answered'
  toolCall.answers = [...toolCall.answers, { kind: 'agent', agent: agent.id, message, answer }]
}

type AgentOver = Entry & { readonly kind: 'agent'; readonly body: AgentEndBody | ErrorBody }

function assertNever(entry: never): never {
  throw new Error(`unknown entry type ${JSON.stringify((entry as Entry).type)}`)
}
