/** Gives waiting models and tools their replies and outcomes from the log. */
import type { ErrorCode } from '@witan/protocol'
import type { CheckpointBody, Entry, ErrorBody, RequiredBody } from '@witan/protocol/entries'
import type { ModelNote } from '../model/model.ts'
import { failed, type ModelSpending, result, type ResultOutcome } from '../tool/outcome.ts'
import { interruptionsOf, childOf, failureOf, outcomeOf, replyOf, spendingOf, toldCodes } from './outcomes.ts'
import type { Pending, PendingReply, PendingTool } from './pending.ts'
import { ahead, aheadOfCall, aheadOfJob, type FollowedLog, stopFollowing } from './followed-log.ts'
import type { Engine } from './engine.ts'
import { isClosing } from './lookahead.ts'

/** Gives the reply or outcome of the next entry. False if no model or tool waits for it. */
export async function give(engine: Engine, entry: Entry): Promise<boolean> {
  const { pending } = engine
  const { type, kind, place, body } = entry
  const asked = pending.replies.get(place.call)
  if (type === 'end' && kind === 'model') return giveReply(engine, entry, asked)
  if (!isAnswer(engine, entry)) return false
  if (type === 'error' && kind === 'model') return giveFailure(engine, entry, asked)
  if (asked !== undefined && type === 'notice' && toldCodes.has(body.code)) {
    asked.options.tell?.(body as ModelNote)
    return true
  }
  if (type === 'notice') return giveAsking(engine, entry)
  const tool = pending.tools.get(place.call) ?? pending.tools.get(place.parentCall ?? '')
  if (tool === undefined) return false
  await giveOutcome(engine, entry, tool)
  return true
}

/** Whether an entry is what a model or a tool under way gave. */
function isAnswer({ followed, jobs, pending: { replies, tools } }: Engine, entry: Entry): boolean {
  const { type, kind, place, body } = entry
  if (kind === 'model') return type === 'end' || (body.spent && body.code !== 'MODEL_CALL_LOST')
  const job = jobs.get(entry.job)
  const isEnding = job !== undefined && (job.lifecycle.failure !== null || job.run?.cancelled === true)
  if (isEnding && isClosing(entry, entry.job)) return false
  if (replies.has(place.call) && isOfModel(entry)) return true
  if (type === 'notice' && body.code === 'USAGE_INCOMPLETE')
    return isUnderWay(tools, place.call) && !isRefusedNext(followed, entry)
  return tools.has((type === 'start' && kind === 'agent' ? place.parentCall : place.call) ?? '')
}

/** Whether an entry comes of a model call that is under way: what its adapter says of it. */
export function isOfModel({ type, body }: Entry): boolean {
  return type === 'notice' && (body.code === 'USAGE_INCOMPLETE' || toldCodes.has(body.code))
}

/** Whether a tool of this agent's call asks a model. */
function isUnderWay(tools: Pending['tools'], agent: string): boolean {
  return [...tools.values()].some(({ owner, context }) => owner === agent && context.state !== undefined)
}

/** Whether the tool call that ends next in the job of an entry is one that is not made. */
function isRefusedNext(followed: FollowedLog, { job, epoch }: Entry): boolean {
  for (const entry of aheadOfJob(followed, job)) {
    if (entry.epoch !== epoch) return false
    if (entry.kind === 'tool' && entry.type !== 'start') return entry.type === 'error' && notMade.has(entry.body.code)
  }
  return false
}

/** Errors of a tool call that is not made. */
export const notMade: ReadonlySet<string> = new Set(['BUDGET_EXCEEDED', 'OUTCOME_UNKNOWN'])

function giveReply(
  engine: Engine,
  entry: Entry & { readonly type: 'end'; readonly kind: 'model' },
  asked: PendingReply | undefined,
): boolean {
  const { body } = entry
  const { followed, pending } = engine
  if (body.purpose === 'progress') return giveAsking(engine, entry)
  if (asked === undefined || (body.purpose === 'summary') !== (asked.summary !== null)) return false
  pending.replies.delete(asked.call)
  asked.answer(
    asked.summary === null ? replyOf(body) : replyOf(body, summaryText(aheadOfCall(followed, asked.call), asked)),
  )
  return true
}

/** The text of a summary, which the log keeps with its prefix in an entry of its own. */
function summaryText(entries: Iterable<Entry>, { summary }: PendingReply): string {
  for (const { type, body } of entries) {
    if (type === 'summary') return body.text.slice(summary?.prefix.length ?? 0)
    if (type === 'notice' && body.code === 'HISTORY_NOT_TRIMMED') return ''
  }
  return ''
}

/**
 * Ends the tools that called a model themselves and end next in the job: their model calls, and a note for each that was lost, stand before their
 * ends. Tools that ended between such a note and those ends ended with them.
 */
function giveAsking({ followed, pending: { tools } }: Engine, { job, type }: Entry): boolean {
  const isNoted = type === 'notice'
  const [ends, others]: [(() => void)[], (() => void)[]] = [[], []]
  let left = isNoted ? lossesAhead(followed, job) : 1
  let spent: ModelSpending[] = []
  for (const entry of aheadOfJob(followed, job)) {
    const tool = tools.get(entry.place.call)
    if (tool !== undefined && isToolOver(entry)) {
      const { state } = tool.context
      const outcome = outcomeOf(entry, state === undefined ? [] : spent)
      const end = () => void (tools.delete(tool.call) && tool.finish(outcome))
      if (state === undefined) others.push(end)
      else {
        state.isAsking = isNoted && !state.isLost
        ends.push(end)
        left -= 1
        if (left === 0) break
      }
    }
    const isSpending = entry.type === 'end' && entry.kind === 'model' && entry.body.purpose === 'progress'
    spent = isSpending ? [...spent, spendingOf(entry.body)] : []
  }
  if (left > 0) return false
  for (const end of isNoted ? [...ends, ...others] : ends) end()
  return true
}

/** How many notes of lost model calls a job records next. */
function lossesAhead(followed: FollowedLog, job: string): number {
  let count = 0
  for (const { type, body } of aheadOfJob(followed, job)) {
    if (type !== 'notice' || body.code !== 'USAGE_INCOMPLETE') break
    count += 1
  }
  return count
}

type ToolOver = Entry & { readonly kind: 'tool'; readonly type: 'end' | 'error' }

function isToolOver(entry: Entry): entry is ToolOver {
  return entry.kind === 'tool' && entry.type !== 'start'
}

async function giveOutcome({ followed, pending, contents }: Engine, entry: Entry, tool: PendingTool): Promise<void> {
  const { artifacts, saveNote } = tool.context
  if (entry.type === 'artifact') {
    const { name, mediaType, digest } = entry.body
    const bytes = contents.get(digest)
    if (bytes === undefined) return stopFollowing(followed)
    await artifacts.save({ name, mediaType, bytes }).then(
      () => tool.context.commit(),
      () => stopFollowing(followed),
    )
    return
  }
  if (entry.type === 'checkpoint' && entry.body.answered === undefined && entry.body.met === undefined) {
    const { note, read, spent } = entry.body
    const save = () => (spent === undefined ? saveNote(note) : tool.context.body?.saveSpent(note, spent))
    const done = read === undefined ? Promise.resolve(save()) : artifacts.read(read).then(() => {})
    return done.catch(() => stopFollowing(followed))
  }
  pending.tools.delete(tool.call)
  if (entry.type === 'error' && entry.kind === 'agent') tool.finish(failureOfBody(followed, entry))
  else if (entry.type === 'start' && entry.kind === 'agent') tool.finish(childOf(entry.body))
  else if (entry.type.endsWith('_required')) tool.finish(interruptionsOf(askedTogether(ahead(followed), entry)))
  else if (entry.type === 'checkpoint') tool.finish(outcomeOfBody(entry.body))
  else if (isToolOver(entry)) tool.finish(outcomeOf(entry, []))
  else stopFollowing(followed)
}

/** How the body of a call failed. One that had control of its job ended with it, and says why there. */
function failureOfBody(followed: FollowedLog, { job, body }: Entry & { readonly body: ErrorBody }): ResultOutcome {
  if (body.code !== 'RUN_CANCELLED') return failed(body.code as ErrorCode, body.detail)
  for (const { type, kind, place, body: end } of aheadOfJob(followed, job))
    if (type === 'error' && kind === 'agent' && place.call === job) return failed(end.code as ErrorCode, end.detail)
  return failed(body.code, body.detail)
}

/** The outcome of the body of a call: what an agent on another server answered, or that all is met which an agent demands. */
function outcomeOfBody({ answered }: CheckpointBody): ResultOutcome {
  return answered === undefined ? result(null) : { ...result(null), answered }
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

/** A model call that failed: of an agent for its answer or a summary, or of a tool, which ends with it. */
function giveFailure(
  engine: Engine,
  entry: Entry & { readonly type: 'error'; readonly kind: 'model' },
  asked: PendingReply | undefined,
): boolean {
  const { body, place } = entry
  if (body.purpose === 'progress') return giveAsking(engine, entry)
  if (asked === undefined || (body.purpose === 'summary') !== (asked.summary !== null)) return false
  engine.pending.replies.delete(place.call)
  asked.fail(failureOf(body, asked.options.state?.isLost ?? false))
  return true
}
