/** Callers in words. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { callerWords } from './caller-words.ts'

test('[C31] [M24] who may call, and for whom, in words', () => {
  const rows: readonly (readonly [names: readonly string[], words: string])[] = [
    [[], 'everybody of this database'],
    [['user:anna'], 'the person anna'],
    [['role:staff', 'user:anna'], 'anybody in the role staff and the person anna'],
    [['key:ab12'], 'the API key ab12'],
    [['@a@b.test'], '@a@b.test'],
    [['@*'], 'any agent with an address'],
    [['anonymous'], 'a caller without a credential'],
    [['for:mailto:a@b.test', '@*@b.test'], 'any agent of b.test acting for mailto:a@b.test'],
    [
      ['@a@b.test', 'for:@c@c.test', 'from:mailto:a@b.test'],
      '@a@b.test acting for @c@c.test and in work that began with mailto:a@b.test',
    ],
  ]
  for (const [names, words] of rows) assert.equal(callerWords(names), words)
})
