/** Records what the critique of an answer came to [F08]. */
import type { CritiqueBody, NoticeFacts, Verdict } from '@witan/protocol/entries'
import { verdicts } from '@witan/protocol/entries'
import { readJson } from '@witan/protocol/schemas'
import type { AgentCall } from '../conversation/state.ts'
import type { ModelReply } from '../model/model.ts'
import { type Job, record } from '../job/job.ts'
import { failCall } from './settle.ts'
import { recordSideReply, type SideCall } from './side-reply.ts'

/** Records the reply, and the critique in it. */
export function recordCritiqueReply(critiqueCall: SideCall, job: Job, reply: ModelReply): void {
  const { call } = critiqueCall
  const found = critiqueIn(reply.text)
  recordSideReply(critiqueCall, job, { reply, purpose: 'critique', accepted: found !== null, toolCalls: [] })
  recordCritique(call, job, { found, by: call.agent.id })
}

/** What a critique says. */
type Found = Pick<CritiqueBody, 'verdict' | 'problems'>

/** Records a critique, without what the agent that is criticised may not see; or that there is none. */
export function recordCritique(
  call: AgentCall,
  job: Job,
  { found, by }: { readonly found: Found | null; readonly by: string },
): void {
  const seq = call.final?.reply?.seq
  if (found === null || seq === undefined)
    return skipCritique(call, job, { reason: 'reply', why: `the reply of \`${by}\` was no critique` })
  const scrub = by === call.agent.id ? call.scrub : call.scrubOthers
  const problems = scrub === null ? found.problems : found.problems.map((one) => scrub(one))
  record(job, call.place, { type: 'critique', kind: null, body: { ...found, problems, by, seq } })
}

/** Why there is no critique, for programs and for people. */
interface Skipped {
  readonly reason: NoticeFacts['REFLECTION_SKIPPED']['reason']
  readonly why: string
}

/** Records that an answer stands without a critique, or fails its call: its agent says which. */
export function skipCritique(call: AgentCall, job: Job, { reason, why }: Skipped): void {
  const { id, reflection } = call.agent
  const detail = `The answer of \`${id}\` was not criticised: ${why}.`
  if (reflection.onFail === 'answer')
    return record(job, call.place, {
      type: 'notice',
      kind: null,
      body: { code: 'REFLECTION_SKIPPED', detail, agent: id, reason },
    })
  const hint = 'Raise the limits, look at the model of the critique, or set `reflection.onFail` to "answer".'
  failCall(call, job, { code: 'REFLECTION_FAILED', detail, hint })
}

/** The most problems of a critique, and characters of each: what a model writes beyond that is left out. */
const most = { problems: 20, characters: 1000 }

/** The critique in a reply: JSON, alone or in one fence; null for anything else. */
export function critiqueIn(text: string): Found | null {
  const read = readJson(unfenced(text.trim()))
  if (!read.ok || typeof read.value !== 'object' || read.value === null) return null
  const { verdict, problems = [] } = read.value as { readonly verdict?: unknown; readonly problems?: unknown }
  if (!verdicts.includes(verdict as Verdict) || !Array.isArray(problems)) return null
  const listed: readonly unknown[] = problems
  if (!listed.every((one) => typeof one === 'string')) return null
  const first = listed.slice(0, most.problems)
  return {
    verdict: verdict as Verdict,
    problems: first.map((one) => one.slice(0, most.characters).toWellFormed()),
  }
}

function unfenced(text: string): string {
  const begin = text.indexOf('\n')
  return text.startsWith('```') && text.endsWith('```') && begin > 0 ? text.slice(begin, -3) : text
}
