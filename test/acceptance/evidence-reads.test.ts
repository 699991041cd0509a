/** Tasks of callers that only their evidence lets in: each finds its own again, as long as what its evidence proved lets it in. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type A2aClient, type A2aMessage, type A2aTask, a2aClient, answerOf, message } from './support/a2a.ts'
import { assertProblem } from './support/claims.ts'
import { createGate } from './support/model-server.ts'
import { createRemoteServer, type RemoteServer } from './support/remote-server.ts'
import { agent, createStage, type Stage } from './support/stage.ts'

const bots = 'bots.example'
const [anna, bob, boss] = ['@anna@a.test', '@bob@a.test', 'mailto:boss@a.test']
/** An agent that the address of evidence alone opens, and one that needs for whom it acts besides. */
const entries = { byword: [anna, bob], acting: [[anna, `for:${boss}`]] }
type Local = keyof typeof entries

describe('a caller that evidence alone lets in', () => {
  let stage: Stage
  let remote: RemoteServer

  const open = (local: Local, call: readonly (string | readonly string[])[]) =>
    stage.save(agent(local, { address: local, access: { call } }))

  before(async () => {
    remote = await createRemoteServer('a.test')
    const resolve = { 'a.test': remote.url }
    stage = await createStage({
      store: 'file',
      prepare: () => ({ server: { domain: bots }, federation: { resolve } }),
    })
  })
  after(async () => {
    await stage.close()
    await remote.close()
  })

  /** The wire credential is that of `sub`, which no list names. */
  const calling = (local: Local | '', sub = '@a@a.test'): A2aClient =>
    a2aClient(
      () => stage.witan,
      local === '' ? '/a2a' : `/a2a/${local}`,
      (params) => {
        const sent = (params as { message?: A2aMessage } | undefined)?.message
        const aud = local === '' ? `https://${bots}` : `@${local}@${bots}`
        return remote.token({ aud, sub, ...(sent === undefined ? {} : { jti: sent.messageId }) })
      },
    )
  const about = (subject: string, local: Local, more: Partial<A2aMessage> = {}) => {
    const evidence = remote.evidence({ subject, audience: `@${local}@${bots}`, on_behalf_of: [boss] })
    return message('go', { ...more, metadata: { mentionable: { identity_evidence: [evidence] } } })
  }
  const listed = async (client: A2aClient, params: object = {}) => {
    const { result } = (await client.rpc<{ tasks: A2aTask[]; totalSize: number }>('ListTasks', params)).body
    assert.equal(result?.totalSize, result?.tasks.length)
    return result?.tasks.map(({ id }) => id).sort()
  }
  const missing = async (client: A2aClient, id: string) => {
    for (const method of ['GetTask', 'CancelTask', 'SubscribeToTask'])
      assert.equal((await client.rpc(method, { id })).body.error?.code, -32001, method)
  }

  for (const local of ['byword', 'acting'] as const)
    test(`[M03] [M24] finds its task again at an agent whose list is ${JSON.stringify(entries[local])}`, async () => {
      await open(local, entries[local])
      stage.model.on(local, () => ({ text: 'done' }))
      const client = calling(local)
      const task = await client.send(about(anna, local))
      assert.equal(answerOf(task), 'done')
      assertProblem(await client.rpc('SendMessage', { message: message('go') }), { status: 404, code: 'NOT_FOUND' })
      assert.equal(answerOf(await client.task(task.id)), 'done')
      assert.equal((await client.rest<A2aTask>('GET', `/tasks/${task.id}`)).body.id, task.id)
      assert.deepEqual(await listed(client), [task.id])
      assert.deepEqual(await listed(client, { contextId: task.contextId, status: 'TASK_STATE_COMPLETED' }), [task.id])
      assert.ok((await listed(calling('')))?.includes(task.id), 'at the hub')
      // Another caller has nothing of it, whoever its own evidence is about.
      const other = calling(local, '@b@a.test')
      const own = await other.send(about(anna, local))
      assert.deepEqual(await listed(other), [own.id])
      await missing(other, task.id)
      // Who is let in no more finds nothing.
      await open(local, ['@z@a.test'])
      assert.deepEqual(await listed(client), [])
      await missing(client, task.id)
    })

  test('[M24] finds what it began for one subject, and not what it began for another that is let in no more', async () => {
    await open('byword', entries.byword)
    stage.model.on('byword', () => ({ text: 'done' }))
    const client = calling('byword', '@c@a.test')
    const [first, second] = [await client.send(about(anna, 'byword')), await client.send(about(bob, 'byword'))]
    assert.deepEqual(await listed(client), [first.id, second.id].sort())
    await open('byword', [bob])
    assert.deepEqual(await listed(client), [second.id])
    assert.equal((await client.task(second.id)).id, second.id)
    await missing(client, first.id)
    await open('acting', [[anna, 'for:mailto:else@a.test']])
  })

  test('[M03] reads a stream and waits for a reply for longer than callers go on unchecked, and cancels', async () => {
    await open('byword', entries.byword)
    const gate = createGate()
    stage.model.on('byword', () => ({ text: 'late', hold: gate }))
    const client = calling('byword', '@d@a.test')
    const task = await client.send(about(anna, 'byword'), { returnImmediately: true })
    const stream = client.frames('SubscribeToTask', { id: task.id })
    const joined = client.send(about(anna, 'byword', { taskId: task.id }))
    setTimeout(() => gate.open(), 3_200)
    const frames = await stream
    assert.equal(frames.at(-1)?.statusUpdate?.status.state, 'TASK_STATE_COMPLETED')
    assert.equal((await joined).id, task.id)
    const held = createGate()
    stage.model.on('byword', () => ({ text: 'late', hold: held }))
    const next = await client.send(about(anna, 'byword'), { returnImmediately: true })
    assert.deepEqual(await listed(client, { status: 'TASK_STATE_WORKING' }), [next.id])
    assert.equal((await client.cancel(next.id)).status.state, 'TASK_STATE_CANCELED')
    held.open()
  })

  test('[M03] loses a stream within three seconds once the list lets in its subject no more', async () => {
    await open('byword', entries.byword)
    const gate = createGate()
    stage.model.on('byword', () => ({ text: 'late', hold: gate }))
    const client = calling('byword', '@e@a.test')
    const task = await client.send(about(anna, 'byword'), { returnImmediately: true })
    const began = performance.now()
    const stream = client.frames('SubscribeToTask', { id: task.id })
    await open('byword', [bob])
    const frames = await stream
    assert.ok(performance.now() - began < 4_500)
    assert.ok(frames.every(({ statusUpdate }) => statusUpdate?.status.state !== 'TASK_STATE_COMPLETED'))
    gate.open()
  })
})
