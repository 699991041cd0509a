import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Parameter } from '@witan/protocol'
import { givenParameters, parameterFields } from './parameters.ts'

const parameter = (name: string, more: Partial<Parameter> = {}): Parameter => ({
  name,
  type: 'string',
  description: '',
  sendToModel: true,
  policy: null,
  secret: false,
  ...more,
})

test('the form asks once for a name that several agents declare, and says who reads it', () => {
  const fields = parameterFields([
    { id: 'root', parameters: [parameter('userId', { sendToModel: false }), parameter('country')] },
    { id: 'child', parameters: [parameter('userId', { policy: 'forbidModelGeneration' }), parameter('team')] },
  ])
  assert.deepEqual(
    fields.map((field) => [field.name, field.required, field.trusted, field.alwaysHidden, field.usedBy.join()]),
    [
      ['userId', false, true, false, 'root,child'],
      ['country', true, false, false, 'root'],
      ['team', false, false, false, 'child'],
    ],
  )
})

test('a value is given bare, or with sendToModel false where it is to be hidden', () => {
  const fields = parameterFields([{ id: 'root', parameters: [parameter('a'), parameter('b')] }])
  const { given } = givenParameters(fields, { a: { text: 'x', hide: false }, b: { text: 'y', hide: true } })
  assert.deepEqual(given, { a: 'x', b: { value: 'y', sendToModel: false } })
})

test('every type is read as itself, and what does not fit is a problem of its line', () => {
  const read = (type: Parameter['type'], text: string) => {
    const fields = parameterFields([{ id: 'root', parameters: [parameter('p', { type })] }])
    const { given, problems } = givenParameters(fields, { p: { text, hide: false } })
    return 'p' in problems ? 'problem' : given.p
  }
  assert.equal(read('string', '7'), '7')
  assert.equal(read('number', '7.5'), 7.5)
  assert.equal(read('number', 'seven'), 'problem')
  assert.equal(read('boolean', 'false'), false)
  assert.equal(read('boolean', 'no'), 'problem')
  assert.deepEqual(read('string[]', '["a","b"]'), ['a', 'b'])
  assert.equal(read('number[]', '["a"]'), 'problem')
  assert.equal(read('any', '{"a":1}'), 'problem')
  assert.equal(read('any', 'plain'), 'plain')
  assert.equal(read('any', '[1]')?.toString(), '1')
})

test('an empty line is left out, and is a problem only where the root needs it', () => {
  const fields = parameterFields([
    { id: 'root', parameters: [parameter('a')] },
    { id: 'child', parameters: [parameter('b')] },
  ])
  const { given, problems } = givenParameters(fields, {})
  assert.deepEqual(given, {})
  assert.deepEqual(Object.keys(problems), ['a'])
})
