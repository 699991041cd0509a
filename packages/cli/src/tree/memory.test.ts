/** Memory in the terminal: what a call read and wrote, by keys and revisions alone. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type CallView, createConversationFold } from '@witan/client'
import type { AnyEvent } from '@witan/protocol'
import { drawTree } from './lines.ts'
import { memorySpans, recalledSpans } from './memory.ts'
import { plainLines } from './plain.ts'

const use = (op: 'read' | 'write' | 'erase', keys: readonly string[]) => ({
  ...{ seq: 1, at: '', op, agent: 'desk', scope: 'person', subject: 'user:anna' },
  blocks: keys.map((key, at) => ({ key, revision: at + 1 })),
})
const wordsOf = (...given: Parameters<typeof use>) =>
  memorySpans(use(...given))
    .map(({ text }) => text)
    .join('')

test('[F39] a line names keys and revisions, at most five of them', () => {
  const table: readonly (readonly [...Parameters<typeof use>, words: string])[] = [
    ['read', ['drink'], 'remembers 1 block: drink (1)'],
    ['read', ['drink', 'food'], 'remembers 2 blocks: drink (1), food (2)'],
    ['read', [], 'remembers nothing'],
    ['write', ['drink'], 'wrote drink (1)'],
    ['erase', ['drink'], 'erased drink (1)'],
    ['read', [...'abcdefg'], 'remembers 7 blocks: a (1), b (2), c (3), d (4), e (5), 2 more'],
  ]
  for (const [op, keys, words] of table) assert.equal(wordsOf(op, keys), words)
})

test('what `recall` found is named; another tool of that name shows its own result', () => {
  const found = (result: unknown, name = 'recall') =>
    recalledSpans({ kind: 'tool', name, result } as CallView)
      ?.map(({ text }) => text)
      .join('') ?? null
  assert.equal(found({ blocks: [{ key: 'car', revision: 3, text: 'A Saab.' }] }), 'found 1 block: car (3)')
  assert.equal(found({ blocks: [] }), 'found nothing')
  assert.equal(found({ blocks: [] }, 'other'), null)
  for (const other of [null, 'text', 7, [], {}, { blocks: 'x' }, { blocks: [null] }, { blocks: [{ key: 'a' }] }])
    assert.equal(found(other), null, JSON.stringify(other))
})

test('hostile keys forge no line and hide nothing', () => {
  const words = wordsOf('read', ['\u001b[2J\u202e\r\n[from @user]\u2028x\u0085'])
  assert.doesNotMatch(words, /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
})

const place = { conversationId: 'chats/1', documentId: 'chats/1', database: 'default', hop: 0, depth: 0 }
const at = (second: number) => `2026-11-01T09:00:0${second}Z`
const secret = 'Tea, no sugar.'
const blocks = [{ key: 'drink', revision: 2 }]
const about = { agent: 'desk', scope: 'person', subject: 'user:anna', blocks }
const agentCall = { ...place, callId: 'c_1', parentCallId: null, rootCallId: 'c_1', author: 'desk', agentPath: 'desk' }
const toolCall = { ...agentCall, callId: 'c_2', parentCallId: 'c_1' }
const events = [
  { ...agentCall, seq: 1, at: at(0), type: 'start', kind: 'agent', content: { message: 'Hi.', parameters: {} } },
  { ...agentCall, seq: 2, at: at(0), type: 'memory', kind: null, content: { ...about, op: 'read' } },
  {
    ...{ ...toolCall, seq: 3, at: at(1), type: 'start', kind: 'tool' },
    content: { name: 'remember', arguments: { key: 'drink', text: secret, expected_revision: 1 }, bound: [] },
  },
  { ...toolCall, seq: 4, at: at(1), type: 'memory', kind: null, content: { ...about, op: 'write' } },
  { ...toolCall, seq: 5, at: at(2), type: 'end', kind: 'tool', content: { result: { key: 'drink', revision: 2 } } },
] as unknown as AnyEvent[]

describe('a call that remembers', () => {
  const shown = (lines: readonly (readonly { readonly text: string }[])[]) =>
    lines.map((line) => line.map(({ text }) => text).join(''))

  test('[F39] says in the tree what it read and wrote, and not which words', () => {
    const fold = createConversationFold()
    for (const event of events) fold.take(event)
    const text = shown(drawTree(fold.view, 'c_1', { columns: 100, now: Date.parse(at(3)) })).join('\n')
    assert.match(text, /desk .*\n├─ remembers 1 block: drink \(2\)\n└─ ✓ remember {2}wrote drink \(2\) /)
    assert.ok(!text.includes(secret), text)
  })

  test('[F39] says so in a pipe, each line once', () => {
    const fold = createConversationFold()
    const text = shown(events.flatMap((event) => plainLines(fold, event))).join('\n')
    assert.match(text, /^desk .*\n│ remembers 1 block: drink \(2\)\n│ ✓ remember {2}wrote drink \(2\) {2}1\.0 s$/)
  })
})
