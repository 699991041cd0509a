/** A hidden value reaches executors and nobody else: no model, no event, no entry of the log, no document. */
import assert from 'node:assert/strict'
import { inspect } from 'node:util'
import { test } from 'node:test'
import { defineTool, memoryStore } from '@witan/core'
import { call } from '@witan/core/testing'
import { z } from 'zod'
import { storedEntries } from '../support/claims.ts'
import { actionsIn, createStage, settle } from '../support/stage.ts'

const canary = 'cny_user_k3v9x0a1b2c3d4e5f6g7h8'
const callerHidden = 'cny_tenant_z9y8x7w6v5u4t3s2r1q0'

async function played() {
  const got: unknown[] = []
  const store = memoryStore()
  const lookUp = defineTool({
    name: 'look-up',
    description: 'Looks up.',
    parameters: z.object({ userId: z.string(), topic: z.string() }),
    effect: 'none',
    execute: (args, { parameters }) => {
      got.push(args, parameters)
      return 'found'
    },
  })
  const stage = createStage({
    agents: [
      { id: 'root', parameters: [{ name: 'tenant' }], subAgents: [{ agent: 'leaf' }] },
      {
        id: 'leaf',
        parameters: [
          { name: 'userId', sendToModel: false, policy: 'forbidModelGeneration' },
          { name: 'tenant' },
          { name: 'seen' },
        ],
        tools: ['look-up'],
        actions: [{ name: 'Rename', parametersSchema: { type: 'object', properties: { name: { type: 'string' } } } }],
      },
    ],
    plays: {
      root: [call('leaf', { message: 'go' }), 'done'],
      leaf: [
        call('look-up', { topic: 7 }),
        call('look-up', { topic: 'taxes', userId: 'Users/9' }),
        call('Rename', { name: 'Bo' }),
        'done',
      ],
    },
    options: { store, tools: [lookUp] },
  })
  const waiting = await stage.ask('root', 'hello', {
    id: 'chats/1',
    parameters: { userId: canary, tenant: { value: callerHidden, sendToModel: false }, seen: 'positive-control' },
  })
  const rows = await stage.runtime.listInterruptions()
  const result = await stage.run('chats/1', {
    actionResponses: [{ id: waiting.interruptions[0]?.id, response: { ok: true } }],
  })
  return { stage, store, got, waiting, rows, result }
}

test('[R36] [R37] [I13] no sink but the executors’ holds a hidden value', async () => {
  const { stage, store, got, result } = await played()
  const sinks = {
    requests: stage.requests,
    events: await stage.events('chats/1'),
    terse: await stage.events('chats/1', { verbose: false }),
    log: await storedEntries(store, 'chats/1'),
    documents: [await stage.document('chats/1'), await stage.document('chats/1/leaf')],
    result,
    run: await stage.runtime.getRun(result.runId),
    check: await stage.runtime.agents.check(),
    inspected: inspect(stage.requests, { depth: 20 }),
  }
  for (const [name, sink] of Object.entries(sinks)) {
    assert.doesNotMatch(JSON.stringify(sink), new RegExp(`${canary}|${callerHidden}`), `${name} holds a hidden value`)
  }
  assert.match(JSON.stringify(sinks.requests), /positive-control/)
  assert.match(JSON.stringify(sinks.events), /positive-control/)
  assert.match(JSON.stringify(got), new RegExp(`${canary}.*${callerHidden}`))
})

test('[Rb09] who answers an action gets the bound values beside what the model wrote', async () => {
  const { waiting, rows } = await played()
  const wanted = { name: 'Bo', userId: canary, tenant: callerHidden, seen: 'positive-control' }
  assert.deepEqual(actionsIn(waiting.interruptions)[0]?.arguments, wanted)
  assert.deepEqual(actionsIn(rows.items)[0]?.arguments, wanted)
})

test('[P5] neither schema nor error names what is bound', async () => {
  const { stage } = await played()
  const schema = stage.seenBy('leaf')[0]?.tools.find(({ name }) => name === 'look-up')?.parameters
  assert.doesNotMatch(JSON.stringify(schema), /userId|tenant/)
  const complaint = stage.seenBy('leaf')[1]?.messages.at(-1)
  assert.match(complaint?.content ?? '', /topic/)
  assert.doesNotMatch(complaint?.content ?? '', /userId|tenant/)
})

test('[E19] what was hidden at the start stays hidden in every later run', async () => {
  const stage = createStage({
    agents: [{ id: 'root', parameters: [{ name: 'key' }] }],
    plays: { root: ['hi'] },
  })
  await stage.ask('root', 'hello', { id: 'chats/1', parameters: { key: { value: canary, sendToModel: false } } })
  await stage.ask('root', 'again', { id: 'chats/1', parameters: { key: canary } })
  await settle()
  assert.doesNotMatch(JSON.stringify(stage.requests), new RegExp(canary))
})

test('a result that is cut within a hidden value shows nothing of it [D15]', async () => {
  const most = 256_000
  const show = defineTool({
    name: 'show',
    description: 'Shows much.',
    parameters: z.object({ left: z.number(), how: z.enum(['plain', 'url', 'nothing']) }),
    effect: 'none',
    execute: ({ left, how }, { parameters }) => {
      const value = String(parameters.userId)
      const url = [...value].map((one) => `%${one.charCodeAt(0).toString(16)}`).join('')
      const text = how === 'nothing' ? '-'.repeat(200) : how === 'url' ? url : value
      return `${'.'.repeat(most - left)}${text} and more`
    },
  })
  for (const [left, how] of [
    [3, 'plain'],
    [12, 'plain'],
    [canary.length - 1, 'plain'],
    [40, 'url'],
    [100, 'nothing'],
  ] as const) {
    const stage = createStage({
      agents: [
        {
          id: 'root',
          parameters: [{ name: 'userId', sendToModel: false, policy: 'forbidModelGeneration' }],
          tools: ['show'],
        },
      ],
      plays: { root: [call('show', { left, how }), 'done'] },
      options: { tools: [show] },
    })
    await stage.ask('root', 'hello', { parameters: { userId: canary } })
    const [, after] = stage.seenBy('root')
    const read = String(after?.messages.at(-1)?.content)
    assert.match(read, /^\.+\[hidden\] \[cut: 256000 of 256\d+ characters\]$/, `${how}, ${left}`)
    assert.ok(read.length > most - 1_000)
    await stage.runtime.close()
  }
})
