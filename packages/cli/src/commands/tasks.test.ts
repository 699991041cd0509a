/** What `witan tasks show` says of a task that waits: for what, for whom, and how it is answered. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createClient } from '@witan/client'
import { defineAgent, defineTool } from '@witan/core'
import { call, lastUserMessage, scriptedModel, toolResults } from '@witan/core/testing'
import { loadConfig, startServer, type WitanServer } from '@witan/server'
import { z } from 'zod'
import { askConfig, witan } from '../testing/witan.ts'

const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  parameters: z.object({ amount: z.number() }),
  execute: () => 'paid',
})
const payer = defineAgent({
  id: 'payer',
  instructions: 'Pay.',
  model: scriptedModel((request) => toolResults(request)[0] ?? call('pay', { amount: 900 }), { id: 'scripted/payer' }),
  tools: [pay],
  approvals: ['pay'],
})
const buyer = defineAgent({
  id: 'buyer',
  instructions: 'Buy.',
  model: scriptedModel(
    (request) => {
      if (toolResults(request).length > 0) return 'bought'
      if (lastUserMessage(request) === 'pay') return call('payer', { message: 'pay' })
      return call('ask_user', { user: 'anna', message: 'How many boxes?' })
    },
    { id: 'scripted/buyer' },
  ),
  users: [{ id: 'anna' }, { id: 'bob' }],
  subAgents: [{ agent: 'payer' }],
})
const office = defineAgent({
  id: 'office',
  instructions: 'Have it bought.',
  model: scriptedModel(
    (request, turn) => (turn === 0 ? call('buyer', { message: lastUserMessage(request) }) : 'It is being bought.'),
    { id: 'scripted/office' },
  ),
  subAgents: [{ agent: 'buyer', blocking: 'never' }],
})

describe('a task that waits', () => {
  let server: WitanServer
  before(async () => {
    const config = await loadConfig({ file: askConfig, env: { WITAN_LOG_LEVEL: 'error' } })
    server = await startServer({ ...config, agents: [office, buyer, payer] })
  })
  after(() => server.close())

  const waiting = async (prompt: string) => {
    const client = createClient({ url: server.url })
    const { tasks, conversationId } = await client.conversation('office').run(prompt)
    const taskId = tasks[0]?.taskId ?? ''
    const stop = new AbortController()
    for await (const { type } of client.events(conversationId, { signal: stop.signal }))
      if (type.endsWith('_required')) break
    stop.abort()
    while ((await client.tasks.get(taskId)).status !== 'waiting') await new Promise(setImmediate)
    const { interruptions } = await client.conversations.get(conversationId)
    client.close()
    return { taskId, asked: interruptions[0]?.id ?? '' }
  }

  test('says who is asked what, and how that is answered', async () => {
    const one = await waiting('boxes')
    const other = await waiting('pay')
    const { out, code } = await witan(['tasks', 'show', one.taskId, '--url', server.url])
    assert.equal(code, 0)
    assert.match(out, /^◆ buyer {2}waiting/)
    assert.match(out, /\n◆ buyer writes {2}buyer\/ask_user {2}for anna\n {2}How many boxes\?\n/)
    assert.ok(out.includes(`\n  witan interruptions answer ${one.asked} "…" --url ${server.url}\n`), out)
    assert.ok(!out.includes(other.asked), 'nothing of another task')
  })

  test('also where an agent below it waits', async () => {
    const { taskId, asked } = await waiting('pay')
    const { out } = await witan(['tasks', 'show', taskId, '--url', server.url])
    assert.match(out, /\n◆ payer wants to call pay {2}buyer\/payer\/pay\n {2}amount {2}900\n/)
    assert.ok(out.includes(`\n  witan interruptions answer ${asked} --approve | --deny --url ${server.url}\n`), out)
  })
})
