/** What a critique of an answer changes [F08]. */
import type { CritiqueBody, Entry } from '@witan/protocol/entries'
import { gatheredText } from './fold-hand-over.ts'
import { lineFor } from './line.ts'
import type { AgentCall, LiveJob } from './state.ts'

/** What the model of an agent is told of critiques once, in its system message. */
export const critiqueGuidance =
  'A line `critique:` from @witan with the task "check" asks you to judge your answer before it, by its criteria: reply with the JSON ' +
  '{"verdict":"pass"} or {"verdict":"revise","problems":["…"]} and nothing else. With the task "revise", answer again without those problems.'

/** Folds a critique. An answer that is to be revised is a draft from here on, and its agent reads why. */
export function foldCritique(run: LiveJob | null, { place, body }: Entry & { readonly type: 'critique' }): void {
  const call = run?.calls.get(place.call)
  if (call === undefined || call.final === null) return
  if (body.verdict === 'pass') {
    call.final = { ...call.final, isCriticised: true }
    return
  }
  call.draft = call.final
  call.final = null
  call.gathered?.texts.pop()
  call.document.said.push({ kind: 'words', to: call.agent.id, scrub: null, ...revisionLine(call, body) })
}

function revisionLine({ agent, scrubOthers }: AgentCall, { problems, by }: CritiqueBody) {
  const clean = by === agent.id || scrubOthers === null ? problems : problems.map((one) => scrubOthers(one))
  return lineFor(agent.id, 'critique', { task: 'revise', problems: clean })
}

/** Folds that an answer stands without a critique, or that its revision has failed: then the draft is the answer again. */
export function endReflection(call: AgentCall): void {
  const { draft } = call
  const stands = call.final ?? draft
  if (stands === null) return
  if (call.final === null) call.gathered?.texts.push(gatheredText(call, stands.text))
  call.final = { ...stands, isCriticised: true }
  call.draft = null
}
