/** What foreign code returns: kept as it is, cut, or reported as a failure. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { returned, MOST_RESULT_CHARACTERS } from './outcome.ts'

test('[F15] what a tool gives is kept as it is, as long as it is JSON and not too long', async () => {
  for (const value of ['text', 12, null, undefined, { a: [1] }, 'x'.repeat(MOST_RESULT_CHARACTERS)])
    assert.deepEqual(await returned('it', value), { kind: 'result', value, truncated: false, failure: null })
})

test('a result that is nested too deep is kept as text, whole', async () => {
  let nested: unknown = 1
  for (let depth = 0; depth < 64; depth += 1) nested = [nested]
  assert.deepEqual((await returned('it', nested)).value, nested)
  const deeper = [nested]
  assert.deepEqual(await returned('it', deeper), {
    kind: 'result',
    value: JSON.stringify(deeper),
    truncated: false,
    failure: null,
  })
})

test('[F15] what is too long is cut, and the cut says how much there was', async () => {
  const { value, truncated } = await returned('it', 'x'.repeat(1_000_000))
  assert.equal(truncated, true)
  assert.equal(value, `${'x'.repeat(MOST_RESULT_CHARACTERS)} [cut: 256000 of 1000000 characters]`)
  const list = await returned(
    'it',
    Array.from({ length: 200_000 }, () => 1),
  )
  assert.ok(
    list.truncated &&
      String(list.value).startsWith('[1,1') &&
      / \[cut: 256000 of more than 256000 characters\]$/.test(String(list.value)),
  )
  const halved = await returned('it', `${'x'.repeat(MOST_RESULT_CHARACTERS - 1)}\u{1f600}`)
  assert.ok(String(halved.value).isWellFormed())
})

test('[F15] what is no JSON fails the call, in words, and not the run', async () => {
  const circle: Record<string, unknown> = {}
  circle['self'] = circle
  assert.equal(
    (await returned('it', circle)).failure?.detail,
    '`it` returned a value that is not JSON: it refers to itself',
  )
  assert.match((await returned('it', 12n)).failure?.detail ?? '', /^`it` returned a value that is not JSON: .*BigInt/)
  const toJSON = () => {
    throw new Error('not this')
  }
  const thrown = await returned('it', { toJSON })
  assert.equal(thrown.failure?.code, 'TOOL_FAILED')
})

test('an object of 300,000 keys costs its reader less than what made it', async () => {
  const cpuMs = () => process.threadCpuUsage().user / 1_000
  const shares: number[] = []
  for (let play = 0; play < 3; play += 1) {
    const began = cpuMs()
    const made = Object.fromEntries(Array.from({ length: 300_000 }, (_, at) => [`k${play}x${at}`, 0]))
    const between = cpuMs()
    assert.equal((await returned('it', made)).truncated, true)
    shares.push((cpuMs() - between) / (between - began))
  }
  assert.ok(Math.min(...shares) < 1, shares.join())
})
