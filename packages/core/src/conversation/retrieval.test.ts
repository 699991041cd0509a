/** Which messages are searched for, and which passages an answer names. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { QuotedPassage } from '@witan/protocol/entries'
import { bareJob } from '../testing/bare-job.ts'
import { messageToLookFor, sourcesIn } from './retrieval.ts'

const passage = (id: string): QuotedPassage => ({
  ...{ id, base: 'house', document: 'a.md', title: 'A', uri: null, heading: '', digest: 'd' },
  text: 'It is so.',
})
const [one, two] = ['kaaaaaaaa', 'kbbbbbbbb']
const found = (...ids: readonly string[]) =>
  ({ type: 'retrieval', kind: null, body: { query: 'go', passages: ids.map(passage) } }) as const

test('a message is searched for once, and what is found is a line behind it', async () => {
  const run = await bareJob([{ id: 'a', knowledgeBases: [{ id: 'house', retrieval: 'auto' }] }])
  const { root } = run.job.run
  assert.equal(messageToLookFor(root)?.text, 'go')
  run.apply(found(one))
  assert.equal(messageToLookFor(root), null)
  assert.deepEqual(
    root.document.inbox.map(({ text, only }) => [text.slice(0, 40), only]),
    [
      ['go', undefined],
      ['[from @witan to @a] knowledge: {"passage', 'a'],
    ],
  )
})

test('without a passage there is no line, and nothing is searched for an agent that does it by a tool', async () => {
  const run = await bareJob([{ id: 'a', knowledgeBases: [{ id: 'house', retrieval: 'both' }] }])
  run.apply(found())
  assert.deepEqual(
    run.job.run.root.document.inbox.map(({ text }) => text),
    ['go'],
  )
  const other = await bareJob([{ id: 'a', knowledgeBases: ['house'] }])
  assert.equal(messageToLookFor(other.job.run.root), null)
})

test('an answer names passages that were read, each once, in the order of first mention', async () => {
  const run = await bareJob([{ id: 'a', knowledgeBases: [{ id: 'house', retrieval: 'auto' }] }])
  run.apply(found(one, two))
  const { root } = run.job.run
  const named = (text: string, output: unknown = null) => sourcesIn(root, { text, output }).map(({ id }) => id)
  const rows: readonly [text: string, output: unknown, ids: readonly string[]][] = [
    [`So [${two}], and so [${one}] [${two}].`, null, [two, one]],
    [`Both [${one}, ${two}].`, null, [one, two]],
    [`None: ${one}, (${two}), [kcccccccc], [1], [x${one}], [${one}`, null, []],
    ['', { refs: [one], text: `[${two}]` }, [one, two]],
    [`[${'['.repeat(10_000)}${one}]`, null, [one]],
    ['[\n'.repeat(100_000), null, []],
  ]
  for (const [text, output, ids] of rows) assert.deepEqual(named(text, output), ids, text.slice(0, 60))
})
