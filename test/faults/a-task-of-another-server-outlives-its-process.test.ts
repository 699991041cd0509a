/** A2A through crashes: `kill -9` between accept and the first frame, while a stream runs, and while a question waits; and two servers on one store. */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { type A2aClient, a2aClient, answerOf, keyOf, message, type StreamFrame } from '../acceptance/support/a2a.ts'
import { createCluster } from '../acceptance/support/cluster.ts'
import { createGate } from '../acceptance/support/model-server.ts'
import { agent, createStage, type Stage, until } from '../acceptance/support/stage.ts'

const server = { domain: 'bots.example' }
const parsed = (data = '{}') => JSON.parse(data).result as StreamFrame
const free = { id: 'q', text: 'How many?', options: [], multiple: false, freeText: true, required: true }

describe('one server that is killed', () => {
  const stages: Stage[] = []
  after(() => Promise.all(stages.map((stage) => stage.close())))

  async function begin(): Promise<{ stage: Stage; client: A2aClient }> {
    const stage = await createStage({ store: 'file', prepare: () => ({ server }) })
    stages.push(stage)
    await stage.save(agent('docs', { address: 'docs', questions: true }))
    const key = await keyOf(stage.witan, { id: 'user:anna', roles: ['run'] })
    return { stage, client: a2aClient(() => stage.witan, '/a2a/docs', key) }
  }

  test('between accept and the first frame: the same message again is the same task, which ends once', async () => {
    const { stage, client } = await begin()
    const gate = createGate()
    stage.model.on('docs', ({ nth }) => (nth === 1 ? { text: 'lost', hold: gate } : { text: 'found' }))
    const sent = message('x')
    const lost = client.rpc('SendMessage', { message: sent }).catch(() => null)
    await gate.entered
    await stage.witan.kill()
    assert.equal(await lost, null)
    gate.open()
    await stage.witan.start()
    const task = await client.send(sent)
    assert.equal(answerOf(task), 'found')
    assert.equal((await client.send(sent)).id, task.id)
    assert.deepEqual(
      (await stage.conversation(task.contextId)).runs.map(({ runId }) => runId),
      [task.id],
    )
  })

  test('while a stream runs: a later reader follows the same task to its end', async () => {
    const { stage, client } = await begin()
    const gate = createGate()
    const cut = { text: 'early words that are lost', pieces: 6, holdAfter: 3, hold: gate }
    stage.model.on('docs', ({ nth }) => (nth === 1 ? cut : { text: 'whole', pieces: 2 }))
    const sent = message('x')
    const { frames } = await client.stream('SendStreamingMessage', { message: sent })
    const first = parsed((await frames.next()).value?.data).task
    await gate.entered
    await frames.next()
    await stage.witan.kill()
    gate.open()
    await stage.witan.start()
    const again = await client.frames('SendStreamingMessage', { message: sent })
    assert.equal(again[0]?.task?.id, first?.id)
    const done = await until(
      () => client.task(first?.id ?? ''),
      ({ status }) => status.state === 'TASK_STATE_COMPLETED',
    )
    assert.equal(answerOf(done), 'whole')
  })

  test('while a question waits: it is asked still, and its answer goes on', async () => {
    const { stage, client } = await begin()
    stage.model.script('docs', { calls: [{ name: 'ask_question', args: { questions: [free] } }] }, { text: 'nine' })
    const asked = await client.send(message('x'))
    await stage.witan.kill()
    await stage.witan.start()
    assert.deepEqual(await client.task(asked.id), asked)
    const answer = message('9', { taskId: asked.id })
    assert.equal(answerOf(await client.send(answer)), 'nine')
    await stage.witan.kill()
    await stage.witan.start()
    const repeated = await client.send(answer)
    assert.deepEqual([repeated.id, answerOf(repeated)], [asked.id, 'nine'])
  })
})

describe('two servers on one PostgreSQL', () => {
  test('a task that was made on one is read, followed, answered and cancelled on the other', async () => {
    const cluster = await createCluster()
    try {
      const extra = `server: ${JSON.stringify(server)},`
      const [a, b] = await Promise.all([cluster.serve(extra), cluster.serve(extra)])
      await a.save(agent('docs', { address: 'docs', questions: true }))
      await until(
        () => b.call('GET', '/api/v1/agents/docs'),
        ({ status }) => status === 200,
      )
      const key = await keyOf(a as unknown as Stage['witan'], { id: 'user:anna', roles: ['run'] })
      const onA = a2aClient(() => a, '/a2a/docs', key)
      const onB = a2aClient(() => b, '/a2a/docs', key)
      const gate = createGate()
      const ask = { calls: [{ name: 'ask_question', args: { questions: [free] } }] }
      const replies = [
        ask,
        { text: 'nine in all', pieces: 4, holdAfter: 2, hold: gate },
        { text: 'late', hold: createGate() },
      ]
      cluster.model.on('docs', ({ nth }) => replies[nth - 1] ?? { text: 'out of script' })
      const sent = message('x')
      const asked = await onA.send(sent)
      assert.deepEqual(await onB.task(asked.id), asked)
      assert.equal((await onB.send(sent)).id, asked.id, 'the same message on the other server is the same task')
      const answered = onB.frames('SendStreamingMessage', { message: message('9', { taskId: asked.id }) })
      await gate.entered
      const followed = onA.frames('SubscribeToTask', { id: asked.id })
      await until(
        () => onA.task(asked.id),
        ({ status }) => status.state === 'TASK_STATE_WORKING',
      )
      gate.open()
      for (const frames of await Promise.all([answered, followed]))
        assert.equal(frames.at(-1)?.statusUpdate?.status.state ?? frames[0]?.task?.status.state, 'TASK_STATE_COMPLETED')
      assert.equal(answerOf(await onA.task(asked.id)), 'nine in all')
      const late = await onA.send(message('y'), { returnImmediately: true })
      await until(
        async () => cluster.model.of('docs').length,
        (count) => count === 3,
      )
      assert.equal((await onB.cancel(late.id)).status.state, 'TASK_STATE_CANCELED')
      assert.equal((await onA.task(late.id)).status.state, 'TASK_STATE_CANCELED')
      const twice = message('z')
      const both = await Promise.all([onA.send(twice), onB.send(twice)])
      assert.equal(both[0].id, both[1].id, 'one message to both at once is one task')
      const listed = async (client: A2aClient, params: object = {}) => {
        const { result } = (await client.rpc<{ tasks: { id: string }[]; nextPageToken: string }>('ListTasks', params))
          .body
        return result ?? assert.fail('no list')
      }
      const all = await listed(onA)
      assert.deepEqual(
        all.tasks.map(({ id }) => id),
        [both[0].id, late.id, asked.id],
      )
      assert.deepEqual(await listed(onB), all)
      const { tasks, nextPageToken: pageToken } = await listed(onA, { pageSize: 2 })
      assert.deepEqual([...tasks, ...(await listed(onB, { pageSize: 2, pageToken })).tasks], all.tasks)
    } finally {
      await cluster.close()
    }
  })
})
