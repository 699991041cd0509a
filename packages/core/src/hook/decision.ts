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

/** What a check decided. */
export interface Decision extends Omit<HookBody, 'hook' | 'at' | 'effect'> {
  /** The name of the hook or of the guardrail. */
  readonly name: string
  readonly at: CheckPoint
  readonly effect: HookEffect | GuardEffect
  /** What a guardrail does; absent for a hook. */
  readonly action?: GuardrailAction
  /** The agent whose guardrail it is; absent: the one that is checked. */
  readonly of?: string
  /** Set for an answer whose run ended before it was checked. */
  readonly closes?: true
}

/** Whether a decision refuses. */
export function isRefusal({ effect, allows }: Pick<Decision, 'effect' | 'allows'>): boolean {
  return effect !== 'rewritten' && effect !== 'flagged' && allows !== true
}

/** What an entry says that was decided; null for any other entry. */
export function decisionOf({ type, body }: EntryContent): Decision | null {
  if (type === 'hook') return decisionOfHook(body)
  if (type !== 'notice' || body.code !== 'GUARDRAIL_HIT' || body.decision === undefined) return null
  return { name: body.name, action: body.action, of: body.agent, ...body.decision }
}

/** What the entry of a hook says. */
export function decisionOfHook({ hook: name, ...body }: HookBody): Decision {
  return { name, ...body }
}

/** The entry of a decision on what `agent` reads or says. */
export function entryOfDecision(decision: Decision, agent: string): EntryContent {
  const { name, action, ...body } = decision
  if (action === undefined) return { type: 'hook', kind: null, body: { hook: name, ...body } as HookBody }
  const { of = agent, at, effect, reason, waiting, written, closes } = body
  const text = typeof written === 'string' ? { written } : {}
  const place = waiting === undefined ? {} : { waiting }
  const end = closes === undefined ? {} : { closes }
  const kept = { at: at as GuardPoint, effect, reason, ...place, ...text, ...end }
  const side = at === 'afterModel' || at === 'answered' ? 'output' : 'input'
  const detail = hitDetail({ name, action, side, agent, hasFailed: effect === 'failed' })
  const about = { code: 'GUARDRAIL_HIT', detail, name, action, side, agent: of } as const
  return { type: 'notice', kind: null, body: { ...about, decision: kept } }
}

const didTo = { refuse: 'refused', redact: 'redacted', flag: 'flagged' } as const

/** The notice of something that was taken out of a message to an agent before it was stored. */
export function hitNotice({
  name,
  action,
  agent,
}: {
  readonly name: string
  readonly action: GuardrailAction
  readonly agent: string
}) {
  const detail = hitDetail({ name, action, side: 'input', agent })
  return { code: 'GUARDRAIL_HIT', detail, name, action, side: 'input', agent } as const
}

/** What people read of a hit: never what was found. */
function hitDetail(of: {
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
