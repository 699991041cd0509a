/** Tools of MCP servers over restarts, forks and changes: an activation keeps the tools with which it began. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { assertEvents } from './support/claims.ts'
import type { PlayedTool } from './support/mcp-script.ts'
import {
  callTools,
  createMcpStage,
  createPlayed,
  listedIn,
  namesOf,
  type Played,
  readBy,
  text,
  texts,
  toolErrors,
  user,
} from './support/mcp-stage.ts'
import { segment, type Stage, until } from './support/stage.ts'
import type { RunResult } from './support/wire.ts'

const tools: PlayedTool[] = [text('buy', { inputSchema: texts(['what'], ['what']) }), text('look')]

let stage: Stage
let played: Played
before(async () => {
  played = await createPlayed()
  const slow = { tools, calls: { buy: [{ hangs: true }, { text: 'bought' }] } }
  stage = await createMcpStage(
    {
      shop: played.stdio('shop', { tools }),
      moving: played.stdio('moving', { tools }),
      keyed: played.stdio('keyed', slow, { effects: { buy: 'keyed' } }),
      once: played.stdio('once', slow),
    },
    { store: 'file' },
  )
})
after(async () => {
  await stage?.close()
  await played?.close()
})

const restart = async () => {
  await stage.witan.kill()
  await stage.witan.start()
}
const ended = (conversation: string) =>
  until(
    () => stage.conversation(conversation),
    (now) => now.status === 'idle',
  )

describe('a conversation', () => {
  test('has its tools in the next process, and in a fork', async () => {
    const run = await callTools(stage, user('loyal', 'shop'), [['shop_buy', { what: 'milk' }]])
    await restart()
    stage.model.on('loyal', ({ body }) =>
      body.messages.at(-1)?.role === 'tool'
        ? { text: 'done' }
        : { calls: [{ name: 'shop_buy', args: { what: 'tea' } }] },
    )
    const second = await stage.run(run.conversationId, { prompt: 'tea' })
    assert.deepEqual([second.status, readBy(stage, 'loyal').at(-1)], ['completed', '{"what":"tea"}'])
    const { lastSeq } = await stage.conversation(run.conversationId)
    const path = `/api/v1/conversations/${segment(run.conversationId)}/fork`
    const fork = await stage.witan.call<{ id: string }>('POST', path, { body: { seq: lastSeq } })
    assert.equal(fork.status, 201, fork.text)
    await restart()
    const third = await stage.run(fork.body.id, { prompt: 'tea again' })
    assert.deepEqual([third.status, readBy(stage, 'loyal').at(-1)], ['completed', '{"what":"tea"}'])
    const events = await stage.events(fork.body.id)
    assert.equal(listedIn(events, third.runId).mcp[0]?.server, 'shop')
    assertEvents(await stage.events(run.conversationId))
  })
})

describe('a run that waits for an approval', () => {
  const begin = async (id: string): Promise<RunResult> => {
    await stage.save(user(id, 'moving', { use: { approval: 'writes' } }))
    stage.model.script(id, { calls: [{ name: 'moving_buy', args: { what: 'milk' } }] }, { text: 'done' })
    const run = await stage.ask(id, 'go')
    assert.equal(run.status, 'waiting', JSON.stringify(run.error))
    return run
  }
  const approve = async ({ interruptions, conversationId }: RunResult) => {
    const body = { answer: { decision: 'approved' } }
    const said = await stage.witan.call('POST', `/api/v1/interruptions/${interruptions[0]?.id}/answer`, { body })
    assert.equal(said.status, 200, said.text)
    await ended(conversationId)
  }

  test('keeps its tools over a kill, whatever the server lists by then', async () => {
    const run = await begin('kept')
    await stage.witan.kill()
    played.play('moving', { tools: [text('other')] })
    await stage.witan.start()
    await approve(run)
    const offers = stage.model.of('kept').map(namesOf)
    assert.deepEqual(offers, [offers[0], offers[0]])
    assert.deepEqual(readBy(stage, 'kept'), ['{"what":"milk"}'])
    assertEvents(await stage.events(run.conversationId))
    stage.model.on('kept', () => ({ text: 'again' }))
    await stage.run(run.conversationId, { prompt: 'again' })
    assert.deepEqual(namesOf(stage.model.of('kept').at(-1)), ['moving_other'])
  })

  test('gets an error of the call if the server is away by then', async () => {
    played.play('moving', { tools })
    await restart()
    const run = await begin('left')
    await stage.witan.kill()
    played.play('moving', { starts: 'fails' })
    await stage.witan.start()
    await approve(run)
    assert.deepEqual(toolErrors(await stage.events(run.conversationId)), ['MCP_SERVER_UNAVAILABLE'])
    assert.equal((await stage.conversation(run.conversationId)).runs[0]?.status, 'completed')
  })
})

describe('a call that was under way when the process was killed', () => {
  const killed = async (server: string) => {
    const id = `killed-${server}`
    await stage.save(user(id, server))
    stage.model.script(id, { calls: [{ name: `${server}_buy`, args: { what: 'milk' } }] }, { text: 'done' })
    const { id: conversation } = await stage.begin(id)
    await stage.runAnswer(conversation, { prompt: 'go', wait: false })
    await played.untilHeard(server, 'tools/call')
    await restart()
    await ended(conversation)
    assertEvents(await stage.events(conversation))
    return {
      errors: toolErrors(await stage.events(conversation)),
      read: readBy(stage, id),
      calls: played.calls(server),
    }
  }

  test('is made again by the same id if it may be', async () => {
    const { errors, read, calls } = await killed('keyed')
    assert.deepEqual([errors, read, calls.length], [[], ['bought'], 2])
    const ids = calls.map(({ message }) => (message.params?.['_meta'] as Record<string, unknown>)?.['io.witan/callId'])
    assert.equal(ids[0], ids[1])
  })

  test('is not made again if it may happen once only', async () => {
    const { errors, calls } = await killed('once')
    assert.deepEqual([errors, calls.length], [['OUTCOME_UNKNOWN'], 1])
  })
})
