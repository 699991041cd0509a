/** Stores of earlier versions: this version shows the same of them, and goes on with their keys, definitions and runs [D3]. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { postgresStore, sqliteStore, type Store } from '@witan/core'
import { adminOf, filled, porter, runtimeOn, type StoreFixture, shown } from '../fixtures/stores.ts'
import { asAdmin, freshSchema } from '../postgres/support/stores.ts'

const folder = new URL('../fixtures/stores/', import.meta.url)

async function sqliteOf({ sqlite }: StoreFixture, context: TestContext): Promise<Store> {
  const home = await mkdtemp(join(tmpdir(), 'witan-earlier-'))
  context.after(() => rm(home, { recursive: true }))
  const file = join(home, 'witan.db')
  await writeFile(file, Buffer.from(sqlite.file, 'base64'))
  return sqliteStore({ file, synchronous: 'normal' })
}

/** A store creates the roles; then its schema gives way to the earlier one. */
async function postgresOf({ postgres }: StoreFixture, context: TestContext): Promise<Store> {
  const place = await freshSchema(context)
  const fresh = postgresStore(place)
  await fresh.open()
  await fresh.close()
  const { schema } = place
  const names = { '{s}': schema, '{app}': `${schema}_app`, '{worker}': `${schema}_worker` }
  const sql = postgres.sql.replaceAll(/\{(s|app|worker)\}/g, (name) => names[name as keyof typeof names])
  await asAdmin(place.url, async (client) => {
    await client.query(`drop schema "${schema}" cascade`)
    await client.query(sql)
  })
  return postgresStore(place)
}

/** Keys are used and revoked, definitions are changed, the run that waits is answered, and its fork takes a message. */
async function goOn(store: Store, digests: readonly string[]): Promise<void> {
  const runtime = runtimeOn(store)
  for (const database of filled) {
    const witan = runtime.as(adminOf(database))
    const before = (await witan.keys.list()).items
    const [fresh, used] = before
    const at = 1_900_000_000_000
    await runtime.keyLookup.noteUses([used, fresh].map((key) => ({ keyId: key?.keyId ?? '', database, at })))
    const { keyId } = await witan.keys.create({ name: 'more' })
    await witan.keys.revoke(used?.keyId ?? '')
    const after = (await witan.keys.list()).items.map((key) => [key.keyId, key.lastUsedAt])
    assert.deepEqual(after, [
      [keyId, null],
      [fresh?.keyId, new Date(at).toISOString()],
    ])
    const [latest] = (await witan.audit({ limit: 1 })).items
    assert.deepEqual([latest?.action, latest?.name], ['revoke', used?.keyId])
    const { agent } = await witan.agents.save({ id: 'clerk', model: porter.data.model, instructions: 'y' })
    assert.equal(agent.revision, 3)
    const [open] = (await witan.getConversation('chats/2')).interruptions
    const answer = { actionResponses: [{ id: open?.id ?? '', response: 'opened' }] }
    const { status, text } = await (await witan.run('chats/2', answer)).result
    assert.deepEqual([status, text], ['completed', 'opened'])
    const seq = (await store.getConversation(database, 'chats/2'))?.lastSeq ?? 0
    await witan.forkConversation('chats/2', { seq, id: 'chats/3' })
    assert.equal((await (await witan.run('chats/3', { prompt: 'Again' })).result).status, 'waiting')
  }
  assert.equal((await runtime.keyLookup.find(digests)).length, filled.length)
  await runtime.close()
}

/** The part of a value that an earlier version knows: later ones add keys. */
function knownOf(now: unknown, before: unknown): unknown {
  if (Array.isArray(now) && Array.isArray(before)) return now.map((one, index) => knownOf(one, before[index]))
  if (typeof now !== 'object' || now === null || typeof before !== 'object' || before === null) return now
  const known = Object.entries(now).filter(([name]) => Object.hasOwn(before, name))
  return Object.fromEntries(known.map(([name, value]) => [name, knownOf(value, before[name as keyof typeof before])]))
}

for (const file of globSync('*.json.gz', { cwd: folder }))
  for (const kind of ['sqlite', 'postgres'] as const)
    test(`[D3] a ${kind} store of ${file.replace('.json.gz', '')} shows the same, and goes on`, async (context) => {
      const fixture = JSON.parse(gunzipSync(readFileSync(new URL(file, folder))).toString()) as StoreFixture
      const own = fixture.digests.slice(...(kind === 'sqlite' ? [0, 6] : [6, 12]))
      const store = await (kind === 'sqlite' ? sqliteOf : postgresOf)(fixture, context)
      await store.open()
      context.after(() => store.close())
      const before = fixture[kind].shown
      assert.deepEqual(knownOf(await shown(store, fixture.digests), before), before)
      await goOn(store, own)
    })
