/** Saves and deletions while a synchronous standby is away and each wait for it is ended: none is acknowledged, repeated or not [I1]. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuntime, postgresStore, type Runtime } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'
import { promote, repeat, startPair } from '../postgres/support/pair.ts'
import { agent } from '../support/stage.ts'

async function startRuntime(url: string): Promise<Runtime> {
  const store = postgresStore({ url, timeouts: { replyMs: 1_000 }, unavailableAfterMs: 2_000 })
  const models = { 'play/model': scriptedModel(() => 'Noted.') }
  const runtime = createRuntime({ store, models, agents: [agent('clerk')], report: () => {} })
  await runtime.ready
  return runtime
}

const definition = (id: string, instructions = 'x') => ({ id, model: 'play/model', instructions })

/** What is there before, and the change, on either of two processes. */
interface Kind {
  readonly before?: (runtime: Runtime) => Promise<unknown>
  readonly change: (runtime: Runtime, made: never) => Promise<unknown>
}

const kinds: Readonly<Record<string, Kind>> = {
  'an agent is saved': { change: ({ agents }) => agents.save(definition('new')) },
  'an agent is changed': {
    before: ({ agents }) => agents.save(definition('changed')),
    change: ({ agents }) => agents.save(definition('changed', 'y')),
  },
  'an agent is deleted': {
    before: ({ agents }) => agents.save(definition('deleted')),
    change: ({ agents }) => agents.delete('deleted'),
  },
  'a tool is assigned': {
    before: ({ agents }) => agents.save(definition('parent')),
    change: ({ agents }) => agents.subAgents.assign('parent', 'clerk'),
  },
  'a key is made': { change: ({ keys }) => keys.create({ roles: ['run'] }) },
  'a key is revoked': {
    before: ({ keys }) => keys.create({ roles: ['run'] }),
    change: ({ keys }, { keyId }: { keyId: string }) => keys.revoke(keyId),
  },
  'a conversation without a prompt is begun': {
    change: (runtime) => runtime.start({ agent: 'clerk', id: 'chats/new' }),
  },
  'a conversation is deleted': {
    before: (runtime) => runtime.start({ agent: 'clerk', id: 'chats/deleted' }),
    change: (runtime) => runtime.deleteConversation('chats/deleted'),
  },
  'a person is added': {
    before: (runtime) => runtime.start({ agent: 'clerk', id: 'chats/joined' }),
    change: (runtime) => runtime.addParticipant('chats/joined', { id: 'anna' }),
  },
  'a person is removed': {
    before: async (runtime) => {
      await runtime.start({ agent: 'clerk', id: 'chats/left' })
      await runtime.addParticipant('chats/left', { id: 'anna' })
    },
    change: (runtime) => runtime.removeParticipant('chats/left', 'anna'),
  },
}

/** What the kinds above change, as anybody reads it. */
async function stateOf(runtime: Runtime) {
  const agents = await runtime.agents.list()
  const keys = await runtime.keys.list()
  const conversations = await runtime.listConversations()
  const people = await Promise.all(['chats/joined', 'chats/left'].map((id) => runtime.listParticipants(id)))
  return {
    agents: agents.items.map(({ id, revision }) => [id, revision]),
    keys: keys.items.map(({ keyId }) => keyId).sort(),
    conversations: conversations.items.map(({ id }) => id).sort(),
    people: people.map(({ items }) => items.map(({ id, leftAt }) => [id, leftAt])),
  }
}

test('[I1] no save and no deletion is acknowledged before the standby has it, nor is a repeat, and each ends in time', {
  timeout: 240_000,
}, async (context) => {
  const { primary, standby } = await startPair(context)
  const both = [await startRuntime(primary.url), await startRuntime(primary.url)] as const
  const made = new Map<string, unknown>()
  for (const [name, { before }] of Object.entries(kinds)) made.set(name, await before?.(both[0]))
  const before = await stateOf(both[0])
  await repeat(primary.url, 'select from pg_stat_replication where replay_lsn = pg_current_wal_lsn()')
  await standby.stop('fast')
  const acknowledged: string[] = []
  const late: string[] = []
  const attempt = async (runtime: Runtime, name: string, which: string) => {
    const { change } = kinds[name] as Kind
    const from = performance.now()
    await change(runtime, made.get(name) as never).then(
      () => acknowledged.push(`${name}, ${which}`),
      () => {},
    )
    if (performance.now() - from > 15_000) late.push(`${name}, ${which}`)
  }
  const all = Promise.all(
    Object.keys(kinds).map(async (name) => {
      await Promise.all([attempt(both[0], name, 'at first'), attempt(both[1], name, 'beside it')])
      for (const runtime of both) await attempt(runtime, name, 'again')
    }),
  )
  const ended = "select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'"
  await repeat(primary.url, ended, all)
  await primary.stop('immediate')
  await Promise.allSettled(both.map((runtime) => runtime.close()))
  await standby.start()
  await promote(standby)
  const after = await startRuntime(standby.url)
  const found = await stateOf(after)
  await after.close()
  assert.deepEqual(found, before, 'the standby had none of it')
  assert.deepEqual([acknowledged, late], [[], []])
})
