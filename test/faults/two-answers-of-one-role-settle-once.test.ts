/** Two servers on one PostgreSQL database, as processes of their own: what two people do at the same moment happens once. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { assertEvents } from '../acceptance/support/claims.ts'
import { type Cluster, createCluster, type Member } from '../acceptance/support/cluster.ts'
import { agent, segment, until } from '../acceptance/support/stage.ts'
import { toolContents } from '../acceptance/support/transcript.ts'
import type { RunResult } from '../acceptance/support/wire.ts'

const rounds = 12

let cluster: Cluster
let a: Member
let b: Member

before(async () => {
  cluster = await createCluster()
  ;[a, b] = await Promise.all([cluster.serve(), cluster.serve()])
  await a.save(agent('root', { users: [{ role: 'buyer' }] }))
  await until(
    () => b.call('GET', '/api/v1/agents/root'),
    ({ status }) => status === 200,
  )
})
after(() => cluster?.close())

test('[E58] [D11] of two answers of one role on two servers exactly one counts, and the agent reads that one', async (context) => {
  cluster.model.on('root', (seen) => {
    const isTold = seen.body.messages.at(-1)?.role === 'tool'
    return isTold ? { text: 'noted' } : { calls: [{ name: 'ask_user', args: { message: 'Who?' } }] }
  })
  const won = { a: 0, b: 0 }
  for (let round = 0; round < rounds; round += 1) {
    const id = `chats/${round}`
    const { run } = await a.begin('root', { id, prompt: 'go' })
    const open = (run as RunResult).interruptions[0]
    const answer = (from: Member, words: string) =>
      from.call('POST', `/api/v1/interruptions/${open?.id}/answer`, { body: { answer: words } })
    const [one, other] = await Promise.all([answer(a, 'A was first'), answer(b, 'B was first')])
    const statuses = [one.status, other.status]
    assert.deepEqual([...statuses].sort(), [200, 409], `${one.text} ${other.text}`)
    const winner = one.status === 200 ? 'a' : 'b'
    won[winner] += 1
    await until(
      () => a.conversation(id),
      ({ status }) => status === 'idle',
    )
    const events = await b.events(id)
    assertEvents(events)
    assert.equal(events.filter(({ type }) => type === 'resolved').length, 1)
    const read = toolContents(cluster.model.of('root').at(-1)).at(-1)
    assert.equal(read, winner === 'a' ? 'local: A was first' : 'local: B was first')
  }
  context.diagnostic(`${rounds} rounds; ${won.a} times the first server won, ${won.b} times the second`)
})

test('a person who joins on two servers at once joins once, and leaves once', async () => {
  for (let round = 0; round < rounds; round += 1) {
    const id = `people/${round}`
    await a.begin('root', { id })
    const at = `/api/v1/conversations/${segment(id)}/participants`
    const join = (from: Member) => from.call('POST', at, { body: { id: 'anna' } })
    const joined = await Promise.all([join(a), join(b)])
    assert.deepEqual(joined.map(({ status }) => status).sort(), [200, 201])
    const left = await Promise.all([a.call('DELETE', `${at}/anna`), b.call('DELETE', `${at}/anna`)])
    assert.deepEqual(left.map(({ status }) => status).sort(), [204, 404])
    const changes = (await b.events(id)).map(({ content }) => content['change'])
    assert.deepEqual(changes, ['joined', 'left'])
  }
})
