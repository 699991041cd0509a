/** Artifacts of function tools: saved once also if the call runs again, without hidden values, and with their inputs. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineTool, type FunctionContext } from '@witan/core'
import { call, toolResults } from '@witan/core/testing'
import { z } from 'zod'
import { createStage } from '../support/stage.ts'

/** A root whose one tool does this. */
function stageOf(execute: (context: FunctionContext) => unknown, agent: object = {}) {
  const tool = defineTool({
    name: 'work',
    description: 'Works.',
    parameters: z.object({}),
    execute: (_, context) => execute(context),
  })
  return createStage({
    agents: [{ id: 'root', tools: ['work'], ...agent }],
    plays: { root: (request) => toolResults(request)[0] ?? call('work') },
    options: { tools: [tool] },
  })
}

test('[T31] a tool that waits and runs again saves the same file once', async () => {
  const ids: string[] = []
  const stage = stageOf(async ({ artifacts, ask }) => {
    const draft = { name: 'plan.md', mediaType: 'text/markdown', text: 'A plan.' }
    const [one, same] = await Promise.all([artifacts.save(draft), artifacts.save(draft)])
    assert.deepEqual(one, same)
    ids.push(one.id)
    await ask([{ id: 'ok', text: 'Is it good?' }])
    return 'done'
  })
  const waiting = await stage.ask('root', 'go', { id: 'chats/1' })
  const saved = await stage.runtime.artifacts.list('chats/1')
  assert.equal(saved.items.length, 1, 'stored before the answer')
  const id = waiting.interruptions[0]?.id ?? ''
  const done = await stage.run('chats/1', { answers: [{ id, answer: { ok: { text: 'yes' } } }] })
  assert.equal(done.text, 'done')
  assert.deepEqual(ids, [saved.items[0]?.id, saved.items[0]?.id])
  assert.deepEqual((await stage.runtime.artifacts.list('chats/1')).items, saved.items)
})

test('[T31] another content under the same name is another artifact', async () => {
  const stage = stageOf(async ({ artifacts }) => {
    const draft = { name: 'plan.md', mediaType: 'text/markdown' }
    const [one, other] = [await artifacts.save({ ...draft, text: 'A' }), await artifacts.save({ ...draft, text: 'B' })]
    assert.deepEqual([(await artifacts.read(one.id)).text, (await artifacts.read(other.id)).text], ['A', 'B'])
    return 'done'
  })
  assert.equal((await stage.ask('root', 'go')).text, 'done')
})

test('[Tb30] what a tool reads is an input of what it saves later, and bytes come back as they were', async () => {
  const bytes = Uint8Array.from({ length: 3_000_000 }, (_, index) => ((index * 7) % 251) | 128)
  const stage = stageOf(async ({ artifacts }) => {
    const mine = bytes.slice()
    const saving = artifacts.save({ name: 'a.bin', mediaType: 'application/octet-stream', bytes: mine })
    mine.fill(0)
    const raw = await saving
    const read = await artifacts.read(raw.id)
    assert.deepEqual([read.artifact, read.text], [raw, null])
    assert.ok(Buffer.from(read.bytes).equals(Buffer.from(bytes)), 'a copy was saved')
    const made = await artifacts.save({ name: 'b.txt', mediaType: 'text/plain', text: '☔' })
    assert.deepEqual(made.inputs, [raw.id])
    assert.equal((await artifacts.read(made.id)).text, '☔')
    await assert.rejects(artifacts.read('art_0'), { code: 'NOT_FOUND', message: 'unknown artifact' })
    return 'done'
  })
  assert.equal((await stage.ask('root', 'go')).text, 'done')
})

test('[D15] [C17] values that are scrubbed for an agent are in none of its texts and names', async () => {
  const secret = 'token-4711-geheim'
  const stage = stageOf(
    async ({ artifacts, parameters }) => {
      const value = String(parameters['token'])
      const padding = '-'.repeat(65_530)
      await artifacts.save({ name: `${value}.txt`, mediaType: 'text/plain', text: `${padding}${value}!` })
      const bytes = new TextEncoder().encode(`{"token":"${value}"}`)
      await artifacts.save({ name: 'b', mediaType: 'application/octet-stream', bytes })
      await assert.rejects(artifacts.save({ name: 'c', mediaType: `text/${value}`, text: 'x' }), (error: Error) => {
        assert.ok(!error.message.includes(value))
        return true
      })
      return 'done'
    },
    { parameters: [{ name: 'token', type: 'string', secret: true, sendToModel: false }] },
  )
  const run = await stage.ask('root', 'go', { id: 'chats/1', parameters: { token: secret } })
  assert.equal(run.text, 'done')
  const { items } = await stage.runtime.artifacts.list('chats/1')
  assert.deepEqual(
    items.map(({ name }) => name),
    ['[hidden].txt', 'b'],
  )
  for (const { id } of items) {
    const { bytes } = await stage.runtime.artifacts.read(id)
    const text = Buffer.from(bytes).toString()
    assert.ok(text.includes('[hidden]') && !text.includes(secret))
  }
  assert.ok(!JSON.stringify(await stage.events('chats/1')).includes(secret))
})

test('[D15] [C17] text in another encoding is saved without them too, keeps its other bytes, and is no text for a model', async () => {
  const secret = 'employees/3-Müller'
  const latin1 = (text: string) => Uint8Array.from(Buffer.from(text, 'latin1'))
  const stage = stageOf(
    async ({ artifacts, parameters }) => {
      const bytes = latin1(`Straße;${String(parameters['token'])};ÿ`)
      const { id } = await artifacts.save({ name: 'a.csv', mediaType: 'text/csv', bytes })
      assert.equal((await artifacts.read(id)).text, null)
      return 'done'
    },
    { parameters: [{ name: 'token', type: 'string', secret: true, sendToModel: false }] },
  )
  await stage.ask('root', 'go', { id: 'chats/1', parameters: { token: secret } })
  const [saved] = (await stage.runtime.artifacts.list('chats/1')).items
  const { bytes } = await stage.runtime.artifacts.read(saved?.id ?? '')
  assert.deepEqual(Uint8Array.from(bytes), latin1('Straße;[hidden];ÿ'))
})

test('[T31] [D15] a draft that changes while it is saved is saved as it was', async () => {
  const stage = stageOf(async ({ artifacts }) => {
    const draft = { name: 'plan.md', mediaType: 'text/markdown', text: 'A plan.' }
    const saving = artifacts.save(draft)
    Object.assign(draft, { name: '../other', mediaType: 'no type', text: 'Another.' })
    const saved = await saving
    assert.deepEqual([saved.name, saved.mediaType], ['plan.md', 'text/markdown'])
    assert.equal((await artifacts.read(saved.id)).text, 'A plan.')
    return 'done'
  })
  assert.equal((await stage.ask('root', 'go')).text, 'done')
})

test('[T31] more than 16 MiB is not saved; the model reads the limit', async () => {
  const stage = stageOf(({ artifacts }) =>
    artifacts.save({ name: 'a', mediaType: 'application/zip', bytes: new Uint8Array(16_777_217) }),
  )
  const run = await stage.ask('root', 'go', { id: 'chats/1' })
  assert.match(run.text, /16777217 bytes; the limit is 16777216 bytes/)
  const error = (await stage.events('chats/1')).find(({ type, kind }) => type === 'error' && kind === 'tool')
  assert.equal(error?.content['code'], 'ARTIFACT_TOO_LARGE')
})

test('[T31] a draft that is none is refused with words', async () => {
  const stage = stageOf(async ({ artifacts }) => {
    const good = { name: 'a', mediaType: 'text/plain' }
    for (const wrong of [
      null,
      'a plan',
      good,
      { ...good, text: 'a', bytes: new Uint8Array() },
      { ...good, text: 7 },
      { ...good, bytes: 'a' },
      { ...good, name: '../a', text: '' },
      { ...good, name: null, text: '' },
    ])
      await assert.rejects(artifacts.save(wrong as never), { code: 'BODY_INVALID' })
    return 'done'
  })
  assert.equal((await stage.ask('root', 'go')).text, 'done')
})
