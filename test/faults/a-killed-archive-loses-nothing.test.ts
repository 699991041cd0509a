/** `witan archive` is killed at each of its steps, and goes on: each conversation is in the store or in one whole file, never in neither or both. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, type TestContext, test } from 'node:test'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { runCommandLine } from '@witan/cli'
import { createRuntime, defineAgent, memoryStore, type Store } from '@witan/core'
import { readExport } from '@witan/core/export'
import { call, scriptedModel } from '@witan/core/testing'
import { freshSchema } from '../postgres/support/stores.ts'
import { killedAtEnd, leaveChildren } from '../support/child.ts'
import { programOf } from '../support/one-piece.ts'
import { type Place, storeAt } from './support/held-loop.ts'

type Snapshot = NonNullable<Awaited<ReturnType<Store['readSnapshot']>>>

const folder = mkdtempSync(join(tmpdir(), 'witan-archive-'))
after(() => {
  leaveChildren()
  rmSync(folder, { recursive: true, force: true })
})

const kinds: Readonly<Record<'SQLite' | 'PostgreSQL', (context: TestContext, name: string) => Place | Promise<Place>>> =
  {
    SQLite: (_, name) => ({ file: join(folder, `${name}.db`) }),
    PostgreSQL: (context) => freshSchema(context),
  }
const main = fileURLToPath(new URL('../../packages/cli/src/main.ts', import.meta.url))
const killer = new URL('support/kill-at-file.ts', import.meta.url).href

interface Asking {
  readonly place: Place
  readonly to: string
  readonly env?: Readonly<Record<string, string>>
}

function wordsFor({ place, to }: Asking): readonly string[] {
  const at = 'file' in place ? { url: `file:${place.file}` } : place
  const config = `${to}.json`
  writeFileSync(config, JSON.stringify({ store: at }))
  return ['archive', '--before', '2999-01-01', '--to', to, '--config', config]
}

/** Goes on in this process. */
async function archiveAgain(asking: Asking): Promise<void> {
  const write = () => true
  const around = { input: Readable.from([]), environment: {}, folder }
  assert.equal(await runCommandLine(wordsFor(asking), { ...around, output: { write }, errors: { write } }), 0)
}

/** Archives all that ended. Returns the signal that ended it, and null if it came to its end. */
async function archive(asking: Asking): Promise<unknown> {
  const words = [
    '--conditions=witan-source',
    '--no-warnings',
    '--import',
    killer,
    await programOf(main),
    ...wordsFor(asking),
  ]
  const child = spawn(process.execPath, words, {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, ...asking.env },
  })
  let said = ''
  child.stderr.on('data', (text) => {
    said += String(text)
  })
  const [code, signal] = await once(killedAtEnd(child), 'exit')
  assert.ok(signal !== null || code === 0, said)
  return signal
}

/** Keeps the agents of what was made. */
const agents = memoryStore()

/** A conversation that ended, and one that waits for an answer. */
async function conversations(): Promise<readonly Snapshot[]> {
  const asks = scriptedModel(({ messages }) =>
    JSON.stringify(messages).includes('ask') ? call('OpenGate') : 'It is open.',
  )
  const actions = [{ name: 'OpenGate', description: 'Opens the gate.' }]
  const porter = defineAgent({ id: 'porter', instructions: 'Open.', model: asks, actions })
  const runtime = createRuntime({ store: { ...agents, close: async () => {} }, agents: [porter] })
  const ids = ['chats/1', 'chats/waits']
  for (const id of ids)
    await (await runtime.start({ agent: 'porter', id, prompt: id === 'chats/waits' ? 'ask' : 'Open.' })).run?.result
  await runtime.close()
  const made = await Promise.all(ids.map(async (id) => (await agents.readSnapshot('default', id)) ?? assert.fail(id)))
  for (const id of ids) await agents.deleteConversation('default', id)
  return made
}

async function putAgents(store: Store): Promise<void> {
  const row = (await agents.getAgentRevision('default', 'porter', 1)) ?? assert.fail()
  assert.ok(await store.changeAgents('default', [{ id: 'porter', ifRevision: 0, row }]))
}

function filesIn(to: string): readonly string[] {
  if (!existsSync(to)) return []
  return readdirSync(to, { recursive: true }).map((name) => join(to, String(name)))
}

async function read(file: string): Promise<Snapshot> {
  for await (const item of readExport(createInterface(createReadStream(file)), { stored: agents }))
    if (item.kind === 'conversation') return item.snapshot
  return assert.fail(`${file} has no conversation`)
}

/** Files of conversations. */
const whole = /[\\/]chats[^\\/]*\.(moving|jsonl)$/

/** Where a conversation is: in the store, and in which whole files. */
async function placesOf(store: Store, to: string, id: string) {
  const inStore = (await store.getConversation('default', id)) !== null
  const files = []
  for (const file of filesIn(to).filter((name) => whole.test(name)))
    if ((await read(file)).row.id === id) files.push(file)
  return { inStore, files }
}

/** Steps between two kills: a start of the program takes longest. */
const stride = { SQLite: 1, PostgreSQL: 4 }

/** What holds after a kill: nothing is lost, and what has its last name has left the store. */
async function assertNothingLost(store: Store, to: string, all: readonly Snapshot[]): Promise<void> {
  for (const { row } of all) {
    const { inStore, files } = await placesOf(store, to, row.id)
    assert.ok(inStore || files.length === 1, `${row.id} is nowhere`)
    assert.ok(!inStore || !files.some((file) => file.endsWith('.jsonl')), `${row.id} is in both`)
  }
}

/** What holds at the end: what ended is in one file, which can be imported, and nothing else is. */
async function assertMoved(store: Store, to: string, all: readonly Snapshot[]): Promise<void> {
  for (const one of all) {
    const { inStore, files } = await placesOf(store, to, one.row.id)
    const hasEnded = one.row.id !== 'chats/waits'
    assert.deepEqual([inStore, files.length], hasEnded ? [false, 1] : [true, 0], one.row.id)
    const [file] = files
    if (file === undefined) continue
    assert.match(file, /default[\\/]chats%2F\d\.jsonl$/)
    assert.deepEqual((await read(file)).entries, one.entries)
    assert.ok(await store.putSnapshot('default', await read(file)), 'an import takes it back')
  }
  assert.deepEqual(
    filesIn(to).filter((file) => /\.(part|moving)$/.test(file)),
    [],
  )
}

for (const kind of ['SQLite', 'PostgreSQL'] as const)
  test(`kill -9 before each step of an archive, ${kind}`, { timeout: 600_000 }, async (context) => {
    const all = await conversations()
    let kills = 0
    for (let at = 1; ; at += stride[kind]) {
      const name = `${kind}-${at}`
      const place = await kinds[kind](context, name)
      const to = join(folder, `to-${name}`)
      const store = storeAt(place)
      await store.open()
      await putAgents(store)
      for (const one of all) assert.ok(await store.putSnapshot('default', one))
      await store.close()
      const signal = await archive({ place, to, env: { KILL_AT: String(at) } })
      await store.open()
      await assertNothingLost(store, to, all)
      await store.close()
      if (signal !== null) await archiveAgain({ place, to })
      await store.open()
      await assertMoved(store, to, all)
      await store.close()
      if (signal === null) break
      kills += 1
    }
    context.diagnostic(`${kills} kills`)
    assert.ok(kills * stride[kind] >= 20, `I17: only ${kills} faults fired`)
  })

test('what is appended while an archive reads is in the store or in one file, PostgreSQL', {
  timeout: 120_000,
}, async (context) => {
  const place = await freshSchema(context)
  const store = storeAt(place)
  await store.open()
  context.after(() => store.close())
  const [one] = await conversations()
  assert.ok(one)
  const ids = Array.from({ length: 40 }, (_, index) => `chats/${index}`)
  for (const [index, id] of ids.entries()) {
    const renamed = JSON.parse(
      JSON.stringify(one)
        .replaceAll(one.jobs[0]?.id ?? '', `c_${index}`)
        .replaceAll('chats/1', id),
    ) as Snapshot
    assert.ok(await store.putSnapshot('default', renamed))
  }
  const to = join(folder, 'to-beside')
  const stored = new Map(ids.map((id) => [id, one.entries.length]))
  let isOver = false
  const writing = (async () => {
    for (let turn = 0; !isOver && turn < 20_000; turn += 1) {
      const id = ids[turn % ids.length] as string
      const [last] = one.entries.slice(-1)
      const entries = [
        { ...last, type: 'notice', kind: null, body: { code: 'MODEL_WARNING', detail: `turn ${turn}` } },
      ] as never
      const appended = await store.append({ database: 'default', conversation: id, entries })
      if (appended.ok) stored.set(id, appended.lastSeq)
    }
  })()
  const signal = await archive({ place, to }).finally(() => {
    isOver = true
  })
  assert.equal(signal, null)
  await writing
  let moved = 0
  for (const id of ids) {
    const { inStore, files } = await placesOf(store, to, id)
    assert.equal(Number(inStore) + files.length, 1, id)
    const [file] = files
    if (file !== undefined) moved += 1
    const { entries } = file === undefined ? ((await store.readSnapshot('default', id)) as Snapshot) : await read(file)
    assert.equal(entries.length, stored.get(id), `${id} lacks what was acknowledged`)
  }
  assert.ok(moved > 0 && moved <= ids.length, `${moved} moved`)
})
