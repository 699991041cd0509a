/** The form of a tool's arguments: its fields, and what its texts say. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { argumentFields, writtenArguments } from './tool-arguments.ts'

const schema = {
  type: 'object',
  properties: {
    article: { type: 'string', description: 'Which.' },
    count: { type: 'integer' },
    fast: { type: 'boolean' },
    size: { enum: ['s', 'm'] },
    more: { type: 'array' },
    odd: true,
  },
  required: ['article'],
}

test('each property has a field of its kind', () => {
  assert.deepEqual(
    argumentFields(schema).map(({ name, kind, isRequired }) => `${name} ${kind}${isRequired ? '!' : ''}`),
    ['article text!', 'count number', 'fast boolean', 'size choice', 'more json', 'odd json'],
  )
  for (const none of [{}, { properties: [] }, { properties: 1 }, { required: 7 }])
    assert.deepEqual(argumentFields(none), [])
})

test('texts become values, empty ones are left out, and what cannot be read is named', () => {
  const texts = { article: '12', count: '3', fast: 'true', size: 'm', more: '[1]', odd: '' }
  assert.deepEqual(writtenArguments(argumentFields(schema), texts), {
    written: { article: '12', count: 3, fast: true, size: 'm', more: [1] },
    problems: {},
  })
  assert.deepEqual(writtenArguments(argumentFields(schema), { count: 'x', more: '[' }).problems, {
    count: 'This is not a number.',
    more: 'This is not JSON.',
  })
})
