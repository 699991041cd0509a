/** Has another agent check what a call reads or says, and records what follows from its verdict. */
import type { AgentAnswer } from '../tool/tool.ts'
import { type AgentCheck, allows, checkOf, type Guarding, guardingOf, openingWords } from '../conversation/guards.ts'
import type { AgentCall } from '../conversation/state.ts'
import { isWhole } from '../conversation/callers-view.ts'
import { messageAsRead, wordsOf } from '../conversation/inbox.ts'
import type { Decision } from '../hook/decision.ts'
import { refusalReason } from '../guard/checks.ts'
import type { Job } from '../job/job.ts'
import { jsonForModel } from '../model/attribution.ts'
import { asksOutput } from '../model/output.ts'
import { recordDecision } from './decision-effects.ts'
import { startChild } from './spawn.ts'
import { unchosenChild } from './unchosen-child.ts'

/** Starts the agent that checks something of a call, or records what it came to. */
export function guard(call: AgentCall, job: Job): void {
  const { guard: asked } = call
  if (asked === null) {
    const due = guardingOf(call)
    if (due !== null) startGuard(call, job, due)
    return
  }
  const check = checkOf(call, asked.part)
  if (asked.end === null) return
  const { part, end } = asked
  const gone = { name: part.name, action: 'refuse', message: '' } as const
  recordVerdict(call, job, { check: check ?? gone, part, end: check === null ? null : end })
}

/** Records the start of an agent that checks. Where there can be none, what it is to check is refused. */
function startGuard(call: AgentCall, job: Job, due: Guarding): void {
  const { agent } = due.check
  const pinned = unchosenChild(call, job, agent)
  if ('why' in pinned) return recordVerdict(call, job, { ...due, end: null })
  const child = { agent, message: jsonForModel({ text: textOf(call, due) }), generated: null, map: {} }
  const more = { toolCallId: null, guardrail: due.part }
  const spawned = { ...child, history: 'isolated' as const }
  startChild(
    { parent: call, child: spawned, pinned, callId: job.env.ids.call(), parentCall: call.place.call, more },
    job,
  )
}

/** What is checked: a message, or an answer in the forms that others read it in. */
function textOf(call: AgentCall, { part: { at, waiting = 0 } }: Guarding): string {
  const { document, final, agent, scrub, gathered } = call
  if (at === 'beforeRun') return call.handOver === null ? messageAsRead(call) : openingWords(call)
  const message = document.inbox[waiting]
  if (at === 'joined') return message === undefined ? '' : wordsOf(message)[1]
  const { output } = final ?? {}
  const text = isWhole(gathered) ? gathered.texts.join('\n') : (final?.text ?? '')
  const said = output !== undefined && asksOutput(agent) ? `${text}\n${jsonForModel(output.value)}` : text
  return scrub === null ? said : scrub(said)
}

interface Ended extends Pick<Guarding, 'part'> {
  readonly check: Pick<AgentCheck, 'name' | 'action' | 'message'>
  /** Null if the agent could not be asked. */
  readonly end: AgentAnswer | null
}

function recordVerdict(call: AgentCall, job: Job, { check, part, end }: Ended): void {
  const { name, action } = check
  const verdict = end === null ? null : allows(end)
  const { at, waiting, of } = part
  const about = { name, action, at, of, ...(waiting === undefined ? {} : { waiting }) }
  const decision: Decision =
    verdict === null
      ? { ...about, effect: 'failed', reason: `guardrail ${name} failed` }
      : action === 'flag'
        ? { ...about, effect: 'flagged', reason: null }
        : { ...about, effect: 'refused', reason: refusalReason(check) }
  recordDecision(job, call.place, decision)
}
