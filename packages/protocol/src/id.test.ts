/** What may be a conversation's id: nothing in it is read as something else by a URL, a file system or a document's path. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { conversationIdPattern, conversationPrefixPattern } from './id.ts'

test('[E8] [Rb34] a conversation id has two plain halves, and the second is no way up', () => {
  for (const id of ['chats/1', 'a/b', 'A_1-z/x.y-z_0', 'chats/.hidden', 'chats/1.', `chats/${'x'.repeat(128)}`])
    assert.ok(conversationIdPattern.test(id), id)
  for (const id of [
    'chats/.',
    'chats/..',
    'chats/a..b',
    'chats/..a',
    'chats/a..',
    'chats/',
    'chats',
    '/1',
    'chats/1/2',
    'chats/a b',
    'chats/%2e%2e',
    'chats/a~2',
    'chats/a$b',
    'chats/1\n',
    `chats/${'x'.repeat(129)}`,
    `${'x'.repeat(65)}/1`,
    'ch.ats/1',
  ])
    assert.ok(!conversationIdPattern.test(id), JSON.stringify(id))
  assert.ok(conversationPrefixPattern.test('chats/'))
  assert.ok(!conversationPrefixPattern.test('../'))
})
