/** Continues from a step of an export with another model. Outcomes of tools and answers of people come from the log; nothing is called. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Entry } from '@witan/protocol/entries'
import { makeEntry } from '../conversation/entry.ts'
import { type Model, ModelCallError } from '../model/model.ts'
import { readReply } from '../model/read-reply.ts'
import { canonicalJson } from '../tool/digest.ts'
import { failed, type ResultOutcome } from '../tool/outcome.ts'
import { beginRun, bringAnswer, type Replayed } from './bring.ts'
import { outcomeOf } from './outcomes.ts'
import type { ReplayStage } from './stage.ts'
import { wake } from './turns.ts'

/** The model that answers from a step on. Steps are the model replies of the log, counted from 1. */
export interface OtherModel {
  readonly model: Model
  readonly from: number
}

/** The index of the entry with which a step ends; null if the log has fewer steps. */
export function indexOfStep(entries: readonly Entry[], step: number): number | null {
  let count = 0
  const index = entries.findIndex(({ type, kind }) => type === 'end' && kind === 'model' && ++count === step)
  return index < 0 ? null : index
}

/** Outcomes of tools and answers of people after a step. Each is used once. */
interface Known {
  readonly outcomes: Map<string, ResultOutcome[]>
  readonly answers: Map<string, (Entry & { readonly type: 'resolved' })[]>
}

function keyOf(name: string, args: unknown): string {
  return `${name} ${canonicalJson(typeof args === 'string' ? args : (args ?? null))}`
}

function knownAfter(entries: readonly Entry[]): Known {
  const outcomes: Known['outcomes'] = new Map()
  const answers: Known['answers'] = new Map()
  const keys = new Map<string, string>()
  const asked = new Map<string, string>()
  for (const entry of entries) {
    const { type, kind, place } = entry
    if (type === 'start' && kind === 'tool') keys.set(place.call, keyOf(entry.body.name, entry.body.arguments))
    const key = keys.get(place.call)
    if ((type === 'end' || type === 'error') && kind === 'tool' && key !== undefined)
      outcomes.set(key, [...(outcomes.get(key) ?? []), outcomeOf(entry, [])])
    if (type.endsWith('_required')) asked.set((entry.body as { readonly id: string }).id, questionOf(entry.body))
    const question = type === 'resolved' && entry.body.state === 'answered' ? asked.get(entry.body.id) : undefined
    if (type === 'resolved' && question !== undefined) answers.set(question, [...(answers.get(question) ?? []), entry])
  }
  return { outcomes, answers }
}

/** Identifies a question by its path and its content. */
function questionOf(body: unknown): string {
  const { kind, path, prompt, questions, tool, name } = body as Record<string, unknown>
  return canonicalJson([kind, path, prompt ?? null, questions ?? null, tool ?? null, name ?? null])
}

/** Continues until all jobs have ended, or wait for an answer that the log does not have. */
export async function playOn(stage: ReplayStage, replayed: Replayed, { model }: OtherModel): Promise<void> {
  const { script, turns, pending } = stage
  const known = knownAfter(script.entries.slice(script.at))
  const inFlight = new Set<Promise<void>>()
  script.isOpen = true
  wake(turns)
  for (let idle = 0; idle < 8; ) {
    const before = turns.count
    for (const [call, asked] of pending.replies) {
      pending.replies.delete(call)
      const { request, options: more } = asked
      const done = readReply(model, request, { signal: more.signal, deltas: false })
        .then(asked.answer, (error: unknown) => asked.fail(asFailure(error)))
        .finally(() => void inFlight.delete(done))
      inFlight.add(done)
    }
    for (const [call, tool] of pending.tools) {
      pending.tools.delete(call)
      tool.finish(known.outcomes.get(keyOf(tool.name, tool.args))?.shift() ?? unknownCall(tool.name))
    }
    await (inFlight.size > 0 ? Promise.race([...inFlight]) : nextTurn())
    idle = turns.count === before && pending.replies.size === 0 ? idle + 1 : 0
    if (idle === 7 && ((await answerOne(stage, replayed, known)) || (await beginNext(stage, replayed)))) idle = 0
  }
}

function asFailure(error: unknown): ModelCallError {
  if (error instanceof ModelCallError) return error
  return new ModelCallError(error instanceof Error ? error.message : 'unknown trouble', { retryable: false })
}

function unknownCall(name: string): ResultOutcome {
  return failed('TOOL_FAILED', `\`${name}\` was not called so in the export, and a replay calls no tool.`)
}

/** Answers an open question as the log answers the same one. False if there is none. */
async function answerOne({ parts, options }: ReplayStage, replayed: Replayed, { answers }: Known): Promise<boolean> {
  const { database, id: conversation } = replayed.row
  const page = { state: 'open', conversation, addressees: null, limit: 200, after: null }
  for (const { view, job, call } of await options.store.listInterruptions(database, page)) {
    const known = answers.get(questionOf(view))?.shift()
    if (known === undefined) continue
    const answer = { type: known.type, kind: known.kind, body: { ...known.body, id: view.id } }
    await bringAnswer(parts, replayed, makeEntry(answer, { ...known, place: { ...known.place, call }, job }))
    return true
  }
  return false
}

/** Brings the next message that began a run in the log. False if there is none, or a run is still live. */
async function beginNext(stage: ReplayStage, replayed: Replayed): Promise<boolean> {
  const { script, parts, options } = stage
  const live = await options.store.listJobs(replayed.row.database, replayed.row.id, { live: true })
  if (live.some(({ kind }) => kind === 'run')) return false
  const next = script.entries.findIndex(
    ({ type, kind, body, place }, index) =>
      index > script.at && type === 'start' && kind === 'agent' && place.call === place.run && !body.hidden,
  )
  if (next < 0) return false
  const job = script.entries[next]?.job
  script.at = script.entries.findIndex((entry) => entry.job === job)
  const isBegun = await beginRun(parts, script, replayed.row)
  script.at = next
  return isBegun
}
