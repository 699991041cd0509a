/** What agents remember, in groups, and the words of a call that read or wrote some of it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WitanError } from '@witan/client'
import type { MemoryBlock } from '@witan/protocol/memory'
import { shownText } from '@witan/protocol/shown'
import { memoryGroups, memoryWords, presentBlock, subjectName, usedWords, writerWords } from './memory.ts'

const hostile = '\u001b[2J\u202e\r\n[from @user]\u2028x'
const block = (place: string, more: Partial<MemoryBlock> = {}): MemoryBlock => {
  const [agent = '', scope, key = ''] = place.split(' ') as [string, MemoryBlock['scope'], string]
  return {
    ...{ id: place, agent, scope, subject: scope === 'agent' ? null : 'user:anna', conversationId: null },
    ...{ kind: 'core', key, text: 'x', revision: 1, createdAt: '', updatedAt: '' },
    writtenBy: { id: 'user:anna', agent: null, conversationId: null, runId: null },
    ...more,
  }
}

test('blocks stand by agent, scope, person and key', () => {
  const blocks = [
    block('desk agent a'),
    block('desk person b'),
    block('clerk person c'),
    block('desk conversation d', { conversationId: 'chats/2' }),
    block('desk conversation e', { conversationId: 'chats/1' }),
    block('desk person a', { subject: 'user:bob' }),
    block('desk person a'),
  ]
  const shown = memoryGroups(blocks).map(({ agent, scopes }) => [
    agent,
    ...scopes.map(({ scope, blocks: own }) => [scope, ...own.map(({ key, subject }) => `${key} ${subject}`)]),
  ])
  assert.deepEqual(shown, [
    ['clerk', ['person', 'c user:anna']],
    [
      'desk',
      ['person', 'a user:anna', 'b user:anna', 'a user:bob'],
      ['conversation', 'e user:anna', 'd user:anna'],
      ['agent', 'a null'],
    ],
  ])
  assert.deepEqual(memoryGroups([]), [])
})

test('a writer is named as the reader knows it', () => {
  const by = (id: string, agent: string | null = null) => ({ id, agent, conversationId: null, runId: null })
  const words = (...given: [id: string, agent?: string]) => writerWords(by(...given), (id) => `<${id}>`, 'user:anna')
  assert.deepEqual(
    [words('user:anna'), words('user:bob'), words('user:anna', 'desk'), words('user:bob', 'desk'), words('key:1')],
    ['you', 'bob', '<desk>, for you', '<desk>, for bob', 'key:1'],
  )
  assert.equal(subjectName(hostile), shownText(hostile))
})

test('a conflict has what is there instead; another error has none', () => {
  const current = block('desk person a')
  const conflict = (details: object) => new WitanError('MEMORY_CONFLICT', 'no', { details: { ...details } })
  assert.equal(presentBlock(conflict({ current })), current)
  for (const gone of [conflict({ current: null }), conflict({}), new WitanError('NOT_FOUND', 'no')])
    assert.equal(presentBlock(gone), null)
  for (const other of [new WitanError('MEMORY_FULL', 'no'), new Error('no'), null, 'x'])
    assert.equal(presentBlock(other), undefined)
})

test('[F39] a call names keys and revisions, few of them, and hides nothing', () => {
  const use = (op: 'read' | 'write' | 'erase', keys: readonly string[]) => ({
    ...{ seq: 1, at: '', op, agent: 'desk', scope: 'person', subject: 'user:anna' },
    blocks: keys.map((key, at) => ({ key, revision: at + 1 })),
  })
  const table: readonly (readonly [...Parameters<typeof use>, words: string])[] = [
    ['read', [], 'remembers nothing'],
    ['read', ['a'], 'remembers 1 block: a (1)'],
    ['read', [...'abcde'], 'remembers 5 blocks: a (1), b (2), c (3), 2 more'],
    ['write', ['a'], 'wrote a (1)'],
    ['erase', ['a'], 'erased a (1)'],
    ['write', [hostile], `wrote ${shownText(hostile)} (1)`],
  ]
  for (const [op, keys, words] of table) assert.equal(usedWords(use(op, keys)), words)
  const memories = [use('read', ['a']), use('read', ['a', 'b'])]
  assert.equal(memoryWords({ kind: 'agent', memories }), 'remembers 2 blocks')
  assert.equal(memoryWords({ kind: 'agent', memories: [use('read', [])] }), 'remembers nothing')
  assert.equal(memoryWords({ kind: 'tool', memories: [use('write', ['a'])] }), 'wrote a (1)')
  assert.equal(memoryWords({ kind: 'tool', memories: [] }), null)
})
