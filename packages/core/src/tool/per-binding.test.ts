/** What is kept of a definition for each set of names that are bound. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { perBinding } from './schema.ts'

test('what is made for a definition and its bound names is made once, and kept for few sets of them', () => {
  const toolOf = perBinding((_definition: object, bound) => ({ bound }))
  const definition = {}
  const first = toolOf(definition, ['a'])
  assert.equal(toolOf(definition, ['a']), first)
  assert.notEqual(toolOf({}, ['a']), first)
  for (let at = 0; at < 1_000; at += 1) toolOf(definition, [`n${at}`])
  assert.notEqual(toolOf(definition, ['a']), first)
})
