/** Memory and the people that it is about: who reaches it, whom a run works for, groups, forks, erasure. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { ErasedMemory, MemoryBlock, MemoryRevision } from '@witan/protocol/memory'
import { assertProblem } from './support/claims.ts'
import type { CallOut } from './support/exchange.ts'
import { type Call, createKeyedStage } from './support/keyed-stage.ts'
import { agent, segment, type Stage, sub } from './support/stage.ts'
import { transcript } from './support/transcript.ts'
import type { EventPage, Page, RunResult, Started } from './support/wire.ts'

const roles = { anna: ['run'], bob: ['run'], carl: [], audit: ['read'] } as const
let stage: Stage
let as: Readonly<Record<keyof typeof roles | 'admin', Call>>
before(async () => {
  const made = await createKeyedStage(roles)
  stage = made.stage
  as = made.as
  const memory = { memory: { scopes: ['person', 'conversation'], archival: 'off' } }
  const agents = [
    agent('root', { ...memory, subAgents: [sub('child')] }),
    agent('child', { memory: {} }),
    agent('open', { memory: { inGroups: true } }),
    agent('house', { memory: { scopes: ['agent', 'person'] } }),
  ]
  const saved = await as.admin('POST', '/api/v1/agents/batch', { body: { agents } })
  assert.equal(saved.status, 200, saved.text)
  for (const name of ['root', 'child', 'open', 'house'])
    stage.model.on(name, (seen) => {
      const said = seen.body.messages.at(-1)
      const text = String(said?.content).split('\n')[0] ?? ''
      if (said?.role !== 'user' || !text.includes('call ')) return { text: 'Yes.' }
      return { calls: [JSON.parse(text.slice(text.indexOf('call ') + 5)) as CallOut] }
    })
})
after(() => stage?.close())

const person = (id: string) => ({ id, name: id })
const at = (path = '', query = '') => `/api/v1/memory${path}${query}`
const say = (call: CallOut) => `call ${JSON.stringify(call)}`
const keep = (key: string, text: string, more: object = {}) => say({ name: 'remember', args: { key, text, ...more } })
const start = async (who: Call, body: object) => {
  const answer = await who<Started>('POST', '/api/v1/conversations', { body })
  assert.equal(answer.status, 201, answer.text)
  return answer.body
}
const go = async (who: Call, id: string, body: object) => {
  const answer = await who<RunResult>('POST', `/api/v1/conversations/${segment(id)}/runs`, { body })
  assert.equal(answer.status, 200, answer.text)
  return answer.body
}
const list = async (who: Call, query = '') => {
  const answer = await who<Page<MemoryBlock>>('GET', at('', query))
  assert.equal(answer.status, 200, answer.text)
  return answer.body.items
}
const eventsOf = async (id: string) =>
  (await as.admin<EventPage>('GET', `/api/v1/conversations/${segment(id)}/events?verbose=true`)).body.events
const codesOf = async (id: string) =>
  (await eventsOf(id)).flatMap(({ type, content }) => (type === 'notice' ? [content['code']] : []))
const lastUser = (name: string) => {
  const said = transcript(stage.model.of(name).at(-1)).filter((one) => 'user' in one)
  return String(said.at(-1)?.['user'])
}
const keysOf = (blocks: readonly MemoryBlock[]) => blocks.map(({ key }) => key).sort()

describe('whose memory it is', () => {
  test('[F39] it is about whoever began the run: the principal, or the participant who wrote; children work for the same', async () => {
    await start(as.anna, { agent: 'root', id: 'a/1', prompt: keep('own', 'Of Anna.') })
    await start(as.admin, { agent: 'root', id: 'a/2', users: [person('bob')] })
    await go(as.admin, 'a/2', { prompt: keep('told', 'Of Bob.'), author: 'bob' })
    const child = { name: 'child', args: { message: keep('below', 'Of Bob too.') } }
    await go(as.admin, 'a/2', { prompt: say(child), author: 'bob' })
    const known = (await list(as.admin)).map(({ key, subject, agent }) => [agent, key, subject])
    assert.deepEqual(known.sort(), [
      ['child', 'below', 'user:bob'],
      ['root', 'own', 'user:anna'],
      ['root', 'told', 'user:bob'],
    ])
    await start(as.bob, { agent: 'root', id: 'a/3', prompt: 'Hello.' })
    assert.match(lastUser('root'), /"scope":"person","key":"told","text":"Of Bob\."/)
    assert.doesNotMatch(lastUser('root'), /Anna/)
  })

  test('without a role a person reaches what is about them; `read` nothing of people; what is not reached is not there', async () => {
    assert.deepEqual(keysOf(await list(as.bob)), ['below', 'told'])
    assert.deepEqual(keysOf(await list(as.bob, '?agent=child')), ['below'])
    assert.deepEqual(keysOf(await list(as.bob, '?q=BOB%20of')), ['below', 'told'])
    assert.deepEqual(await list(as.carl), [])
    const [own] = await list(as.anna)
    assert.ok(own)
    const rows: [who: Call, method: string, path: string, body?: object][] = [
      [as.bob, 'GET', at(`/${own.id}`)],
      [as.audit, 'GET', at(`/${own.id}`)],
      [as.bob, 'GET', at(`/${own.id}/revisions`)],
      [as.bob, 'PUT', at(`/${own.id}`), { text: 'x', expectedRevision: 1 }],
      [as.bob, 'DELETE', at(`/${own.id}`)],
      [as.bob, 'GET', at('', '?subject=user:anna')],
      [as.audit, 'GET', at('', '?subject=user:anna')],
      [as.bob, 'POST', at(), { agent: 'root', subject: 'user:anna', key: 'x', text: 'x' }],
      [as.bob, 'POST', at(), { agent: 'house', scope: 'agent', key: 'x', text: 'x' }],
      [as.bob, 'DELETE', at('', '?subject=user:anna')],
    ]
    for (const [who, method, path, body] of rows)
      assertProblem(await who(method, path, body === undefined ? {} : { body }), { status: 404, code: 'NOT_FOUND' })
    const changed = await as.anna<MemoryBlock>('PUT', at(`/${own.id}`), {
      body: { text: 'Mine.', expectedRevision: 1 },
    })
    assert.deepEqual([changed.status, changed.body.revision, changed.body.writtenBy.id], [200, 2, 'user:anna'])
    const late = await as.anna('PUT', at(`/${own.id}`), { body: { text: 'Late.', expectedRevision: 1 } })
    assertProblem(late, { status: 409, code: 'MEMORY_CONFLICT' })
    assert.match(late.text, /"current":\{"id":.*"text":"Mine\."/)
    const { items } = (await as.anna<Page<MemoryRevision>>('GET', at(`/${own.id}/revisions`))).body
    assert.deepEqual(
      items.map(({ revision, text, writtenBy: { agent, conversationId } }) => [revision, text, agent, conversationId]),
      [
        [2, 'Mine.', null, null],
        [1, 'Of Anna.', 'root', 'a/1'],
      ],
    )
  })

  test('what is about everybody only an administrator writes, and every conversation reads', async () => {
    const body = { agent: 'house', scope: 'agent', key: 'rule', text: 'Shoes off.' }
    assert.equal((await as.admin('POST', at(), { body })).status, 201)
    assertProblem(await as.admin('POST', at(), { body }), { status: 409, code: 'MEMORY_CONFLICT' })
    assert.deepEqual(keysOf(await list(as.audit, '?scope=agent')), ['rule'])
    await start(as.anna, { agent: 'house', id: 'h/1', prompt: 'Hello.' })
    assert.match(
      lastUser('house'),
      /memory: \{"blocks":\[\{"scope":"agent","key":"rule","text":"Shoes off\.","revision":1\}\]\}/,
    )
    const tool = stage.model
      .of('house')
      .at(-1)
      ?.body.tools?.find((one) => one.function.name === 'remember')
    assert.doesNotMatch(JSON.stringify(tool), /"scope"/)
  })
})

describe('several people', () => {
  test('where two take part, what is known of people is neither read nor written, and that is said; `inGroups` opens it', async () => {
    await start(as.admin, { agent: 'root', id: 'g/1', users: [person('anna'), person('bob')] })
    await go(as.admin, 'g/1', { prompt: 'Hello.', author: 'anna' })
    assert.doesNotMatch(lastUser('root'), /Mine/)
    assert.deepEqual(await codesOf('g/1'), ['MEMORY_WITHHELD'])
    const names =
      stage.model
        .of('root')
        .at(-1)
        ?.body.tools?.map((one) => one.function.name) ?? []
    assert.ok(!names.includes('remember'))
    await start(as.admin, { agent: 'open', id: 'g/2', users: [person('anna'), person('bob')] })
    await go(as.admin, 'g/2', { prompt: keep('seat', 'By the window.'), author: 'anna' })
    await go(as.admin, 'g/2', { prompt: 'And I?', author: 'bob' })
    assert.doesNotMatch(lastUser('open'), /window/)
    assert.deepEqual(keysOf(await list(as.anna, '?agent=open')), ['seat'])
  })
})

describe('conversations', () => {
  test('blocks of one conversation are read there alone, copied by a fork, and deleted with it; a restart in between changes nothing', async () => {
    await start(as.bob, { agent: 'root', id: 'c/1', prompt: keep('plan', 'Paris.', { scope: 'conversation' }) })
    await start(as.bob, { agent: 'root', id: 'c/2', prompt: 'Where to?' })
    assert.doesNotMatch(lastUser('root'), /Paris/)
    await stage.witan.stop()
    await stage.witan.start()
    await go(as.bob, 'c/1', { prompt: 'Where to?' })
    assert.match(lastUser('root'), /"scope":"conversation","key":"plan","text":"Paris\."/)
    const { lastSeq } = (await as.bob<{ lastSeq: number }>('GET', `/api/v1/conversations/${segment('c/1')}`)).body
    const fork = await as.bob('POST', `/api/v1/conversations/${segment('c/1')}/fork`, {
      body: { seq: lastSeq, id: 'c/3' },
    })
    assert.equal(fork.status, 201, fork.text)
    const [copied] = (await list(as.bob, '?scope=conversation')).filter(
      ({ conversationId }) => conversationId === 'c/3',
    )
    assert.equal(copied?.text, 'Paris.')
    await go(as.bob, 'c/3', { prompt: keep('plan', 'Rome.', { scope: 'conversation', expected_revision: 1 }) })
    await go(as.bob, 'c/1', { prompt: 'Where to?' })
    assert.doesNotMatch(lastUser('root'), /Rome/)
    assert.equal((await as.bob('DELETE', `/api/v1/conversations/${segment('c/3')}`)).status, 204)
    const left = (await list(as.bob, '?scope=conversation')).map(({ conversationId }) => conversationId)
    assert.deepEqual(left, ['c/1'])
  })

  test('[F39] an erasure takes all blocks about a person with their revisions, and names the conversations that quote them', async () => {
    const answer = await as.bob<ErasedMemory>('DELETE', at('', '?subject=user:bob'))
    assert.equal(answer.status, 200, answer.text)
    assert.equal(answer.body.erased, 3)
    assert.deepEqual(answer.body.conversations, ['a/2', 'a/3', 'c/1', 'c/2'])
    assert.deepEqual(await list(as.bob), [])
    assert.ok(keysOf(await list(as.admin)).includes('own'), 'nobody else lost anything')
    const again = await as.bob<ErasedMemory>('DELETE', at('', '?subject=user:bob&conversations=true'))
    assert.deepEqual([again.body.erased, again.body.deleted], [0, ['a/3', 'c/1', 'c/2']])
    assert.equal((await as.bob('GET', `/api/v1/conversations/${segment('c/1')}`)).status, 404)
  })
})
