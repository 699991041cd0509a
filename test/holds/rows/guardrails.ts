/** What guardrails look at: long messages and replies, many patterns, many calls. */
import type { AgentInput } from '@witan/protocol'
import type { Row } from '../support/row.ts'
import { run } from '../support/said.ts'

type Guardrails = NonNullable<AgentInput['guardrails']>
type Action = 'refuse' | 'redact' | 'flag'

const check = (at: number, pattern: string, action: Action) =>
  ({ name: `check ${at}`, kind: 'pattern', pattern, action }) as const
const twenty = (pattern: (at: number) => string, action: Action) =>
  Array.from({ length: 20 }, (_, at) => check(at, pattern(at), action))

/** Patterns that no text fits, some of them heavy: each looks at the whole text. */
const heavy = (at: number) => `(?:[a-z]+ ?[0-9]{0,${10 + at}}){1,20}@[a-z]+\\.x${at}`
const long = (word: string, characters: number) => word.repeat(characters / word.length)

interface Given {
  readonly prompt?: string
  readonly reply?: string
  readonly calls?: number
}

function guarded(name: string, guardrails: () => Guardrails, given: () => Given): Row {
  return {
    name: `guardrails with ${name}`,
    setUp: async (play) => {
      const { prompt = 'Go.', reply = 'Done.', calls = 0 } = given()
      const asked = Array.from({ length: calls }, () => ({
        name: 'clerk',
        arguments: JSON.stringify({ message: prompt }),
      }))
      const clerk = { id: 'clerk', model: 'play/root', instructions: 'You do it.', guardrails: guardrails() }
      const root = calls === 0 ? { guardrails: guardrails() } : { subAgents: [{ agent: 'clerk' }] }
      return run(play, {
        script: (step, { messages }) =>
          calls > 0 && step === 0 && messages.at(-1)?.content === 'Begin.' ? { calls: asked } : { text: reply },
        agent: root,
        options: { agents: calls === 0 ? [] : [clerk] },
        start: { prompt: calls === 0 ? prompt : 'Begin.' },
      })
    },
  }
}

export const guardrailsRows: readonly Row[] = [
  guarded(
    '20 heavy patterns, and a prompt of 1 million characters',
    () => ({ input: twenty(heavy, 'refuse') }),
    () => ({ prompt: long('word 12 ', 1_000_000) }),
  ),
  guarded(
    '20 patterns that redact 75,000 digits of a prompt',
    () => ({ input: twenty((at) => `[${at % 10}]+`, 'redact') }),
    () => ({ prompt: long('word 12 34 56 78 90 ', 150_000) }),
  ),
  guarded(
    'a pattern that looks at all of a text behind each match',
    () => ({ input: [check(0, '.*[^A-Z]|[A-Z]', 'redact')], output: [check(1, '.*[^A-Z]|[A-Z]', 'redact')] }),
    () => ({ prompt: 'A'.repeat(3_000), reply: 'A'.repeat(100_000) }),
  ),
  guarded(
    '20 heavy patterns, and a reply of 1 million characters',
    () => ({ output: twenty(heavy, 'flag') }),
    () => ({ reply: long('word 12 ', 1_000_000) }),
  ),
  guarded(
    '20 patterns, and 64 sub-agents with a message of 1,000 characters each',
    () => ({ input: twenty((at) => `card ${at}`, 'redact'), output: twenty((at) => `card ${at}`, 'redact') }),
    () => ({ prompt: long('word 12 ', 1_000), calls: 64 }),
  ),
  guarded(
    '20 patterns of 1,000 characters',
    () => ({ input: twenty((at) => `${long('(?:a|b)', 980)}${at}`, 'flag') }),
    () => ({ prompt: long('ab', 2_000) }),
  ),
]
