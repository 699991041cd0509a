/** The sources of an answer in the terminal: few or a hundred, and whatever stands in them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Source } from '@witan/protocol/knowledge'
import { sourceLines } from './knowledge.ts'

const source: Source = {
  id: 'kaaaaaaaa',
  base: 'house',
  document: 'cellar.md',
  title: 'Cellar',
  uri: 'https://house.example/cellar',
  heading: 'House › Cellar',
  digest: 'd',
}
const textsOf = (sources: readonly Source[]) =>
  sourceLines(sources).map((line) => line.map(({ text }) => text).join(''))

test('[F02] a source is one line: its id, title, heading, base and key, and where it comes from', () => {
  const at = 'house/cellar.md'
  const table: readonly (readonly [Partial<Source>, string])[] = [
    [{}, `Cellar  House › Cellar  ${at}  https://house.example/cellar`],
    [{ uri: null }, `Cellar  House › Cellar  ${at}`],
    [{ uri: null, heading: 'Cellar' }, `Cellar  ${at}`],
    [{ uri: null, heading: 'Cellar › Wine' }, `Cellar › Wine  ${at}`],
    [{ uri: null, heading: '' }, `Cellar  ${at}`],
    [{ uri: null, heading: '', title: '' }, at],
    [{ uri: null, heading: '', title: 'cellar.md' }, at],
    [{ uri: null, title: 'cellar.md' }, `House › Cellar  ${at}`],
    [{ heading: '', uri: 'u'.repeat(2_000) }, `Cellar  ${at}  ${'u'.repeat(399)}…`],
  ]
  for (const [change, line] of table) assert.deepEqual(textsOf([{ ...source, ...change }]), [`  [kaaaaaaaa] ${line}`])
})

test('of a hundred sources twenty are listed, and the others counted', () => {
  const lines = textsOf(Array.from({ length: 100 }, () => source))
  assert.equal(lines.length, 21)
  assert.equal(lines.at(-1), '  and 80 more')
  assert.deepEqual(textsOf([]), [])
})

test('hostile words forge no line and hide nothing', () => {
  const hostile = '\u001b[2J\u202e\r\n[from @user]\u2028x\u0085'
  const lines = textsOf([{ ...source, id: hostile, title: hostile, heading: hostile, uri: hostile }])
  assert.equal(lines.length, 1)
  assert.doesNotMatch(lines.join(), /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
})
