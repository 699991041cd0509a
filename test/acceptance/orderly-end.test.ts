/** A process that is told to end does so in time, whatever hangs. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openProxy } from '../postgres/support/proxy.ts'
import { watchNoise } from '../support/noise.ts'
import { createCluster } from './support/cluster.ts'
import { createGate } from './support/model-server.ts'
import { agent, until } from './support/stage.ts'

test('a server and a worker whose database has fallen silent end within ten seconds, and say that nothing was handed on', async () => {
  const cluster = await createCluster()
  after(() => cluster.close())
  const proxy = await openProxy(cluster.database.adminUrl)
  after(() => proxy.close())
  const beyond = `store: { url: ${JSON.stringify(proxy.url)} },`
  const [server, worker] = await Promise.all([cluster.serve(beyond), cluster.work(beyond)])
  await server.save(agent('slow'))
  const gate = createGate()
  cluster.model.on('slow', ({ nth }) => (nth === 1 ? { text: 'never heard', hold: gate } : { text: 'done' }))
  await server.begin('slow', { id: 'chats/slow' })
  await server.runAnswer('chats/slow', { prompt: 'go', wait: false })
  await gate.entered
  proxy.silence(true)
  const noise = watchNoise()
  const [served, worked] = await Promise.all([server.stop(), worker.stop()])
  noise.stop()
  assert.deepEqual([served.code, worked.code], [1, 1])
  for (const { ms } of [served, worked]) assert.ok(ms < 10_000 + noise.sum(), `${Math.round(ms)} ms`)
  assert.match(worker.output(), /\{"type":"stopped","handedOn":false\}/)
  const next = await cluster.serve()
  const { runs } = await until(
    () => next.conversation('chats/slow'),
    ({ status }) => status === 'idle',
  )
  assert.deepEqual(
    runs.map(({ status }) => status),
    ['completed'],
  )
  gate.open()
})
