/** A command that is printed to be copied runs nothing but itself. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { answerCommand } from './interruption-lines.ts'
import { shellWord } from './shell-word.ts'

const words = [
  'plain',
  'chats/1',
  '@a@b.c',
  '',
  'two words',
  "it's",
  '$(touch x)',
  '`x`',
  'a;b',
  'a|b',
  'a\nb',
  '-- x',
  '*',
  '~',
  '!1',
  '\\',
  '"',
]

test('a shell reads a printed word as it is', () => {
  for (const word of words)
    assert.equal(execFileSync('/bin/sh', ['-c', `printf %s ${shellWord(word)}`], { encoding: 'utf8' }), word)
  assert.equal(shellWord('chats/1'), 'chats/1')
})

test('ids of a model’s questions are quoted in the command that answers them', () => {
  const question = {
    id: 'q;x',
    text: 'Which?',
    options: [
      { id: '$(x)', label: 'X' },
      { id: 'b', label: 'B' },
    ],
  }
  const command = answerCommand({ kind: 'question', id: 'i_1', questions: [question] } as never)
  assert.equal(command, "witan interruptions answer i_1 --choose 'q;x'='$(x)'|b")
})
