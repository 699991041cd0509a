/** Moving a store: from every driver to every other and back, nothing changes; live jobs go on; what was broken off is made whole. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { WitanError } from '@witan/protocol'
import { openStore } from '../../../../test/postgres/support/stores.ts'
import { createRuntime } from '../runtime.ts'
import { defineAgent } from '../agent/define-agent.ts'
import { anna, everybody, modelIn, within, writing, written } from '../testing/conformance/store-block-fixtures.ts'
import { start } from '../testing/conformance/store-fixtures.ts'
import { digestOf } from './contents.ts'
import { call, scriptedModel, toolResults } from '../testing/scripted-model.ts'
import { memoryStore } from './drivers/memory.ts'
import { sqliteStore } from './drivers/sqlite.ts'
import { readExport } from '../conversation/read-export.ts'
import { auditTable } from './audit.ts'
import { type ExportItem, exportStore, importInto } from './export.ts'
import { exportText } from './export-lines.ts'
import { type KeyRow, putKey, useKeys } from './keys.ts'
import type { Store } from './store.ts'

const nasty = 'Anna\'s "☔" \\ \u0000 \u2028 \ud83d\ude00 __proto__ -0'

const porter = defineAgent({
  id: 'porter',
  instructions: nasty,
  model: scriptedModel(
    (request) => toolResults(request)[0] ?? call('OpenGate', { what: nasty, deep: { b: 1, a: [null] } }),
  ),
  actions: [{ name: 'OpenGate', description: 'Opens.' }],
  parameters: [{ name: 'userId', sendToModel: false }, { name: 'city' }],
})

const usher = defineAgent({
  id: 'usher',
  instructions: 'x',
  model: scriptedModel(() => call('transfer_to_agent', { agent_name: 'guide' }), { id: 'script/usher' }),
  transfers: [{ agent: 'guide' }],
})
const guide = defineAgent({ id: 'guide', instructions: 'x', model: scriptedModel(() => nasty, { id: 'script/guide' }) })
const panel = defineAgent({ id: 'panel', workflow: { kind: 'parallel', agents: ['usher', 'guide'] } })

const opened = async (store: Store) => {
  await store.open()
  return store
}

const kinds: Readonly<Record<string, (context: TestContext) => Promise<Store>>> = {
  memory: async (context) => {
    const store = await opened(memoryStore())
    context.after(() => store.close())
    return store
  },
  sqlite: async (context) => {
    const folder = await mkdtemp(join(tmpdir(), 'witan-moving-'))
    const store = await opened(sqliteStore({ file: join(folder, 'witan.db'), synchronous: 'normal' }))
    context.after(async () => {
      await store.close()
      await rm(folder, { recursive: true })
    })
    return store
  },
  postgres: (context) => openStore(context),
}

/** A key as a version stored it that took every name. */
const oldKey = (database: string): KeyRow => ({
  ...{ database, id: `old${database.replaceAll('-', '')}`, digest: `sha256:${database.padEnd(43, '-')}` },
  ...{ holder: `user:${nasty.replaceAll(/\s/g, '')}]`, roles: ['run', nasty], name: nasty, address: null },
  ...{ createdBy: nasty, createdAt: 1_800_000_000_000, expiresAt: null, lastUsedAt: null },
})

/** Three databases; revisions, an agent that was deleted, a run that ended and one that waits, a fork, hidden values. */
async function fill(store: Store): Promise<void> {
  const keep = { ...store, open: async () => {}, close: async () => {} }
  const runtime = createRuntime({ store: keep, agents: [porter, usher, guide, panel] })
  await runtime.ready
  const parameters = { userId: { value: nasty, sendToModel: false }, city: 'Wien' }
  for (const database of ['default', 'b', 'a-1']) {
    const witan = runtime.as({ id: 'anna', database, roles: ['admin', 'run', 'answer', 'read'] } as never)
    if (database !== 'default') await witan.agents.save({ ...porter.data, description: 'first' })
    await witan.keys.create({ id: 'user:anna', roles: ['run'], name: 'Anna', expiresInSeconds: 60 })
    await witan.keys.create({})
    await putKey(store, oldKey(database))
    const [used] = (await witan.keys.list()).items
    await useKeys(store, [{ database, id: used?.keyId ?? '', at: 1_800_000_000_000 }])
    await witan.agents.save({ ...porter.data, description: nasty })
    await witan.agents.save({ id: 'gone', model: porter.data.model, instructions: 'x' })
    await witan.agents.delete('gone')
    const stock = { name: 'stock', messages: [{ name: 'ask', from: 'initiator' as const }] }
    await witan.protocols.save(stock)
    await witan.protocols.save({ ...stock, purpose: nasty })
    if (database === 'default') await (await witan.start({ agent: 'panel', id: 'y/1', prompt: nasty })).run?.result
    for (const id of ['chats/1', 'chats/2', 'x/0']) {
      const users = id === 'chats/2' ? { users: [{ id: 'anna', name: 'Anna ☔' }, { id: 'bob' }] } : {}
      const { run } = await witan.start({ agent: 'porter', id, parameters, prompt: nasty, ...users })
      const { interruptions } = await (run?.result ?? assert.fail())
      if (id === 'chats/2') {
        await witan.removeParticipant(id, 'anna')
        await witan.addParticipant(id, { id: 'carl', roles: ['é'] })
      }
      if (id !== 'chats/1') continue
      const actionResponses = interruptions.map((open) => ({ id: open.id, response: { answer: [nasty, 1.5, -1e21] } }))
      assert.equal((await (await witan.run(id, { actionResponses })).result).status, 'completed')
    }
  }
  for (const database of ['default', 'b', 'a-1']) await remember(store, database)
  await runtime.close()
}

/** What is remembered of somebody, for everybody, and in a conversation: with revisions, and one that was deleted. */
async function remember(store: Store, database: string): Promise<void> {
  const clerk = { ...anna, agent: 'porter', subject: nasty }
  const mine = (key: string, over = {}) =>
    written(store, writing(key, { owner: clerk, text: nasty, ...over }), database)
  await mine('city', { kind: 'archival', id: `mem_${database}` })
  const { id } = await mine('gone', { call: 'c1' })
  await mine('city', { expected: 1, kind: 'core', by: { ...modelIn('x'), conversationId: null } })
  await store.deleteBlock(database, id)
  await mine('all', { owner: { ...everybody, agent: 'porter' } })
  await mine('here', { owner: within('chats/2'), by: modelIn('chats/2') })
}

async function textOf(store: Store): Promise<string> {
  const lines: string[] = []
  for await (const line of exportStore(store, await store.listDatabases())) lines.push(exportText(line))
  return lines.join('\n')
}

async function put(store: Store, text: string): Promise<number> {
  const lines = async function* () {
    yield* text.split('\n')
  }
  let stored = 0
  for await (const item of readExport(lines())) if (await importInto(store)(item)) stored += 1
  return stored
}

test('an export and an import of many definitions and keys list them a few times, not once for each', async () => {
  const listed = { agents: 0, records: 0 }
  const counting = (store: Store): Store => ({
    ...store,
    listAgents(database) {
      listed.agents += 1
      return store.listAgents(database)
    },
    listRecords(...given) {
      listed.records += 1
      return store.listRecords(...given)
    },
  })
  const [from, to] = [counting(memoryStore()), counting(memoryStore())]
  const runtime = createRuntime({
    store: from,
    models: { 'a/a': scriptedModel(() => 'x', { id: 'a/a' }) },
    report: () => undefined,
  })
  await runtime.ready
  for (let at = 0; at < 60; at += 1) {
    await runtime.agents.save({ id: `a-${at}`, model: 'a/a', instructions: 'You do it.' } as never)
    await runtime.keys.create({ roles: ['run'] })
  }
  listed.agents = 0
  const lines: string[] = []
  for await (const line of exportStore(from, ['default'])) lines.push(exportText(line))
  const take = importInto(to)
  let stored = 0
  for await (const item of readExport(ReadableStream.from(lines))) if (await take(item)) stored += 1
  assert.equal(stored, 120)
  assert.ok(listed.agents <= 5 && listed.records <= 5, JSON.stringify(listed))
})

for (const from of Object.keys(kinds)) {
  test(`what a ${from} store holds goes through every other and comes back the same [P23]`, async (context) => {
    const first = (await kinds[from]?.(context)) ?? assert.fail()
    await fill(first)
    const text = await textOf(first)
    assert.ok(text.split('\n').length > 60)
    for (const word of [
      '"kind":"participant"',
      '"type":"participant"',
      '"branches":["panel.0"]',
      '"type":"transfer"',
      '"handedFrom"',
      '"step"',
    ])
      assert.ok(text.includes(word))
    for (const to of [...Object.keys(kinds), from]) {
      const store = (await kinds[to]?.(context)) ?? assert.fail()
      assert.equal(await put(store, text), 46)
      assert.equal(await textOf(store), text, `${from} to ${to}`)
      assert.equal(await put(store, text), 0, 'a second import changes nothing')
      const lists = async (of: Store) =>
        (await of.listConversations('b', { limit: 9, after: null, agent: null, createdBy: null })).map(({ id }) => id)
      assert.deepEqual(await lists(store), await lists(first), 'in the same order')
    }
  })
}

test('what waited goes on after an import, with its answer, on the revision that it began with', async (context) => {
  const first = (await kinds['sqlite']?.(context)) ?? assert.fail()
  await fill(first)
  const text = await textOf(first)
  const second = (await kinds['postgres']?.(context)) ?? assert.fail()
  await put(second, text)
  const runtime = createRuntime({ store: { ...second, open: async () => {}, close: async () => {} }, agents: [porter] })
  const { items } = await runtime.listInterruptions({ state: 'open' })
  assert.equal(items.length, 2)
  for (const id of ['chats/2', 'x/0']) {
    const [open] = (await runtime.getConversation(id)).interruptions
    const accepted = await runtime.run(id, { actionResponses: [{ id: open?.id ?? '', response: 'opened' }] })
    const { status, text: said, usage } = await accepted.result
    assert.deepEqual([status, said, usage.modelCalls], ['completed', 'opened', 2])
  }
  await runtime.close()
})

test('an import that was broken off is made whole by the same import again', async (context) => {
  const first = (await kinds['memory']?.(context)) ?? assert.fail()
  await fill(first)
  const text = await textOf(first)
  const second = (await kinds['sqlite']?.(context)) ?? assert.fail()
  let calls = 0
  const weak: Store = {
    ...second,
    async changeAgents(...change) {
      calls += 1
      if (calls === 2) throw new WitanError('STORE_UNAVAILABLE', 'The disk is full.')
      return second.changeAgents(...change)
    },
  }
  await assert.rejects(put(weak, text), /disk is full/)
  assert.equal(await put(second, text), 46, 'the agent that was begun is finished')
  assert.equal(await textOf(second), text)
})

test('an import stands in the audit with the first item that is new, and not without one', async () => {
  const from = memoryStore()
  await fill(from)
  const lines = (await textOf(from)).split('\n')
  const items: ExportItem[] = []
  for await (const item of readExport(ReadableStream.from(lines))) items.push(item)
  const kindsIn = new Set(items.map(({ kind }) => kind))
  assert.deepEqual([...kindsIn].sort(), ['agent', 'conversation', 'key', 'memory'])
  for (const kind of kindsIn) {
    const [one] = items.filter((item) => item.kind === kind)
    assert.ok(one)
    const to = memoryStore()
    const audited = async () => (await to.listRecords(one.database, auditTable, { limit: 9, after: null })).length
    const full = async () => {
      throw new WitanError('STORE_UNAVAILABLE', 'The disk is full.')
    }
    const addRecord: Store['addRecord'] = (database, one, beside) =>
      one.table === auditTable ? to.addRecord(database, one, beside) : full()
    const take = importInto({ ...to, addRecord, changeAgents: full, putSnapshot: full, putBlock: full })
    await assert.rejects(take(one), /disk is full/)
    assert.equal(await audited(), 0, kind)
    const takeAll = importInto(to)
    for (const item of items) if (item.database === one.database) await takeAll(item)
    assert.equal(await audited(), 1, kind)
  }
})

test('an export is whole although conversations are deleted while it reads', async (context) => {
  const store = (await kinds['memory']?.(context)) ?? assert.fail()
  for (let index = 0; index < 250; index += 1) await start(store, `chats/${index}`)
  const busy: Store = {
    ...store,
    async listConversations(...page) {
      const rows = await store.listConversations(...page)
      for (const { id } of rows.slice(198)) await store.deleteConversation('default', id)
      return rows
    },
  }
  const lines = (await textOf(busy)).split('\n').map((line) => JSON.parse(line) as { kind: string })
  assert.equal(lines.filter(({ kind }) => kind === 'conversation').length, 248)
})

test('[Rb53] files move with their conversation; content that is wrong, missing or twice is refused at its line', async (context) => {
  const first = (await kinds.sqlite?.(context)) ?? assert.fail()
  const bytes = new Uint8Array(1_500_000).map((_, index) => index % 251)
  const data = Buffer.from(bytes).toString('base64')
  const model = scriptedModel(() => 'seen', { id: 'play/seeing' })
  const seeing = defineAgent({ id: 'seeing', instructions: 'Look.', model })
  const runtime = createRuntime({ store: { ...first, close: async () => {} }, agents: [seeing] })
  const file = { type: 'file' as const, mediaType: 'image/png', data, name: 'a ☔.png' }
  await (await runtime.start({ agent: 'seeing', id: 'chats/1', prompt: [file] })).run?.result
  await (await runtime.start({ agent: 'seeing', id: 'chats/2', prompt: 'no file' })).run?.result
  await runtime.close()
  const text = await textOf(first)
  const lines = text.split('\n')
  const at = lines.findIndex((line) => line.startsWith('{"kind":"content"'))
  assert.deepEqual(lines.filter((line) => line.includes('"contents":')).length, 1, 'only where there is a file')
  for (const to of Object.keys(kinds)) {
    const store = (await kinds[to]?.(context)) ?? assert.fail()
    await put(store, text)
    assert.equal(await textOf(store), text, to)
    const again = createRuntime({ store: { ...store, close: async () => {} }, agents: [seeing] })
    assert.equal((await (await again.run('chats/1', { prompt: 'and now?' })).result).text, 'seen')
    const [opening] = model.requests.at(-1)?.messages.filter(({ role }) => role === 'user') ?? []
    assert.equal(opening?.role === 'user' && opening.files?.[0]?.data === data, true, to)
    assert.equal(digestOf((await again.readFile('chats/1', digestOf(bytes))).bytes), digestOf(bytes), to)
    await again.close()
  }
  const changed = (line: string) => [...lines.slice(0, at), line, ...lines.slice(at + 1)].join('\n')
  const content = lines[at] ?? ''
  const wrong: readonly (readonly [text: string, says: RegExp])[] = [
    [changed(content.replace(data, `${data}A`)), /line \d+ has content that is not base64/],
    [changed(content.replace(data, Buffer.from('other').toString('base64'))), /does not have the digest/],
    [changed(content.replace('sha256:', 'md5:')), /not valid at `content.digest`/],
    [changed(content.replace('image/png', 'text/html\\r\\nx: y')), /not valid at `content.mediaType`/],
    [[...lines.slice(0, at), ...lines.slice(at + 1)].join('\n').replace('"contents":1', '"contents":0'), /contents/],
    [
      [...lines.slice(0, at), ...lines.slice(at + 1)].join('\n').replace(',"contents":1', ''),
      /content of a file is missing/,
    ],
    [changed(`${content}\n${content}`).replace('"contents":1', '"contents":2'), /the same content twice/],
  ]
  for (const [given, says] of wrong) {
    const store = (await kinds.memory?.(context)) ?? assert.fail()
    await assert.rejects(put(store, given), (error: WitanError) => {
      assert.equal(error.code, 'BODY_INVALID')
      assert.match(error.message, says)
      return true
    })
    assert.equal(await store.getConversation('default', 'chats/1'), null)
  }
})

test('the people of an older export, which names them among the parameters only, take part after the import', async (context) => {
  const first = (await kinds['memory']?.(context)) ?? assert.fail()
  await start(first, 'chats/1', { parameters: { $users: [['bob', 'anna'], false] } })
  const old = await textOf(first)
  assert.ok(!old.includes('participant'))
  for (const kind of ['sqlite', 'postgres']) {
    const store = (await kinds[kind]?.(context)) ?? assert.fail()
    assert.equal(await put(store, old), 1)
    const people = await store.listParticipants('default', 'chats/1', { limit: 9, after: null })
    assert.deepEqual(
      people.map(({ user, leftAt }) => [user, leftAt]),
      [
        ['bob', null],
        ['anna', null],
      ],
    )
    assert.equal(await put(store, old), 0, 'a second import changes nothing')
  }
})
