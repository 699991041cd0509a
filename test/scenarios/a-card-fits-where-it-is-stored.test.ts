/** The URL of a card names its agent in the log, in the usage and beside its key: one that a store cannot index is refused when it is saved. */
import assert from 'node:assert/strict'
import { randomBytes, randomInt } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createRuntime, memoryStore, postgresStore, sqliteStore, type Store } from '@witan/core'
import { call, scriptedModel } from '@witan/core/testing'
import { changedBy, keepKey } from '@witan/core/tooling'
import { type AgentData, isWitanError } from '@witan/protocol'
import { freshSchema } from '../postgres/support/stores.ts'
import { fakeClock } from '../support/clock.ts'
import { callerOf, playedRemote } from '../support/played-remote.ts'

const stores: Readonly<Record<string, (context: TestContext) => Promise<Store>>> = {
  memory: async () => memoryStore(),
  async SQLite(context) {
    const folder = mkdtempSync(join(tmpdir(), 'witan-card-'))
    context.after(() => rmSync(folder, { recursive: true, force: true }))
    return sqliteStore({ file: join(folder, 'a.db') })
  },
  PostgreSQL: async (context) => postgresStore(await freshSchema(context)),
}

/** Letters of three bytes that no compression makes shorter. */
const longWords = (count: number) =>
  Array.from({ length: count }, () => String.fromCharCode(0x4e00 + randomInt(0x4000))).join('')
const plain = (bytes: number) => {
  const begins = 'https://travel.test/'
  return `${begins}${randomBytes(bytes)
    .toString('hex')
    .slice(0, bytes - begins.length)}`
}

for (const [name, open] of Object.entries(stores))
  test(`a card of 2,000 bytes is saved, called, counted and kept on ${name}; a longer one is refused`, async (context) => {
    const store = await open(context)
    const played = playedRemote(() => ({ state: 'COMPLETED', parts: [{ text: 'At nine.' }], usage: undefined }))
    const runtime = createRuntime({
      store,
      remotes: callerOf(played, { clock: fakeClock(), isIdempotent: true }),
      domains: { 'a.test': 'default' },
      models: {
        'play/desk': scriptedModel((_, turn) => (turn === 0 ? call('travel', { message: 'When?' }) : 'Done.')),
      },
    })
    const save = (card: string) =>
      runtime.agents.save({
        ...{ id: 'desk', model: 'play/desk', instructions: 'Ask.' },
        remotes: [{ name: 'travel', card }],
      })
    const tooLong = { letters: `https://travel.test/${longWords(1_200)}`, bytes: plain(2_001) }
    for (const [what, card] of Object.entries(tooLong)) {
      const error = await save(card).then(
        () => null,
        (refused: unknown) => refused,
      )
      assert.ok(isWitanError(error), `${what} are refused`)
      assert.equal(error.code, 'AGENT_INVALID')
      assert.match(error.message, /card.*2,?000/, what)
    }
    const longest = { letters: `https://travel.test/${longWords(660)}`, bytes: plain(2_000) }
    for (const card of Object.values(longest)) {
      await save(card)
      const { run } = await runtime.start({ agent: 'desk', prompt: 'When is the train?' })
      const ended = await run?.result
      assert.equal(ended?.status, 'completed', JSON.stringify(ended?.error))
      const { principal } = runtime
      const changed = changedBy(principal, store.now('default'))
      await keepKey(store, principal.database, { remote: card, thumbprint: 'x', changed })
    }
    await runtime.close()
  })

for (const [name, open] of Object.entries(stores))
  test(`an agent that was saved with a longer card goes on without it on ${name}, and says why`, async (context) => {
    const store = await open(context)
    await store.open()
    const played = playedRemote(() => ({ state: 'COMPLETED', parts: [{ text: 'At nine.' }], usage: undefined }))
    const edge = { description: '', blocking: 'always', history: 'agent', mentionRelay: 'none', pin: null }
    const remotes = [
      { name: 'travel', card: plain(2_900), ...edge },
      { name: 'trains', card: plain(200), ...edge },
    ]
    const data = { id: 'desk', model: 'play/desk', instructions: 'Ask.', remotes } as unknown as AgentData
    const of = { database: 'default', id: 'desk', revision: 1, source: 'data' as const, warnings: [], changed: null }
    await store.changeAgents('default', [{ id: 'desk', ifRevision: 0, row: { ...of, data } }])
    const runtime = createRuntime({
      store,
      remotes: callerOf(played, { clock: fakeClock(), isIdempotent: true }),
      domains: { 'a.test': 'default' },
      models: {
        'play/desk': scriptedModel(({ messages, tools }, turn) => {
          if (turn > 1) return messages.flatMap((one) => (one.role === 'tool' ? [String(one.content)] : [])).join(' + ')
          if (turn === 0)
            assert.deepEqual(
              tools.map((tool) => tool.name),
              ['trains'],
            )
          return call(turn === 0 ? 'travel' : 'trains', { message: 'When?' })
        }),
      },
    })
    const { run } = await runtime.start({ agent: 'desk', prompt: 'When is the train?' })
    const ended = await run?.result
    assert.equal(ended?.status, 'completed', JSON.stringify(ended?.error))
    assert.match(ended.text, /`travel` is not called: the URL of its card has 2900 bytes, at most 2000.*At nine/s)
    assert.equal(played.tasks.length, 1)
    // Keys that have come since have their defaults, although the agent could not be saved so any more.
    assert.deepEqual((await runtime.agents.get('desk')).subAgents, [])
    await runtime.close()
  })
