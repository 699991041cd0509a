/** Names of MCP tools, with servers that choose hostile ones. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertCheap } from '../../../../../test/support/cpu.ts'
import { fitsPattern, matcherOf, offeredName, shownTool } from './names.ts'

test('a tool is offered as its server and its name, of letters that every provider takes', () => {
  const table: readonly (readonly [server: string, tool: string, name: string])[] = [
    ['files', 'read_file', 'files_read_file'],
    ['files', 'read.file', 'files_read_file'],
    ['my-crm', 'Contacts/List all', 'my-crm_Contacts_List_all'],
    ['files', '', 'files_'],
    ['files', '😀', 'files__'],
    ['files', '__proto__', 'files___proto__'],
    ['f', 'a'.repeat(62), `f_${'a'.repeat(62)}`],
  ]
  for (const [server, tool, name] of table) assert.equal(offeredName(server, tool), name)
})

test('a longer name than 64 characters keeps 55 and gets a digest of the whole', () => {
  const [one, other] = [offeredName('f', `${'a'.repeat(100)}1`), offeredName('f', `${'a'.repeat(100)}2`)]
  for (const name of [one, other]) assert.match(name, /^f_a{53}_[0-9a-f]{8}$/)
  assert.notEqual(one, other)
  assert.equal(offeredName('f', 'ö'.repeat(100)).length, 64)
  assert.notEqual(offeredName('f', 'ö'.repeat(100)), offeredName('f', 'ä'.repeat(100)))
})

test('a star stands for any characters', () => {
  const table: readonly (readonly [pattern: string, fits: readonly string[], not: readonly string[]])[] = [
    ['read', ['read'], ['Read', 'reader', '']],
    ['read_*', ['read_', 'read_file'], ['read', 'a_read_']],
    ['*', ['', 'x', '*'], []],
    ['**', ['', 'x'], []],
    ['a*a', ['aa', 'aba', 'aaa'], ['a', 'ab']],
    ['a*b*c', ['abc', 'a1b2c', 'abbc'], ['acb', 'ac']],
    ['*_x_*', ['a_x_b', '_x_'], ['x_', '_x']],
    ['ab*b', ['abb', 'ab1b'], ['ab']],
    ['a*bc*bc', ['abcbc', 'a1bc2bc'], ['abc']],
    ['a.c', ['a.c'], ['abc']],
  ]
  for (const [pattern, fits, not] of table) {
    for (const name of fits) assert.ok(fitsPattern(pattern, name), `${pattern} ${name}`)
    for (const name of not) assert.ok(!fitsPattern(pattern, name), `${pattern} ${name}`)
    for (const name of [...fits, ...not])
      assert.equal(matcherOf(['none', pattern])(name), fitsPattern(pattern, name), `${pattern} ${name}`)
  }
})

test('no pattern takes long', async () => {
  const name = `${'a'.repeat(100_000)}`
  for (const pattern of ['*a'.repeat(64), `${'*a'.repeat(63)}*b`, '*'.repeat(128), `a*${'aa*'.repeat(40)}b`])
    await assertCheap({ total: 100 }, () => fitsPattern(pattern, name), pattern)
})

test('a name is shown on one short line, without what is not seen', () => {
  assert.equal(shownTool('read_file'), 'read_file')
  assert.equal(shownTool('a\nb`c\u202e'), "a\\u000ab'c\\u202e")
  assert.equal(shownTool('x'.repeat(100)), `${'x'.repeat(64)}…`)
  assert.ok(shownTool('\u202e'.repeat(100)).length <= 129)
  assert.ok(shownTool('😀'.repeat(40)).isWellFormed())
})
