/** Gives waiting models and tools their replies and outcomes from the log. */
import type { Entry, RequiredBody } from '@witan/protocol/entries'
import type { ModelNote } from '../model/model.ts'
import type { ModelSpending } from '../tool/outcome.ts'
import { askingOf, childOf, failureOf, outcomeOf, replyOf, spendingOf, toldCodes } from './outcomes.ts'
import type { PendingReply, PendingTool } from './pending.ts'
import { ahead, aheadOfCall, aheadOfJob, nextIn, type Script, stopScript } from './script.ts'
import type { ReplayStage } from './stage.ts'
import { isAnswer } from './turns.ts'

/** Content by digest. */
export type Contents = ReadonlyMap<string, Uint8Array>

/** Gives the reply or outcome of the next entry. False if no model or tool waits for it. */
export async function give(stage: ReplayStage, contents: Contents): Promise<boolean> {
  const { script, pending, turns } = stage
  const entry = nextIn(script)
  if (entry === null) return false
  const { type, kind, place, body } = entry
  // What a later owner of the job records is not given to this one.
  if ((turns.jobs.get(entry.job)?.identity.epoch ?? entry.epoch) < entry.epoch) return false
  const asked = pending.replies.get(place.call)
  if (type === 'end' && kind === 'model') return giveReply(stage, entry, asked)
  if (!isAnswer(turns, entry)) return false
  if (type === 'error' && kind === 'model') return giveFailure(stage, entry, asked)
  if (asked !== undefined && type === 'notice' && toldCodes.has(body.code)) {
    asked.options.tell?.(body as ModelNote)
    return true
  }
  if (type === 'notice') return giveAsking(stage, entry)
  const tool = pending.tools.get(place.call) ?? pending.tools.get(place.parentCall ?? '')
  if (tool === undefined) return false
  await giveOutcome(stage, { entry, tool, contents })
  return true
}

function giveReply(
  stage: ReplayStage,
  entry: Entry & { readonly type: 'end'; readonly kind: 'model' },
  asked: PendingReply | undefined,
): boolean {
  const { body } = entry
  const { script, pending } = stage
  if (body.purpose === 'progress') return giveAsking(stage, entry)
  if (asked === undefined || (body.purpose === 'summary') !== (asked.summary !== null)) return false
  pending.replies.delete(asked.call)
  asked.answer(
    asked.summary === null ? replyOf(body) : replyOf(body, summaryText(aheadOfCall(script, asked.call), asked)),
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
function giveAsking({ script, pending: { tools } }: ReplayStage, { job, type }: Entry): boolean {
  const isNoted = type === 'notice'
  const [ends, others]: [(() => void)[], (() => void)[]] = [[], []]
  let left = isNoted ? lossesAhead(script, job) : 1
  let spent: ModelSpending[] = []
  for (const entry of aheadOfJob(script, job)) {
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
function lossesAhead(script: Script, job: string): number {
  let count = 0
  for (const { type, body } of aheadOfJob(script, job)) {
    if (type !== 'notice' || body.code !== 'USAGE_INCOMPLETE') break
    count += 1
  }
  return count
}

type ToolOver = Entry & { readonly kind: 'tool'; readonly type: 'end' | 'error' }

function isToolOver(entry: Entry): entry is ToolOver {
  return entry.kind === 'tool' && entry.type !== 'start'
}

interface Giving {
  readonly entry: Entry
  readonly tool: PendingTool
  readonly contents: Contents
}

async function giveOutcome(stage: ReplayStage, { entry, tool, contents }: Giving): Promise<void> {
  const { script, pending } = stage
  const { artifacts, saveNote } = tool.context
  if (entry.type === 'artifact') {
    const { name, mediaType, digest } = entry.body
    const bytes = contents.get(digest)
    if (bytes === undefined) return stopScript(script)
    await artifacts.save({ name, mediaType, bytes }).then(
      () => tool.context.commit(),
      () => stopScript(script),
    )
    return
  }
  if (entry.type === 'checkpoint') {
    const { note, read } = entry.body
    const done = read === undefined ? saveNote(note) : artifacts.read(read).then(() => {})
    return done.catch(() => stopScript(script))
  }
  pending.tools.delete(tool.call)
  if (entry.type === 'start' && entry.kind === 'agent') tool.finish(childOf(entry.body))
  else if (entry.type.endsWith('_required')) tool.finish(askingOf(askedTogether(ahead(script), entry)))
  else if (isToolOver(entry)) tool.finish(outcomeOf(entry, []))
  else stopScript(script)
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
  stage: ReplayStage,
  entry: Entry & { readonly type: 'error'; readonly kind: 'model' },
  asked: PendingReply | undefined,
): boolean {
  const { body, place } = entry
  if (body.purpose === 'progress') return giveAsking(stage, entry)
  if (asked === undefined || (body.purpose === 'summary') !== (asked.summary !== null)) return false
  stage.pending.replies.delete(place.call)
  asked.fail(failureOf(body, asked.options.state?.isLost ?? false))
  return true
}
