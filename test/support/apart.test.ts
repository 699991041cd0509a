/** Errands that share a process do not end each other. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openApart } from './apart.ts'

const errands = import.meta.resolve('./apart-errands.ts')

test('an errand that throws, or leaves a rejection that nobody waits for, fails alone', async (context) => {
  const apart = openApart()
  context.after(() => apart.close())
  const beside = apart.run(errands, 'lasts')
  for (const wrong of ['throws', 'rejectsUnseen', 'rejectsTooSoon'])
    await assert.rejects(apart.run(errands, wrong), /Error: wrong/, wrong)
  assert.equal(await beside, 'right')
})
