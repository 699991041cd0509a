/** What people read of a condition: what it asks for, in which words, and where it leads; and how they decided on it, as on a call. */
import type { InterruptionKind } from './interruption.ts'

/** How people decide, by the kind of what they were asked. */
const decisions: Readonly<Partial<Record<InterruptionKind, readonly Verdict[]>>> = {
  approval: ['approved', 'denied'],
  policy: ['resolved', 'declined'],
  question: ['declined'],
}

/** How something that was asked was settled by a person. */
export type Verdict = 'approved' | 'denied' | 'resolved' | 'declined' | 'answered'

/** Reads it from the `answer` of a `resolved` event, or from an answer that is given. `answered` where it says no more than that. */
export function verdictOf(kind: InterruptionKind, answer: unknown): Verdict {
  const { decision, resolution } =
    ((typeof answer === 'object' ? answer : null) as { decision?: unknown; resolution?: unknown }) ?? {}
  const decided = kind === 'policy' && resolution !== undefined ? 'resolved' : decision
  return decisions[kind]?.find((one) => one === decided) ?? 'answered'
}

/** `rest` holds every field that is none of the others, as it came. */
export interface Condition {
  /** As its issuer names it, such as `payment_required`. */
  readonly kind: string
  readonly title: string | null
  readonly message: string
  readonly code: string | null
  /** An HTTPS address. The engine keeps only one that leads to the issuer. */
  readonly url: string | null
  /** The issuer's words for the link. */
  readonly actionLabel: string | null
  readonly retryAfterSeconds: number | null
  readonly rest: Readonly<Record<string, unknown>>
}

/** Reads the policy of an interruption. It never throws: a field of another type than the contract's is among the rest. */
export function conditionOf(policy: Readonly<Record<string, unknown>>): Condition {
  const rest: Record<string, unknown> = { ...policy }
  const take = <Value>(name: string, read: (value: unknown) => Value | null): Value | null => {
    const value = Object.hasOwn(policy, name) ? read(policy[name]) : null
    if (value !== null) delete rest[name]
    return value
  }
  return {
    kind: take('kind', wordsIn) ?? 'condition',
    title: take('title', wordsIn),
    message: take('message', wordsIn) ?? '',
    code: take('code', wordsIn),
    url: take('url', secureUrl),
    actionLabel: take('action_label', wordsIn),
    retryAfterSeconds: take('retry_after_seconds', (value) => (typeof value === 'number' && value >= 0 ? value : null)),
    rest,
  }
}

function wordsIn(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value : null
}

function secureUrl(value: unknown): string | null {
  const url = typeof value === 'string' ? URL.parse(value) : null
  return url?.protocol === 'https:' && url.username === '' && url.password === '' ? url.href : null
}
