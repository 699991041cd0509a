/** Guardrails that find something now and then in what random agents read and say. */
import type { AgentDraft } from './stage.ts'

type Guardrails = NonNullable<AgentDraft['guardrails']>

const of = (name: string, pattern: string, action: 'refuse' | 'redact' | 'flag') =>
  ({ name, kind: 'pattern', pattern, action }) as const

const small = { name: 'small', kind: 'schema', schema: { properties: { n: { maximum: 1 } } } } as const

/** Of an agent: whether it has a structured output, and another one that may check it. */
interface Guarded {
  readonly isShaped: boolean
  readonly other: string | null
}

/** One of four sets, or none. */
export function guardrailsOf(kind: number, { isShaped, other }: Guarded): Guardrails {
  if (kind === 0) return { input: [of('numbers', 'age \\d', 'redact')], output: [of('zero', '0', 'redact')] }
  if (kind === 1) return { input: [of('two', '2', 'refuse')], output: [of('text two', 'text 2', 'refuse')] }
  if (kind === 3 && other !== null) {
    const judge = { name: 'judge', kind: 'agent', agent: other } as const
    const watcher = { name: 'watcher', kind: 'agent', agent: other, action: 'flag' } as const
    return { input: [judge, of('nine', '9', 'flag')], output: [watcher, judge] }
  }
  if (kind !== 2) return {}
  const flags = of('any', 'm|t', 'flag')
  return { input: [flags], output: isShaped ? [flags, small] : [flags] }
}
