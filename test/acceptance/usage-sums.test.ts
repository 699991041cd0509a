/** What a database has used, by the contract alone: by agent, conversation, user, model and day, over forks, deletions and restarts. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { agent, createStage, type Stage, segment, sub } from './support/stage.ts'
import type { UsageCounts } from './support/wire.ts'

type Item = UsageCounts & { key: string; costUsd: number | null; complete: boolean }
interface Page {
  items: Item[]
  nextCursor: string | null
}

let stage: Stage
before(async () => {
  stage = await createStage({ store: 'file' })
})
after(() => stage?.close())

const today = () => new Date().toISOString().slice(0, 10)

async function page(query: string): Promise<Page> {
  const answer = await stage.witan.call<Page>('GET', `/api/v1/usage?${query}`)
  assert.equal(answer.status, 200, answer.text)
  return answer.body
}

const itemsBy = async (query: string) => (await page(`by=${query}`)).items
const brief = (items: Item[]) =>
  items.map(({ key, modelCalls, toolCalls, inputTokens, outputTokens }) => [
    key,
    ...[modelCalls, toolCalls, inputTokens, outputTokens],
  ])

test('[T27] [Rb56] usage is listed by agent, conversation, user, model and day, and agrees with the runs', async () => {
  await stage.save(agent('boss', { subAgents: [sub('mate')] }), agent('mate'))
  const calls = [{ name: 'mate', args: { message: 'm' } }]
  stage.model.script(
    'boss',
    { calls, usage: { input: 1, output: 2 } },
    { text: 'done', usage: { input: 4, output: 8 } },
  )
  stage.model.script('mate', { text: 'ok', usage: { input: 16, output: 32, reasoning: 5 } })
  const run = await stage.ask('boss', 'Go.', { id: 'chats/1' })
  const day = today()
  assert.deepEqual(brief(await itemsBy('agent')), [
    ['boss', 2, run.usage.toolCalls, 5, 10],
    ['mate', 1, 0, 16, 32],
  ])
  const whole = [3, run.usage.toolCalls, 21, 42]
  assert.deepEqual(brief(await itemsBy('conversation')), [['chats/1', ...whole]])
  assert.deepEqual(brief(await itemsBy('user')), [['user:local', ...whole]])
  assert.deepEqual(brief(await itemsBy('day')), [[day, ...whole]])
  assert.deepEqual(brief(await itemsBy('model')), [
    ['play/boss', 2, 0, 5, 10],
    ['play/mate', 1, 0, 16, 32],
  ])
  const [total] = await itemsBy('day')
  const { byAgent: _, ...usage } = run.usage
  assert.deepEqual(total, { key: day, ...usage }, 'the same counters as those of the run')
})

test('a fork does not count twice, and a deleted conversation leaves the sums of the others', async () => {
  await stage.save(agent('solo'))
  stage.model.on('solo', () => ({ text: 'ok', usage: { input: 10, output: 1 } }))
  await stage.ask('solo', 'Hello.', { id: 'chats/2' })
  const { lastSeq } = await stage.conversation('chats/2')
  const fork = await stage.witan.call<{ id: string }>('POST', '/api/v1/conversations/chats%2F2/fork', {
    body: { seq: lastSeq },
  })
  assert.equal(fork.status, 201, fork.text)
  const solo = async () => (await itemsBy('agent')).filter(({ key }) => key === 'solo')
  assert.deepEqual(brief(await solo()), [['solo', 1, 0, 10, 1]])
  await stage.run(fork.body.id, { prompt: 'Again.' })
  assert.deepEqual(brief(await solo()), [['solo', 2, 0, 20, 2]])
  assert.deepEqual(brief((await itemsBy('conversation')).filter(({ key }) => key === fork.body.id)), [
    [fork.body.id, 1, 0, 10, 1],
  ])
  const gone = await stage.witan.call('DELETE', '/api/v1/conversations/chats%2F2')
  assert.equal(gone.status, 204)
  assert.deepEqual(brief(await solo()), [['solo', 2, 0, 20, 2]])
  assert.ok(!(await itemsBy('conversation')).some(({ key }) => key === 'chats/2'))
})

test('usage is limited to days, read in pages, and a cursor goes on', async () => {
  const day = today()
  for (const query of [`from=${day}`, `to=${day}`, `from=${day}T00:00:00Z`, `from=${day}&to=${day}`])
    assert.equal((await itemsBy(`day&${query}`)).length, 1, query)
  for (const query of ['to=2020-01-01', 'from=2999-01-01', `to=${day}T00:00:00Z`])
    assert.deepEqual(await itemsBy(`agent&${query}`), [], query)
  const keys: string[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const next: Page = await page(`by=agent&limit=1${cursor === '' ? '' : `&cursor=${segment(cursor)}`}`)
    keys.push(...next.items.map(({ key }) => key))
    cursor = next.nextCursor
  }
  assert.deepEqual(keys, ['boss', 'mate', 'solo'])
})

test('a wrong question about usage is refused by name', async () => {
  const wrong: [query: string, path: string, word: string][] = [
    ['', 'by', 'agent'],
    ['by=secret', 'by', 'conversation'],
    ['by=agent&from=yesterday', 'from', '2026-11-25'],
    ['by=agent&from=2026-02-30', 'from', '2026-11-25'],
    ['by=agent&to=2026-11-25T10:00:00', 'to', 'zone'],
    ['by=agent&from=2026-11-26&to=2026-11-25', 'from', 'after'],
    ['by=day&cursor=x', 'cursor', 'Begin'],
  ]
  for (const [query, path, word] of wrong) {
    const answer = await stage.witan.call<{ path: string }>('GET', `/api/v1/usage?${query}`)
    assert.deepEqual([answer.status, answer.body.path], [400, path], `${query}: ${answer.text}`)
    assert.ok(answer.text.includes(word), `${query}: ${answer.text}`)
  }
})

test('usage is there again after a restart', async () => {
  const before = await itemsBy('agent')
  await stage.witan.stop()
  await stage.witan.start()
  assert.deepEqual(await itemsBy('agent'), before)
})
