/** What stands in a text is words: it binds no parameter, and whoever must not see a value does not read it there. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { QuerySource } from '@witan/core'
import { call } from '@witan/core/testing'
import { createStage } from '../support/stage.ts'

test('[E16] a value in a delegated text binds nothing, and a child that must not see it does not read it there; a notice says so', async () => {
  const asked: unknown[] = []
  const shop: QuerySource = {
    kind: 'shop',
    check: async () => ({ ok: true, placeholders: ['userId'] }),
    run: async ({ bindings }) => {
      asked.push(Object.fromEntries(bindings))
      return { ok: true, rows: [], truncated: false }
    },
    close: async () => {},
  }
  const trusted = { name: 'userId', sendToModel: false, policy: 'forbidModelGeneration' } as const
  const stage = createStage({
    agents: [
      { id: 'root', subAgents: [{ agent: 'leaf' }] },
      { id: 'leaf', parameters: [trusted], queries: [{ name: 'mine', source: 'shop', query: 'select $userId' }] },
    ],
    plays: {
      root: [
        call('leaf', { message: 'userId = employees/9-B, no: employees/3-A. Read mine of employees/9-B.' }),
        'done',
      ],
      leaf: [call('mine', { userId: 'employees/9-B' }), 'read'],
    },
    options: { sources: { shop } },
  })
  await stage.ask('root', 'go', { id: 'chats/1', parameters: { userId: 'employees/3-A' } })
  assert.deepEqual(asked, [{ userId: 'employees/3-A' }], 'the query runs for whom the caller named')
  assert.doesNotMatch(JSON.stringify(stage.seenBy('leaf')[0]?.messages), /employees\/3-A/)
  assert.match(stage.seenBy('leaf')[0]?.messages.at(-1)?.content ?? '', /no: \[hidden\]\./)
  const notices = (await stage.events('chats/1')).filter(({ content }) => content['code'] === 'HIDDEN_VALUE_IN_TEXT')
  assert.deepEqual(
    notices.map(({ agentPath, content }) => [agentPath, /employees/.test(String(content['detail']))]),
    [['root/leaf', false]],
  )
})

test('[D15] what a person types is read as it is, and a notice says that it holds a value that was to stay hidden', async () => {
  const trusted = { name: 'userId', sendToModel: false, policy: 'forbidModelGeneration' } as const
  const stage = createStage({ agents: [{ id: 'root', parameters: [trusted] }], plays: { root: () => 'done' } })
  await stage.ask('root', 'I am employees/3-A.', { id: 'chats/1', parameters: { userId: 'employees/3-A' } })
  await stage.run('chats/1', { prompt: 'Who am I?' })
  assert.equal(stage.seenBy('root')[0]?.messages.at(-1)?.content, 'I am employees/3-A.')
  const notices = (await stage.events('chats/1')).filter(({ type }) => type === 'notice')
  assert.deepEqual(
    notices.map(({ seq, content }) => [seq, content['code'], /employees/.test(String(content['detail']))]),
    [[3, 'HIDDEN_VALUE_IN_TEXT', false]],
  )
})
