/** Ends requests and tools that are under way with what the log has of them. */
import type { ErrorCode, UsageCounters } from '@witan/protocol'
import type { CallPlace, CheckpointBody, Entry, ErrorBody, NoticeBody, RequiredBody } from '@witan/protocol/entries'
import { TimeUp } from '../job/abort.ts'
import { recordArtifact, recordRead } from '../job/call-artifacts.ts'
import { type Job, record } from '../job/job.ts'
import type { ModelNote } from '../model/model.ts'
import { endModelCalls, endTool, recordCheckpoint, type ToolRun } from '../run/act.ts'
import { type Decision, decisionOf } from '../hook/decision.ts'
import { hasToList } from '../conversation/listed.ts'
import { isTop } from '../conversation/state.ts'
import type { Verdict } from '../hook/ask.ts'
import { recordDecision } from '../run/decision-effects.ts'
import { failCall } from '../run/settle.ts'
import { recordNote } from '../run/think.ts'
import type { Request } from '../run/thinking.ts'
import { mayAct } from '../run/decide.ts'
import {
  failed,
  type ModelSpending,
  type OutcomeEntry,
  type PendingOutcome,
  result,
  type ResultOutcome,
} from '../tool/outcome.ts'
import { listingCodes } from '../tool/mcp/offered.ts'
import type { Engine } from './engine.ts'
import { ahead, aheadOfCall, aheadOfJob } from './followed-log.ts'
import { isClosing, isNotMade } from './lookahead.ts'
import { childOf, failureOf, interruptionsOf, outcomeOf, replyOf, spendingOf, toldCodes } from './outcomes.ts'
import { endThinking, forgetThinking, forgetTool, requestOf, startTool } from './under-way.ts'

/** Gives what the next entry says to the request or the tool that it comes from. False if it comes from none. */
export function give(engine: Engine, job: Job, entry: Entry): boolean {
  const { kind, type, place, body } = entry
  if (isFound(entry) || isListingNotice(job, entry)) return giveFound(job, entry)
  const decision = decisionOf(entry)
  if (decision !== null) return giveDecision(engine, job, { place, decision })
  const isEnding = job.run.cancelled || job.lifecycle.failure !== null
  const isOfTool = kind === 'model' && body.purpose === 'progress'
  if (isEnding && isClosing(entry, entry.job)) return (isOfTool || isNoticeOfLoss(entry)) && giveSpending(engine, entry)
  if (isOfTool) return giveSpending(engine, entry)
  const request = requestOf(engine.underWay, place.call)
  if (kind === 'model') return request !== null && giveModel(engine, request, entry)
  if (failsFirst(job, entry)) return true
  if (type !== 'notice') return giveTool(engine, job, entry)
  if (request !== null && toldCodes.has(body.code)) {
    recordNote(request.call, job, body as ModelNote)
    return true
  }
  if (request !== null && isNoticeOfLoss(entry)) return giveReplyBehind(engine, request)
  if (!isNoticeOfLoss(entry)) return giveNoticed(engine, job, entry)
  return giveRefused(engine, job, entry) || giveSpending(engine, entry) || giveNoticed(engine, job, entry)
}

type Found = Entry & { readonly type: 'retrieval' | 'memory' | 'tools' | 'notice' }

/** Whether an entry is what was looked up in knowledge, in memory or of MCP servers, or says that there is less of it. */
function isFound(entry: Entry): entry is Found {
  if (entry.type === 'memory') return entry.body.op === 'read'
  if (entry.type === 'retrieval' || entry.type === 'tools') return true
  return entry.type === 'notice' && foundCodes.has(entry.body.code)
}

/** The codes of what is told of a search, or of the tools of MCP servers. */
const foundCodes: ReadonlySet<string> = new Set<NoticeBody['code']>([
  ...listingCodes,
  'EMBEDDING_FAILED',
  'KNOWLEDGE_FAILED',
  'MEMORY_WITHHELD',
])

/** Whether an entry says that a server is left out, since it cannot be asked: what is not offered of the tools is told later. */
function isListingNotice(job: Job, entry: Entry): entry is Found {
  if (entry.type !== 'notice' || entry.body.code !== 'TOOL_UNAVAILABLE') return false
  const call = job.run.calls.get(entry.place.call)
  return call !== undefined && hasToList(call)
}

function giveFound(job: Job, entry: Found): boolean {
  record(job, entry.place, entry)
  return true
}

/** What a hook or a guardrail decided. Of a reply that stands before it, and is taken with it. */
function giveDecision(
  engine: Engine,
  job: Job,
  { place, decision: body }: { readonly place: CallPlace; readonly decision: Decision },
): boolean {
  const { underWay } = engine
  if (body.at === 'afterModel') {
    const request = requestOf(underWay, place.call)
    return request !== null && giveReplyBehind(engine, request)
  }
  recordDecision(job, place, body)
  if (body.at === 'beforeModel' && !job.run.calls.has(place.call)) forgetThinking(underWay, place.call, job)
  return true
}

/** What was decided of a reply: these entries stand right before it. */
function verdictOn(followed: Engine['followed'], call: string): { readonly verdict?: Verdict<string> } {
  const bodies: Decision[] = []
  for (const entry of aheadOfCall(followed, call)) {
    const decision = decisionOf(entry)
    if (decision === null) break
    bodies.push(decision)
  }
  return bodies.length === 0 ? {} : { verdict: { bodies, written: undefined, refused: null } }
}

/** Whether an agent's call fails here since its process lacked a hook, or a server was away: then it fails here too. */
function failsFirst(job: Job, { type, kind, place, body }: Entry): boolean {
  if (type !== 'error' || kind !== 'agent') return false
  if (body.code !== 'HOOK_MISSING' && body.code !== 'MCP_SERVER_UNAVAILABLE') return false
  const call = job.run.calls.get(place.call)
  if (call === undefined || isTop(call)) return false
  failCall(call, job, { code: body.code as ErrorCode, detail: body.detail, hint: '' })
  return true
}

/** Whether an entry says that no sum has what a request used. */
function isNoticeOfLoss(entry: Entry): entry is Notice {
  return entry.type === 'notice' && entry.body.code === 'USAGE_INCOMPLETE'
}

type ModelEnd = Entry & { readonly kind: 'model' }

function giveModel(engine: Engine, request: Request, entry: ModelEnd): boolean {
  const { underWay, followed } = engine
  if ((entry.body.purpose === 'summary') !== (request.purpose === 'summary')) return false
  const call = request.call.place.call
  if (entry.type === 'end') {
    const { body } = entry
    const text =
      request.purpose === 'summary' ? summaryText(aheadOfCall(followed, call), request.trim.resultPrefix) : null
    endThinking(underWay, call, {
      reply: text === null ? replyOf(body) : replyOf(body, text),
      ...verdictOn(followed, call),
    })
    return true
  }
  if (!entry.body.spent || entry.body.code === 'MODEL_CALL_LOST') return false
  endThinking(underWay, call, { failure: failureOf(entry.body, request.isLost) })
  return true
}

/** A request of a call was lost before the one that got the reply: the note of it stands before that reply. */
function giveReplyBehind(engine: Engine, request: Request): boolean {
  for (const entry of aheadOfCall(engine.followed, request.call.place.call))
    if (entry.kind === 'model') return giveModel(engine, request, entry)
  return false
}

/** The text of a summary, which the log keeps with its prefix in an entry of its own. */
function summaryText(entries: Iterable<Entry>, prefix: string): string {
  for (const { type, body } of entries) {
    if (type === 'summary') return body.text.slice(prefix.length)
    if (type === 'notice' && body.code === 'HISTORY_NOT_TRIMMED') return ''
  }
  return ''
}

/**
 * What a tool spent on models of its own stands before its end, and before that a note if a request of it was lost. A tool that was cut off has
 * such a note alone.
 */
function giveSpending(engine: Engine, { job, type, place, body }: Asking): boolean {
  const { underWay, followed } = engine
  const asking = [...underWay.tools.values()].filter((run) => isAsking(run, job, place.call))
  const spent: ModelSpending[] = []
  for (const entry of asking.length === 0 ? [] : aheadOfJob(followed, job)) {
    if (entry.type === 'end' && entry.kind === 'model' && entry.body.purpose === 'progress')
      spent.push(spendingOf(entry.body))
    const run = asking.find(({ toolCall }) => isToolOver(entry) && toolCall.place?.call === entry.place.call)
    if (run === undefined || !isToolOver(entry)) continue
    if (type === 'error' && body.code === 'MODEL_CALL_LOST') run.controller.abort(new TimeUp())
    const outcome = outcomeOf(entry, spent)
    noteLoss(run, type)
    if (type === 'end') return over(engine, run, outcome)
    endModelCalls(run, outcome)
    return true
  }
  const [cut] = asking
  if (cut === undefined) return false
  cut.controller.abort('cancelled')
  noteLoss(cut, type)
  endModelCalls(cut, null)
  return true
}

/** What a tool's own requests leave in the log: their replies, failures, and notes of those that are lost. */
type Asking = Entry & ({ readonly kind: 'model' } | { readonly type: 'notice' })

function isAsking({ job, modelCall }: ToolRun, id: string, owner: string): boolean {
  const isCounted = modelCall !== null && job.lifecycle.modelCalls.includes(modelCall)
  return isCounted && job.identity.id === id && modelCall.call.place.call === owner
}

function noteLoss({ modelCall }: ToolRun, type: Entry['type']): void {
  if (modelCall === null) return
  if (type === 'error') modelCall.isAsking = true
  else if (type === 'notice') modelCall.isLost = true
}

/** Ends a tool. False if an entry does not say what it came to. */
function over({ underWay }: Engine, run: ToolRun, outcome: ResultOutcome | PendingOutcome | null): boolean {
  if (outcome === null) return false
  endModelCalls(run, outcome)
  forgetTool(underWay, run)
  endTool(run, outcome)
  return true
}

type ToolOver = Entry & { readonly kind: 'tool'; readonly type: 'end' | 'error' }

function isToolOver(entry: Entry): entry is ToolOver {
  return entry.kind === 'tool' && entry.type !== 'start'
}

type Notice = Entry & { readonly type: 'notice' }

/** Before the end of a tool that is not made stands a note of what an earlier owner had asked for it. */
function giveRefused(engine: Engine, job: Job, { place: { call } }: Notice): boolean {
  const [, end] = aheadOfJob(engine.followed, job.identity.id)
  return end?.place.parentCall === call && isNotMade(end) && toolOf(engine, job, end) === 'over'
}

/** What a call on another server says in notices stands before how it ended. */
function giveNoticed(engine: Engine, job: Job, { place: { call } }: Notice): boolean {
  const notices: Notice['body'][] = []
  let end: Entry | undefined
  for (const entry of aheadOfJob(engine.followed, job.identity.id)) {
    if (entry.type === 'notice' && entry.place.call === call) notices.push(entry.body)
    else {
      end = entry
      break
    }
  }
  if (end === undefined) return false
  if (end.place.call !== call || (end.type !== 'checkpoint' && (end.type !== 'error' || end.kind !== 'agent')))
    return false
  const run = toolOf(engine, job, end)
  const outcome = toolOutcome(engine.followed, end)
  if (run === null || run === 'over' || outcome?.kind !== 'result') return run === 'over'
  return over(engine, run, { ...outcome, notices })
}

/** The tool of an entry, which begins where the log has the first that comes of it. Null if there is none; `over` if it could not run. */
function toolOf({ underWay }: Engine, job: Job, { type, kind, place }: Entry): ToolRun | 'over' | null {
  const id = (type === 'start' && kind === 'agent' ? place.parentCall : place.call) ?? ''
  const toolCall = job.run.toolCalls.get(id)
  const known = underWay.tools.get(id)
  if (toolCall === undefined || (known === undefined && !mayAct(toolCall, job.busy))) return null
  return known ?? startTool(underWay, toolCall, job) ?? 'over'
}

function giveTool(engine: Engine, job: Job, entry: Entry): boolean {
  const run = toolOf(engine, job, entry)
  if (run === null || run === 'over' || recordMeanwhile(engine, run, entry)) return run !== null
  return over(engine, run, toolOutcome(engine.followed, entry))
}

/** Records what a tool leaves in the log before it ends. False if an entry is no such thing. */
function recordMeanwhile({ contents }: Engine, { toolCall, job }: ToolRun, entry: Entry): boolean {
  const { type, body } = entry
  if (isOutcomeEntry(entry)) {
    record(job, entry.place, entry)
    return true
  }
  if (type === 'artifact') {
    const { name, mediaType, digest } = body
    const bytes = contents.get(digest)?.byteLength
    if (bytes !== undefined) recordArtifact({ toolCall, job }, { name, mediaType, bytes, digest })
    return true
  }
  if (type !== 'checkpoint' || isEndOfBody(body)) return false
  const { note, read, spent } = body
  if (read !== undefined) recordRead({ toolCall, job }, read)
  else
    recordCheckpoint(toolCall, job, { note, ...(spent === undefined ? {} : { spent: spent as UsageCounters | null }) })
  return true
}

/** Whether an entry is what a tool call leaves beside its end. */
function isOutcomeEntry(entry: Entry): entry is Entry & OutcomeEntry {
  return outcomeTypes.has(entry.type)
}

const outcomeTypes: ReadonlySet<Entry['type']> = new Set<OutcomeEntry['type']>(['memory', 'plan'])

/** What a tool came to; null if an entry says no such thing. */
function toolOutcome(followed: Engine['followed'], entry: Entry): ResultOutcome | PendingOutcome | null {
  if (isToolOver(entry)) return outcomeOf(entry, [])
  const { type, kind, body } = entry
  if (type === 'error' && kind === 'agent') return failureOfBody(followed, entry)
  if (type === 'start' && kind === 'agent') return childOf(body)
  if (type === 'checkpoint') return outcomeOfBody(body)
  return type.endsWith('_required') ? interruptionsOf(askedTogether(ahead(followed), entry)) : null
}

/** Whether a checkpoint ends the body of a call: with an answer, or because all is met which an agent demands. */
function isEndOfBody({ answered, met }: CheckpointBody): boolean {
  return answered !== undefined || met !== undefined
}

function outcomeOfBody({ answered }: CheckpointBody): ResultOutcome {
  return answered === undefined ? result(null) : { ...result(null), answered }
}

/** How the body of a call failed. One that had control of its job ended with it, and says why there. */
function failureOfBody(
  followed: Engine['followed'],
  { job, body }: Entry & { readonly body: ErrorBody },
): ResultOutcome {
  if (body.code !== 'RUN_CANCELLED') return failed(body.code as ErrorCode, body.detail)
  for (const { type, kind, place, body: end } of aheadOfJob(followed, job))
    if (type === 'error' && kind === 'agent' && place.call === job) return failed(end.code as ErrorCode, end.detail)
  return failed(body.code, body.detail)
}

/** The interruptions that one tool call opened together. */
function askedTogether(ahead: Iterable<Entry>, first: Entry): RequiredBody[] {
  const bodies: RequiredBody[] = []
  for (const { type, place, body } of ahead) {
    if (!type.endsWith('_required') || place.call !== first.place.call) break
    bodies.push(body as RequiredBody)
  }
  return bodies
}
