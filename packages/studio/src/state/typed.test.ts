/** What a person types is read as they mean it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readJsonObject, readTextOrJson } from './typed.ts'

test('plain words are text, JSON is JSON, and a slip in JSON is told', () => {
  assert.deepEqual(readTextOrJson(' done '), { value: 'done', problem: null })
  assert.deepEqual(readTextOrJson('{"ok":true}'), { value: { ok: true }, problem: null })
  assert.deepEqual(readTextOrJson('42'), { value: 42, problem: null })
  assert.deepEqual(readTextOrJson('[9007199254740993]'), { value: ['9007199254740993'], problem: null })
  assert.deepEqual(readTextOrJson('"quoted"'), { value: 'quoted', problem: null })
  assert.match(readTextOrJson('{"ok":').problem ?? '', /This is not JSON/)
  assert.match(readTextOrJson('[1, 2').problem ?? '', /This is not JSON/)
})

test('arguments are one object', () => {
  assert.deepEqual(readJsonObject('{"amount":1e400}'), { value: { amount: '1e400' }, problem: null })
  assert.deepEqual(readJsonObject('{"amount":5}'), { value: { amount: 5 }, problem: null })
  for (const text of ['5', '[1]', 'null', '"text"']) assert.match(readJsonObject(text).problem ?? '', /one JSON object/)
  assert.match(readJsonObject('amount: 5').problem ?? '', /not JSON/)
})
