/** What people decided: who answered what, when, and with which change. */
import type { Question } from '@witan/protocol'
import { type Verdict, verdictOf } from '@witan/protocol/condition'
import { isRecord, textOf, textsOf } from './content.ts'
import type { Asked, CallView, ConversationView } from '@witan/client'
import { cellText } from './rows.ts'

/** What came of something that was asked. `answered` also where it is not known yet how. */
export type Outcome = Verdict | 'expired' | 'cancelled'

/** An argument that a person changed before the call. */
export interface ChangedArgument {
  readonly name: string
  readonly before: unknown
  readonly after: unknown
}

/** Words of the one who was asked: to a question, in reply to a message, or as what came of an action. */
interface Said {
  readonly to: string
  readonly words: string
}

/** One settled question, approval, message or action. */
export interface Decision {
  readonly id: string
  readonly callId: string
  /** The tool that was approved or answered for, or the agent that asked. */
  readonly about: string
  readonly asks: boolean
  readonly verdict: Outcome
  /** The principal; null if it was never answered. */
  readonly by: string | null
  readonly at: string | null
  readonly waitedMs: number
  readonly changes: readonly ChangedArgument[]
  /** Why it was approved or denied, in the person's words. */
  readonly reason: string
  readonly said: readonly Said[]
}

/** All that was settled in a call. */
export function decisionsOf(call: CallView): Decision[] {
  return call.asked.filter(({ state }) => state !== 'open').map((asked) => decision(asked, call))
}

/** All that was settled in a run, in the order in which it was. */
export function decisionsIn(view: ConversationView, runId: string): Decision[] {
  const decisions: Decision[] = []
  const pending = [runId]
  for (let id = pending.pop(); id !== undefined; id = pending.pop()) {
    const call = view.calls.get(id)
    if (call === undefined) continue
    if (call.asked.length > 0) decisions.push(...decisionsOf(call))
    pending.push(...call.children)
  }
  return decisions.sort((one, other) => (one.at ?? '').localeCompare(other.at ?? ''))
}

function decision(asked: Asked, call: CallView): Decision {
  const { interruption, askedAt, settledAt, by, answer } = asked
  const verdict = outcomeOf(asked)
  return {
    id: interruption.id,
    callId: call.callId,
    about: aboutOf(asked),
    asks: interruption.kind === 'question' || interruption.kind === 'message',
    verdict,
    by,
    at: settledAt,
    waitedMs: settledAt === null ? 0 : Math.max(0, Date.parse(settledAt) - Date.parse(askedAt)),
    changes: verdict === 'approved' ? changesOf(asked) : [],
    reason: isRecord(answer) && interruption.kind === 'approval' ? textOf(answer, 'reason') : '',
    said: verdict === 'answered' ? saidOf(asked, call) : [],
  }
}

function aboutOf({ interruption }: Asked): string {
  if (interruption.kind === 'approval') return interruption.tool
  if (interruption.kind === 'action') return interruption.name
  if (interruption.kind === 'question' && interruption.server !== undefined) return `MCP server ${interruption.server}`
  return interruption.kind === 'policy' ? interruption.issuer : interruption.agent
}

function outcomeOf({ interruption, state, answer }: Asked): Outcome {
  if (state !== 'answered') return state === 'expired' ? 'expired' : 'cancelled'
  // Questions of an MCP server may be declined. An answer to a question named `decision` is an object.
  if (interruption.kind === 'question' && isRecord(answer) && answer.decision === 'declined') return 'declined'
  return verdictOf(interruption.kind, answer)
}

function changesOf({ interruption, answer }: Asked): ChangedArgument[] {
  const after = isRecord(answer) ? answer.arguments : undefined
  if (interruption.kind !== 'approval' || !isRecord(after)) return []
  const before = interruption.arguments
  return [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .map((name) => ({ name, before: before[name], after: after[name] }))
    .filter((one) => JSON.stringify(one.before) !== JSON.stringify(one.after))
}

function saidOf({ interruption, answer }: Asked, { result }: CallView): Said[] {
  if (interruption.kind === 'message') {
    return typeof answer === 'string' ? [{ to: interruption.prompt, words: answer }] : []
  }
  // The answer of an action is the result of its call, and is shown there.
  if (interruption.kind === 'action') return result === null ? [] : [{ to: 'Answer:', words: cellText(result) }]
  if (interruption.kind !== 'question' || !isRecord(answer)) return []
  return interruption.questions.map((question) => ({
    to: question.text,
    words: answerTo(question, answer[question.id]),
  }))
}

function answerTo({ options }: Question, given: unknown): string {
  if (!isRecord(given)) return ''
  const labels = textsOf(given, 'options').map((id) => options.find((option) => option.id === id)?.label ?? id)
  const words = textOf(given, 'text')
  return [...labels, ...(words === '' ? [] : [words])].join(', ')
}
