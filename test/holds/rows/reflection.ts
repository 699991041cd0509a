/** Critiques that a model writes: of any form and length, and of answers of any length. */
import type { Row } from '../support/row.ts'
import { run } from '../support/said.ts'

/** An answer, and what a model says of it. */
function criticised(what: string, critique: () => string, answer: () => string = () => 'Done.'): Row {
  return {
    name: `a run with a critique ${what}`,
    setUp: async (play) => {
      const text = critique()
      const first = answer()
      const agent = { enableReflection: true, reflection: { criteria: 'x'.repeat(4000) } }
      return run(play, { script: (_, { output }) => ({ text: output?.name === 'critique' ? text : first }), agent })
    },
  }
}

const revise = (problems: readonly string[]) => JSON.stringify({ verdict: 'revise', problems })

export const reflection: readonly Row[] = [
  criticised('of 100,000 problems', () => revise(Array.from({ length: 100_000 }, () => 'bad'))),
  criticised('with a problem of 0.9 MB', () => revise(['bad\n'.repeat(225_000)])),
  criticised('of 300,000 brackets', () => `{"verdict":"revise","problems":${'['.repeat(300_000)}`),
  criticised('of 0.9 MB of fences', () => '```\n'.repeat(225_000)),
  criticised('of 0.9 MB of blanks in a fence', () => `\`\`\`json\n${' '.repeat(900_000)}\n\`\`\``),
  criticised(
    'of an answer of 0.9 MB',
    () => revise(['Too long.']),
    () => 'word '.repeat(180_000),
  ),
]
