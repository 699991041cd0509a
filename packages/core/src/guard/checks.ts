/** The guardrails of agents as rows that are asked as hooks are, and what they take out of a text before it is stored. */
import { type AgentData, WitanError } from '@witan/protocol'
import type { Guardrail, GuardrailAction, GuardrailSide } from '@witan/protocol/entries'
import { validatorOf } from '../model/json-schema.ts'
import type { HookOfRow, HookRow } from '../hook/rows.ts'
import { lookAtOnce, lookInto } from './find.ts'
import type { LookElsewhere } from './work.ts'

/** What of an agent holds its checks. A definition of an earlier version has none. */
export type Guarded = Partial<Pick<AgentData, 'guardrails'>> & Pick<AgentData, 'id'>

const nobody: HookRow = []

/** Whether an agent checks anything there. */
export function isGuarded({ guardrails }: Partial<Pick<AgentData, 'guardrails'>>, side: GuardrailSide): boolean {
  return guardrails !== undefined && guardrails[side].length > 0
}

/** The guardrails of a process: those of agents, ready to be asked. */
export class Guards {
  readonly #elsewhere: LookElsewhere
  readonly #rows: Readonly<Record<GuardrailSide, WeakMap<Guarded, HookRow>>> = {
    input: new WeakMap(),
    output: new WeakMap(),
  }

  /** `elsewhere` looks into texts that are long for a pattern. */
  constructor(elsewhere: LookElsewhere) {
    this.#elsewhere = elsewhere
  }

  /** The checks of agents, in their order. */
  of(agents: readonly Guarded[], side: GuardrailSide): HookRow {
    const [first] = agents
    if (first === undefined) return nobody
    return agents.length === 1
      ? this.#ofOne(first, side)
      : [...new Set(agents)].flatMap((one) => this.#ofOne(one, side))
  }

  /** What `redact` does, at once: null for a text that is too long for that, and where nothing is taken out. */
  redactNow(agent: Guarded, message: string): Redacted | null {
    let text = message
    const hits: Redacted['hits'][number][] = []
    for (const check of agent.guardrails?.input ?? []) {
      if (check.kind !== 'pattern' || check.action !== 'redact') continue
      const found = lookAtOnce({ pattern: check.pattern, work: 'redact', text })
      if (found === null) return null
      if (found === text) continue
      text = String(found)
      hits.push({ name: check.name, action: check.action, agent: agent.id })
    }
    return hits.length === 0 ? null : { text, hits }
  }

  /** What the checks of these agents make of a text that stands in no log, and leaves no notice. Rejects with `GUARDRAIL_REFUSED`. */
  async pass(agents: readonly Guarded[], side: GuardrailSide, given: string): Promise<string> {
    let text = given
    for (const { ask, hooks } of this.of(agents, side)) {
      const asked = Promise.resolve(ask({ text })) as Promise<
        { readonly rewrite?: string; readonly refuse?: string } | undefined
      >
      const answer = await asked.catch(() => ({ refuse: `guardrail ${hooks.name} failed` }))
      if (answer !== undefined && 'rewrite' in answer && answer.rewrite !== undefined) text = answer.rewrite
      if (answer?.refuse !== undefined)
        throw new WitanError('GUARDRAIL_REFUSED', answer.refuse, { hint: `Ask for what \`${hooks.name}\` lets pass.` })
    }
    return text
  }

  /** A text without what these agents take out of what they read. Rejects if that cannot be done. */
  async redact(agents: readonly Guarded[], message: string): Promise<Redacted> {
    let text = message
    const hits: Redacted['hits'][number][] = []
    for (const { hooks, ask, action, of = '' } of this.of(agents, 'input')) {
      if (action !== 'redact') continue
      const answer = (await ask({ message: text })) as { readonly rewrite: string } | undefined
      if (answer === undefined) continue
      text = answer.rewrite
      hits.push({ name: hooks.name, action, agent: of })
    }
    return { text, hits }
  }

  #ofOne(agent: Guarded, side: GuardrailSide): HookRow {
    if (!isGuarded(agent, side)) return nobody
    const rows = this.#rows[side]
    const known = rows.get(agent)
    if (known !== undefined) return known
    const checks = agent.guardrails?.[side] ?? []
    // Those that ask an agent are calls in the tree.
    const made = checks.flatMap((check) =>
      check.kind === 'agent' ? [] : [{ ...rowOf(check, this.#elsewhere), of: agent.id }],
    )
    rows.set(agent, made)
    return made
  }
}

/** A text without what agents take out of what they read, and which of their checks found something. */
interface Redacted {
  readonly text: string
  readonly hits: readonly { readonly name: string; readonly action: GuardrailAction; readonly agent: string }[]
}

/** How long a check may take: the thread of patterns answers earlier, or is ended. */
const timeoutMs = 60_000

function rowOf(check: Exclude<Guardrail, { readonly kind: 'agent' }>, elsewhere: LookElsewhere): HookOfRow {
  const hooks = { name: check.name, timeoutMs, onError: 'refuse' } as const
  const ask = check.kind === 'pattern' ? patternAsker(check, elsewhere) : schemaAsker(check)
  return { hooks, ask, action: check.action }
}

/** The words that guardrails look at where hooks see others: what the target of a hand-over reads of this run. */
export const wordsToCheck = Symbol('words to check')

/** What a check is asked: a message, or what an agent says; with a structured answer if it has one. */
export interface GuardedText {
  readonly message?: string
  readonly text?: string
  /** Absent where there is no structured answer. */
  readonly output?: { readonly value: unknown }
  readonly [wordsToCheck]?: string
}

function hit(check: Pick<Guardrail, 'name' | 'action' | 'message'>) {
  return check.action === 'flag' ? { flag: true } : { refuse: refusalReason(check) }
}

/** What models and people read of a refusal. */
export function refusalReason({ name, message }: Pick<Guardrail, 'name' | 'message'>): string {
  return message === '' ? `guardrail ${name} refused` : message
}

function patternAsker(check: Guardrail & { readonly kind: 'pattern' }, elsewhere: LookElsewhere): HookOfRow['ask'] {
  const { pattern, action } = check
  const work = action === 'redact' ? 'redact' : 'find'
  return (seen) => {
    const { message, text = message ?? '', [wordsToCheck]: words = text } = seen as GuardedText
    return look(words)
  }
  function look(text: string) {
    if (text === '') return undefined
    const found = lookInto({ pattern, work, text }, elsewhere)
    return found instanceof Promise ? found.then((late) => answerOf(late, text)) : answerOf(found, text)
  }
  function answerOf(found: boolean | string, text: string) {
    if (typeof found === 'string') return found === text ? undefined : { rewrite: found }
    return found ? hit(check) : undefined
  }
}

function schemaAsker(check: Guardrail & { readonly kind: 'schema' }): HookOfRow['ask'] {
  return (seen) => {
    const { output } = seen as GuardedText
    if (output === undefined) return undefined
    return validatorOf(check.schema).issuesOf(output.value).length > 0 ? hit(check) : undefined
  }
}
