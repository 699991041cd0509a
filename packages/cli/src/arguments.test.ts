import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readArguments, readCount, readParameterWords } from './arguments.ts'
import type { Command } from './command.ts'
import { exitCodes } from './exit.ts'
import { toValue } from './parameters.ts'

const command: Command = {
  name: 'try',
  summary: 'A command.',
  operands: [{ name: 'AGENT' }, { name: 'MESSAGE', optional: true }],
  options: {
    param: { value: 'K=V', multiple: true, help: '' },
    file: { value: 'FILE', short: 'f', help: '' },
    json: { help: '' },
  },
  run: () => Promise.resolve(exitCodes.done),
}
const read = (...words: string[]) => readArguments(command, words)

describe('arguments', () => {
  test('operands and options may stand in any order', () => {
    const given = read('--param', 'a=1', 'front-desk', '-f', 'x.json', 'hello', '--param=b=2', '--json')
    assert.deepEqual(given.operands, ['front-desk', 'hello'])
    assert.deepEqual(given.texts('param'), ['a=1', 'b=2'])
    assert.deepEqual(
      [given.text('file'), given.has('json'), given.has('url'), given.text('url')],
      ['x.json', true, false, undefined],
    )
  })

  test('a message may look like an option after --', () => {
    assert.deepEqual(read('front-desk', '--', '--json').operands, ['front-desk', '--json'])
  })

  test('what is wrong is named', () => {
    assert.throws(() => read(), { name: 'UsageError', message: 'witan try needs AGENT.' })
    assert.throws(() => read('a', 'b', 'c'), { message: '"c" is one word too many for witan try.' })
    assert.throws(() => read('a', '--nope'), { message: /"--nope"/ })
    assert.throws(() => read('a', '--file'), { message: /--file/ })
    assert.throws(() => read('a', '--json=1'), { message: /--json/ })
  })

  test('a count is a whole number in its limits', () => {
    const given = (text: string) => read('a', '-f', text)
    assert.equal(readCount(given('20'), 'file', 200), 20)
    assert.equal(readCount(read('a'), 'file', 200), undefined)
    for (const text of ['0', '201', '1.5', 'x', '-1', '1e2'])
      assert.throws(() => readCount(given(text.replace(/^-/, '~')), 'file', 200), { name: 'UsageError' })
  })
})

describe('parameters', () => {
  test('split at the first equals sign', () => {
    assert.deepEqual(readParameterWords('query=a=b'), { name: 'query', value: 'a=b' })
    assert.deepEqual(readParameterWords('empty='), { name: 'empty', value: '' })
    for (const words of ['novalue', '=x']) assert.throws(() => readParameterWords(words), { name: 'UsageError' })
  })

  test('become what their declaration says', () => {
    assert.equal(toValue('98122', 'string'), '98122')
    assert.equal(toValue('98122', 'number'), 98122)
    assert.equal(toValue('true', 'boolean'), true)
    assert.equal(toValue('null', 'null'), null)
    assert.deepEqual(toValue('a, b', 'string[]'), ['a', 'b'])
    assert.deepEqual(toValue('["a,b"]', 'string[]'), ['a,b'])
    assert.deepEqual(toValue('1,2', 'number[]'), [1, 2])
    assert.equal(toValue('7', 'any'), 7)
    assert.equal(toValue('seven', 'any'), 'seven')
    for (const number of ['9007199254740993', '1e400'])
      for (const type of ['any', 'string', 'number', undefined] as const) assert.equal(toValue(number, type), number)
    assert.deepEqual(toValue('[1,9007199254740993]', 'any'), '[1,9007199254740993]')
    assert.equal(toValue('[1,9007199254740993]', 'number[]'), '[1,9007199254740993]')
  })

  test('stay text where they do not fit, so that the server names the mistake', () => {
    assert.equal(toValue('many', 'number'), 'many')
    assert.equal(toValue('1', undefined), '1')
  })
})
