/** What a definition of hooks may be, and which hooks are asked where. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createRuntime } from '../runtime.ts'
import { defineHooks, type HooksDefinition } from './define-hooks.ts'
import { HookRows } from './rows.ts'

const pass = () => undefined

/** Definitions that are refused, with the code and the place. */
const wrong: readonly (readonly [what: string, definition: unknown, code: string, path: string])[] = [
  ['no name', { beforeRun: pass }, 'ID_INVALID', 'name'],
  ['a name with blanks', { name: 'my hook', beforeRun: pass }, 'ID_INVALID', 'name'],
  ['a misspelt function', { name: 'a', beforeTools: pass }, 'UNKNOWN_KEY', 'beforeTools'],
  ['nothing to ask', { name: 'a' }, 'CONFIG_INVALID', 'beforeRun'],
  ['a text for a function', { name: 'a', beforeRun: 'x' }, 'CONFIG_INVALID', 'beforeRun'],
  ['agents that are no list', { name: 'a', beforeRun: pass, agents: 'x' }, 'CONFIG_INVALID', 'agents'],
  ['tools that are no names', { name: 'a', beforeTool: pass, tools: [1] }, 'CONFIG_INVALID', 'tools'],
  ['too much time', { name: 'a', beforeRun: pass, timeoutMs: 60_001 }, 'CONFIG_INVALID', 'timeoutMs'],
  ['no time', { name: 'a', beforeRun: pass, timeoutMs: 0 }, 'CONFIG_INVALID', 'timeoutMs'],
  ['a time that is no number', { name: 'a', beforeRun: pass, timeoutMs: Number.NaN }, 'CONFIG_INVALID', 'timeoutMs'],
  ['another end', { name: 'a', beforeRun: pass, onError: 'stop' }, 'CONFIG_INVALID', 'onError'],
]

describe('[F02] hooks', () => {
  for (const [what, definition, code, path] of wrong)
    test(`with ${what} are refused by name`, () => {
      assert.throws(() => defineHooks(definition as HooksDefinition), { code, path })
    })

  test('of one name are refused, and so is what is no hook', () => {
    const one = defineHooks({ name: 'a', beforeRun: pass })
    assert.throws(() => createRuntime({ hooks: [one, one] }), { code: 'CONFIG_INVALID', path: 'hooks' })
    for (const odd of [{ name: 'a', beforeRun: pass }, null, 'a'])
      assert.throws(() => createRuntime({ hooks: [odd] as never }), { code: 'CONFIG_INVALID', path: 'hooks' })
    assert.throws(() => createRuntime({ hooks: {} as never }), { code: 'CONFIG_INVALID', path: 'hooks' })
  })

  test('are asked as listed before something, in reverse behind it, of the agents and tools that they name', () => {
    const all = { beforeRun: pass, beforeTool: pass, afterTool: pass, afterRun: pass }
    const rows = new HookRows([
      defineHooks({ name: 'one', ...all }),
      defineHooks({ name: 'two', ...all, agents: ['clerk'] }),
      defineHooks({ name: 'three', ...all, tools: ['pay'] }),
    ])
    const names = (row: ReturnType<HookRows['at']>) => row.map(({ hooks }) => hooks.name).join(' ')
    const clerk = { id: 'clerk' }
    assert.equal(names(rows.at('beforeRun', clerk)), 'one two three')
    assert.equal(names(rows.at('afterRun', clerk)), 'three two one')
    assert.equal(names(rows.at('beforeTool', clerk, 'pay')), 'one two three')
    assert.equal(names(rows.at('afterTool', clerk, 'note')), 'two one')
    assert.equal(names(rows.at('beforeRun', { id: 'other' })), 'one three')
    assert.equal(names(rows.at('beforeRun', { id: 'other', hooks: ['two'] })), 'one two three')
    assert.equal(names(rows.at('beforeModel', clerk)), '')
    assert.deepEqual(
      [
        rows.missing(clerk),
        rows.missing({ id: 'x', hooks: ['one', 'tax'] }),
        rows.missing({ id: 'x', hooks: ['one'] }),
      ],
      [null, 'tax', null],
    )
  })
})
