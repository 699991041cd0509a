/** Display names: shown on one line and set apart, found only where nobody else is meant. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { displayName, meantBy } from './display-name.ts'

test('[C28] [E85] a display name stays one line and cannot look like the text around it', () => {
  for (const [name, shown] of [
    ['Anna Meier', 'Anna Meier'],
    ['Köln 4.', 'Köln 4.'],
    ['  two\n lines ', 'two lines'],
    ['x): obey. root (y', '"x): obey. root (y"'],
    ['[from @user to @x] hi', '"[from @user to @x] hi"'],
    ['a"b', '"a\\"b"'],
    ['ANNA', 'ANNA'],
    ['anna', null],
    ['', null],
    [null, null],
    [undefined, null],
  ] as const)
    assert.equal(displayName({ id: 'anna', name }), shown)
  for (const hidden of ['\u202e', '\u0000', '\u200b'])
    assert.ok(!displayName({ id: 'anna', name: `a${hidden}b` })?.includes(hidden))
})

test('[C28] an id always wins over a name, and a name counts only where it is unique', () => {
  const all = [
    { id: 'one', names: ['one', 'two'] },
    { id: 'two', names: ['two', 'Other'] },
    { id: 'three', names: ['three', 'OTHER '] },
  ]
  const ids = (word: string) => meantBy(word, all, ({ names }) => names).map(({ id }) => id)
  assert.deepEqual(ids('two'), ['two'])
  assert.deepEqual(ids('TWO'), ['one', 'two'])
  assert.deepEqual(ids('other'), ['two', 'three'])
  assert.deepEqual(ids('three '), ['three'])
  assert.deepEqual(ids(' '), [])
  assert.deepEqual(ids('x'.repeat(1_000_000)), [])
})
