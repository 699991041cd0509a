/** What models reason, on the command line: folded to a line on a terminal, and elsewhere only where it is asked for. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { sitting } from './testing/person.ts'
import { witan } from './testing/witan.ts'

const config = fileURLToPath(new URL('./testing/thinking-desk.config.ts', import.meta.url))
const words = ['run', 'desk', 'Does it rain?', '--config', config]

test('a pipe gets none of it unless it asks; then it stands below the agent that reasoned', async () => {
  const plain = await witan(words)
  assert.equal(plain.code, 0)
  assert.doesNotMatch(plain.out, /thought|thinking|window|right/)
  const { out } = await witan([...words, '--reasoning'])
  assert.match(
    out,
    /\n│ thought for \d+ ms\n│ The clerk sits at the window\.\n.*\n│ │ thought for \d+ ms\n│ │ The window is wet\. So it rains\.\n.*\n│ thought for \d+ ms\n│ The clerk is right\.\n/s,
  )
})

test('--json prints its deltas only where they are asked for', async () => {
  const plain = await witan([...words, '--json'])
  assert.doesNotMatch(plain.out, /"delta"|window/)
  const { out } = await witan([...words, '--json', '--reasoning'])
  const deltas = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string; kind: string; author: string; content: { reasoning: string } })
    .filter(({ type }) => type === 'delta')
  assert.ok(deltas.every(({ kind }) => kind === 'reasoning'))
  const of = (name: string) =>
    deltas.flatMap(({ author, content }) => (author === name ? [content.reasoning] : [])).join('')
  assert.equal(of('clerk'), 'The window is wet. So it rains.')
})

test('a terminal folds it to one line, and --reasoning unfolds it', async () => {
  const chat = ['chat', 'desk', '--config', config]
  const folded = await sitting(chat, ['Does it rain?', '/exit'])
  assert.match(folded.screen, /─ thought for \d+ ms/)
  assert.doesNotMatch(folded.screen, /window|is right/)
  const { screen } = await sitting([...chat, '--reasoning'], ['Does it rain?', '/exit'])
  assert.match(
    screen.replaceAll('\u001b[K', ''),
    /─ thought for \d+ ms\s+│ {2}The clerk sits at the window\.\s+│ {2}The clerk is right\./,
  )
  const quiet = await sitting(['chat', 'quiet', '--reasoning', '--config', config], ['Does it rain?', '/exit'])
  assert.doesNotMatch(quiet.screen, /thought|window/)
})
