/** Continues from a step of an export with another model. Outcomes of tools and answers of people come from the log; nothing is called. */
import type { Entry } from '@witan/protocol/entries'
import { makeEntry } from '../conversation/entry.ts'
import type { ConversationLog } from '../conversation/log.ts'
import type { Model } from '../model/model.ts'
import { canonicalJson } from '../tool/digest.ts'
import { failed, type ResultOutcome } from '../tool/outcome.ts'
import { outcomeOf } from './outcomes.ts'
import { begin, type Engine, goOnAlone } from './engine.ts'
import { takeEntry } from './followed-log.ts'

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
export async function playOn(engine: Engine, { model }: OtherModel): Promise<void> {
  const { followed, running } = engine
  const left = followed.entries.slice(followed.came.length)
  const known = knownAfter(left)
  const begun = left.filter(isRunStart)
  const outcome = (name: string, args: unknown) => known.outcomes.get(keyOf(name, args))?.shift() ?? unknownCall(name)
  const log = goOnAlone(engine, { model, outcome })
  const live = log.state.run === null ? [] : [log.state.run]
  for (const { root } of [...live, ...log.state.tasks.values()]) begin(engine, root.place.call)
  do while (running.size > 0) await Promise.all(running.values())
  while (answerOne(engine, log, known) || beginNext(engine, log, { left, begun }))
}

function unknownCall(name: string): ResultOutcome {
  return failed('TOOL_FAILED', `\`${name}\` was not called so in the export, and a replay calls no tool.`)
}

/** Answers an open question as the log answers the same one. False if there is none. */
function answerOne(engine: Engine, log: ConversationLog, { answers }: Known): boolean {
  for (const run of [log.state.run, ...log.state.tasks.values()])
    for (const { interruptions, place } of run?.toolCalls.values() ?? [])
      for (const asked of interruptions) {
        const known = answers.get(questionOf(asked))?.shift()
        if (known === undefined || place === null || run === null) continue
        const job = run.root.place.call
        bring(engine, log, makeEntry({ ...known, body: { ...known.body, id: asked.id } }, { ...known, place, job }))
        begin(engine, job)
        return true
      }
  return false
}

function bring({ followed }: Engine, log: ConversationLog, entry: Entry): void {
  takeEntry(followed, entry)
  log.sync.apply(entry)
}

/** Begins the next run that the log has. False if there is none, or a run is still live. */
function beginNext(
  engine: Engine,
  log: ConversationLog,
  { left, begun }: { readonly left: readonly Entry[]; readonly begun: Entry[] },
): boolean {
  const start = log.state.run === null ? begun.shift() : undefined
  if (start === undefined) return false
  const said = left.filter(
    ({ type, job, seq, body }) =>
      type === 'message' && job === start.job && seq < start.seq && body.tasks === undefined,
  )
  for (const entry of [...said, start]) bring(engine, log, { ...entry, seq: 0 })
  begin(engine, start.job)
  return true
}

function isRunStart({ type, kind, body, place }: Entry): boolean {
  return type === 'start' && kind === 'agent' && place.call === place.run && !body.hidden
}
