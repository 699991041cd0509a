/** What a critique of an answer changes [F08]. */
import type { AgentData } from '@witan/protocol'
import type { CritiqueBody, Entry, NoticeFacts } from '@witan/protocol/entries'
import { giveBack, takeBack } from './callers-view.ts'
import { lineFor } from './line.ts'
import type { AgentCall, LiveJob } from './state.ts'

/** The sentences on critiques in the system message of an agent that reflects. */
export const critiqueGuidance =
  'A line `critique:` from @witan with the task "check" asks you to judge your answer before it, by its criteria: reply with the JSON ' +
  '{"verdict":"pass"} or {"verdict":"revise","problems":["…"]} and nothing else. With the task "revise", answer again without those problems.'

/** Folds a critique. An answer that is to be revised is a draft from here on, and its agent reads why. */
export function foldCritique(run: LiveJob | null, { place, body }: Entry & { readonly type: 'critique' }): void {
  const call = run?.calls.get(place.call)
  if (call === undefined || call.final === null) return
  call.critic = null
  if (body.verdict === 'pass') {
    call.final = { ...call.final, isCriticised: true }
    return
  }
  call.draft = call.final
  call.final = null
  if (call.gathered !== null) takeBack(call.gathered)
  call.document.said.push({ kind: 'words', to: call.agent.id, scrub: null, ...revisionLine(call.agent.id, body) })
}

/** What a model is asked that is to judge the answer before it. It stands in no document. */
export function checkLine({ id, reflection }: Pick<AgentData, 'id' | 'reflection'>) {
  return lineFor(id, 'critique', { task: 'check', criteria: reflection.criteria })
}

/** What an agent reads that is to answer again. */
export function revisionLine(agent: string, { problems }: Pick<CritiqueBody, 'problems'>) {
  return lineFor(agent, 'critique', { task: 'revise', problems })
}

/** Folds that an answer stands without a critique, or that its revision has failed: then the draft is the answer again. */
export function endReflection(call: AgentCall, reason: NoticeFacts['REFLECTION_SKIPPED']['reason']): void {
  const { draft, gathered } = call
  const stands = call.final ?? draft
  call.critic = null
  if (stands === null) return
  if (gathered !== null) giveBack(gathered, reason)
  call.final = { ...stands, isCriticised: true }
  call.draft = null
}
