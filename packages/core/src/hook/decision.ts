/** What a hook or a guardrail decided, as an entry has it: one of its own, or the notice of a guardrail. */
import type {
  EntryContent,
  GuardEffect,
  GuardPoint,
  GuardrailAction,
  HookBody,
  HookEffect,
  HookPoint,
} from '@witan/protocol/entries'

/** Where something is checked. */
export type CheckPoint = HookPoint | GuardPoint

/** What a check decided. `hook` is the name of the hook or of the guardrail. */
export interface Decision extends Omit<HookBody, 'at' | 'effect'> {
  readonly at: CheckPoint
  readonly effect: HookEffect | GuardEffect
  /** The action of a guardrail; absent for a hook. */
  readonly guardrail?: GuardrailAction
}

/** Whether a decision refuses. */
export function isRefusal({ effect, allows }: Pick<Decision, 'effect' | 'allows'>): boolean {
  return effect !== 'rewritten' && effect !== 'flagged' && allows !== true
}

/** What an entry says that was decided; null for any other entry. */
export function decisionOf({ type, body }: EntryContent): Decision | null {
  if (type === 'hook') return body
  if (type !== 'notice' || body.code !== 'GUARDRAIL_HIT' || body.decision === undefined) return null
  return { hook: body.name, guardrail: body.action, ...body.decision }
}

/** The entry of a decision. `agent` is the one whose guardrail it was. */
export function entryOfDecision(decision: Decision, agent: string): EntryContent {
  const { hook: name, guardrail: action, at, effect, reason, waiting, written } = decision
  if (action === undefined) return { type: 'hook', kind: null, body: decision as HookBody }
  const text = typeof written === 'string' ? { written } : {}
  const place = waiting === undefined ? {} : { waiting }
  const kept = { at: at as GuardPoint, effect, reason, ...place, ...text }
  const side = at === 'afterModel' || at === 'answered' ? 'output' : 'input'
  const detail = hitDetail({ name, action, side, agent, hasFailed: effect === 'failed' })
  return { type: 'notice', kind: null, body: { code: 'GUARDRAIL_HIT', detail, name, action, side, decision: kept } }
}

const didTo = { refuse: 'refused', redact: 'redacted', flag: 'flagged' } as const

/** What people read of a hit: never what was found. */
export function hitDetail(of: {
  readonly name: string
  readonly action: GuardrailAction
  readonly side: 'input' | 'output'
  readonly agent: string
  readonly hasFailed?: boolean
}): string {
  const what = of.side === 'input' ? `a message to \`${of.agent}\`` : `a reply of \`${of.agent}\``
  const did = of.hasFailed === true ? 'could not check, and refused,' : didTo[of.action]
  return `Guardrail \`${of.name}\` ${did} ${what}.`
}
