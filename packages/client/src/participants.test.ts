/** The people of a conversation over the client: what is sent, and what comes of it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClient } from './client.ts'
import { createConversationFold } from './conversation-fold.ts'
import { fastTiming } from './testing/fast-timing.ts'

test('people are listed page after page, added and removed', async () => {
  const seen: unknown[] = []
  const anna = { id: 'anna', name: null, roles: [], joinedAt: '2026-01-01T00:00:00.000Z', leftAt: null }
  const replies: readonly [number, unknown][] = [
    [200, { items: [anna], nextCursor: 'anna' }],
    [200, { items: [{ ...anna, id: 'bob' }], nextCursor: null }],
    [201, anna],
    [204, null],
  ]
  let next = 0
  const witan = createClient({
    url: 'http://witan.test',
    timing: fastTiming(),
    fetch: async (input, init) => {
      const { pathname, search } = new URL(String(input))
      seen.push([`${init?.method} ${pathname}${search}`, typeof init?.body === 'string' ? JSON.parse(init.body) : null])
      const [status, body] = replies[next++] ?? [500, {}]
      return new Response(status === 204 ? null : JSON.stringify(body), {
        status,
        headers: { 'content-type': 'application/json' },
      })
    },
  })
  const { participants } = witan.conversations
  const ids: string[] = []
  for await (const { id } of participants.all('chats/1', { limit: 1 })) ids.push(id)
  assert.deepEqual(ids, ['anna', 'bob'])
  assert.deepEqual(await participants.add('chats/1', { id: 'anna', roles: [] }), anna)
  await participants.remove('chats/1', 'anna?é')
  const at = '/api/v1/conversations/chats:1/participants'
  assert.deepEqual(seen, [
    [`GET ${at}?limit=1`, null],
    [`GET ${at}?limit=1&cursor=anna`, null],
    [`POST ${at}`, { id: 'anna', roles: [] }],
    [`DELETE ${at}/anna%3F%C3%A9`, null],
  ])
  witan.close()
})

test('a fold tells who joined and left, and who wrote each message', () => {
  const fold = createConversationFold()
  const event = (seq: number, type: string, content: Record<string, unknown>) =>
    fold.take({
      ...{ seq, type, kind: null, callId: 'c', parentCallId: null, rootCallId: 'c', conversationId: 'chats/1' },
      ...{
        document: 'chats/1',
        author: content['author'] ?? 'user',
        authorKind: 'user',
        agentPath: 'root',
        invocationId: 'c',
        branch: null,
      },
      ...{ branchPath: [], at: '2026-01-01T00:00:00.000Z', content, actions: {} },
    } as never)
  const bob = { user: 'bob', name: 'Bob', roles: [] }
  event(1, 'participant', { ...bob, change: 'joined', by: 'user:anna' })
  event(2, 'message', { author: 'bob', authorKind: 'user', text: 'hello' })
  event(3, 'participant', { ...bob, name: 7, change: 'left', by: 'user:bob' })
  assert.deepEqual(
    fold.view.changes.map(({ seq, user, name, change, by }) => [seq, user, name, change, by]),
    [
      [1, 'bob', 'Bob', 'joined', 'user:anna'],
      [3, 'bob', null, 'left', 'user:bob'],
    ],
  )
  assert.deepEqual(
    fold.view.messages.map(({ author, text }) => [author, text]),
    [['bob', 'hello']],
  )
})
