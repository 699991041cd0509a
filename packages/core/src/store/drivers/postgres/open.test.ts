/** Opening a store on PostgreSQL: who may, what is made, and what is said to those who may not. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { type TestContext, test } from 'node:test'
import { inspect } from 'node:util'
import { recordTables } from '../../record-tables.ts'
import { asAdmin, freshSchema } from '../../../../../../test/postgres/support/stores.ts'
import {
  begin,
  by,
  conversation,
  database,
  entry,
  textsOf,
  wholePage,
} from '../../../testing/conformance/store-fixtures.ts'
import { migrations } from '../../sql/postgres/schema.ts'
import type { LaterSchema } from '../../../testing/later-schema.ts'
import { type PostgresStoreOptions, postgresStore } from '../postgres.ts'

/** Opens, works a little as every role, and closes. */
async function works(options: PostgresStoreOptions, id: string): Promise<void> {
  const store = postgresStore(options)
  await store.open()
  try {
    const job = await begin(store, { id })
    await store.append({ ...by(job), entries: [entry('more')] })
    assert.deepEqual(await textsOf(store, job.conversation), ['hello', 'more'])
    assert.deepEqual(await store.heartbeat('w1', [{ database, id, epoch: 1 }], 1000), [{ id, wake: false }])
    assert.deepEqual(await store.listDatabases(), [database])
  } finally {
    await store.close()
  }
}

test('stores that open a fresh schema at once all open', async (context) => {
  const place = await freshSchema(context)
  await Promise.all(['a', 'b', 'c', 'd'].map((id) => works(place, id)))
})

async function setVersion({ url, schema }: PostgresStoreOptions, version: number, worksFrom: number): Promise<void> {
  await asAdmin(url, (client) =>
    client.query(`update "${schema}".schema_version set version = $1, works_from = $2`, [version, worksFrom]),
  )
}

test('a schema of a newer version is used where that version allows it, and else refused', async (context) => {
  const place = await freshSchema(context)
  await works(place, 'a')
  await setVersion(place, migrations.length + 1, migrations.length)
  await works(place, 'b')
  await setVersion(place, migrations.length + 1, migrations.length + 1)
  await assert.rejects(postgresStore(place).open(), { code: 'SCHEMA_TOO_NEW', message: /version \d+/ })
})

test('a program at work neither reads nor writes nor claims once the schema demands a newer one, and gives up what it holds', async (context) => {
  const place = await freshSchema(context)
  const store = postgresStore(place)
  await store.open()
  context.after(() => store.close())
  const job = await begin(store, { id: 'j1' })
  const claim = { owner: 'w', leaseMs: 1000, limit: 10 }
  const works: Record<string, () => Promise<unknown>> = {
    append: () => store.append({ ...by(job), entries: [entry('more')] }),
    claimJobs: () => store.claimJobs(claim),
    heartbeat: () => store.heartbeat('w1', [{ database, id: 'j1', epoch: 1 }], 1000),
    checkWritable: () => store.checkWritable(),
    readEntries: () => store.readEntries(database, job.conversation, { after: 0, limit: 9 }),
    deleteConversation: () => store.deleteConversation(database, job.conversation),
    dueInterruptions: () => store.dueInterruptions(10),
  }
  await setVersion(place, migrations.length + 1, migrations.length + 1)
  for (const [name, work] of Object.entries(works))
    await assert.rejects(work(), { code: 'SCHEMA_TOO_NEW', message: /taken over by a newer version/ }, name)
  await store.releaseJobs('w1')
  await setVersion(place, migrations.length + 1, migrations.length)
  assert.deepEqual(await textsOf(store, job.conversation), ['hello'])
  assert.deepEqual(
    (await store.claimJobs(claim)).map(({ id }) => id),
    ['j1'],
  )
})

test('what is under way when a newer version takes the schema over ends before, and what waits for it is refused', async (context) => {
  const place = await freshSchema(context)
  const store = postgresStore(place)
  await store.open()
  context.after(() => store.close())
  const job = await begin(store, { id: 'j1' })
  await asAdmin(place.url, async (admin) => {
    await admin.query('begin')
    await admin.query(`lock table "${place.schema}".schema_version in access exclusive mode`)
    const refused = assert.rejects(store.append({ ...by(job), entries: [entry('more')] }), { code: 'SCHEMA_TOO_NEW' })
    const sql = 'select from pg_locks where not granted and relation = $1::regclass'
    while ((await admin.query(sql, [`"${place.schema}".schema_version`])).rowCount === 0);
    await admin.query(`update "${place.schema}".schema_version set works_from = 999`)
    await admin.query('commit')
    await refused
  })
})

test('a migration gives way to whoever is in the way, and is done when that is over', async (context) => {
  const place = await freshSchema(context)
  const name = [`witan migration ${place.schema}`]
  await asAdmin(place.url, async (client) => {
    await client.query('select pg_advisory_lock(hashtextextended($1, 0))', name)
    const over = { is: false }
    const opening = works({ ...place, timeouts: { lockMs: 50 } }, 'a').finally(() => {
      over.is = true
    })
    /** Transactions that waited for it: each is given up after its time. */
    const waited = new Set<unknown>()
    const sql = `select virtualtransaction as id from pg_locks where locktype = 'advisory' and not granted
      and (classid::bigint << 32) | objid::bigint = hashtextextended($1, 0)`
    while (waited.size < 2 && !over.is) for (const { id } of (await client.query(sql, name)).rows) waited.add(id)
    await client.query('select pg_advisory_unlock(hashtextextended($1, 0))', name)
    await opening
  })
})

test('programs before and after a step of the schema work beside each other, until one cannot live with the others', async (context) => {
  const place = await freshSchema(context)
  const later = (schema: LaterSchema, id: string) => {
    const { url } = place
    const script = `import { postgresStore } from '@witan/core'
import { learnLaterSchema } from '@witan/core/testing'
learnLaterSchema(${JSON.stringify(schema)})
const store = postgresStore({ url: ${JSON.stringify(url)}, schema: '${place.schema}' })
await store.open()
console.log((await store.listJobs('${database}', 'chats/${id}')).length)
await store.close()`
    const flags = ['--conditions=witan-source', '--input-type=module', '-e', script]
    return execFileSync(process.execPath, flags, { encoding: 'utf8', cwd: import.meta.dirname }).trim()
  }
  const first = postgresStore(place)
  await first.open()
  context.after(() => first.close())
  const job = await begin(first, { id: 'a' })
  assert.equal(later({ migrations: 2 }, 'a'), '1')
  await first.append({ ...by(job), entries: [entry('more')] })
  assert.deepEqual(await textsOf(first, job.conversation), ['hello', 'more'])
  await works(place, 'b')
  assert.equal(later({ migrations: 1 }, 'b'), '1')
  later({ migrations: 2, contracts: true }, 'b')
  await assert.rejects(postgresStore(place).open(), { code: 'SCHEMA_TOO_NEW' })
})

const password = 'opensesame-4711'

const addresses = [
  { what: 'nobody listens', url: `postgres://me:${password}@127.0.0.1:1/x` },
  { what: 'no such host', url: `postgres://me:${password}@no-such-host.invalid/x` },
  { what: 'not a url', url: `postgres:/me:${password}@[::/x` },
  { what: 'another protocol', url: `mysql://me:${password}@127.0.0.1/x` },
]

for (const { what, url } of addresses) {
  test(`an address that leads nowhere is told of without its password: ${what}`, async () => {
    await assert.rejects(
      async () => postgresStore({ url }).open(),
      (error: { code?: string }) => {
        assert.equal(error.code, 'STORE_UNREACHABLE')
        assert.ok(!inspect(error, { depth: 20, showHidden: true }).includes(password), inspect(error))
        return true
      },
    )
  })
}

test('a database that is missing is told of without the password', async (context) => {
  const { url } = await freshSchema(context)
  const at = new URL(url)
  at.pathname = '/no_such_database'
  at.password = password
  await assert.rejects(postgresStore({ url: at.href }).open(), (error: { hint?: string }) => {
    assert.match(error.hint ?? '', /createdb/)
    assert.ok(!inspect(error, { depth: 20, showHidden: true }).includes(password))
    return true
  })
})

test('the name of a schema is one that needs no quotes', () => {
  for (const schema of ['', 'Witan', 'a b', 'x"; drop', '1a', 'a'.repeat(41)]) {
    assert.throws(() => postgresStore({ url: 'postgres://localhost/x', schema }), { code: 'STORE_UNREACHABLE' })
  }
})

/** A user who may log in, and what else is said. */
async function user(context: TestContext, place: { url: string; schema: string }, rights: string): Promise<string> {
  const name = `${place.schema}_login`
  await asAdmin(place.url, async (client) => {
    await client.query(`create role "${name}" login ${rights}`)
    await client.query(`grant create on database postgres to "${name}"`)
  })
  context.after(() =>
    asAdmin(place.url, async (client) => {
      await client.query(`drop owned by "${name}" cascade`)
      await client.query(`drop role "${name}"`)
    }),
  )
  const at = new URL(place.url)
  at.username = name
  return at.href
}

test('a user who may create roles needs nothing but that, and no rights of a superuser', async (context) => {
  const place = await freshSchema(context)
  const url = await user(context, place, 'createrole')
  await works({ ...place, url }, 'a')
  await works({ ...place, url }, 'b')
})

test('a user who may not create roles is told what an administrator has to run, and that is enough', async (context) => {
  const place = await freshSchema(context)
  const url = await user(context, place, '')
  let sql = ''
  await assert.rejects(postgresStore({ ...place, url }).open(), (error: { code?: string; hint?: string }) => {
    assert.equal(error.code, 'STORE_UNREACHABLE')
    sql = /create role .*$/.exec(error.hint ?? '')?.[0] ?? ''
    return true
  })
  await asAdmin(place.url, (client) => client.query(sql))
  await works({ ...place, url }, 'a')
})

test('a user with the two roles and no rights of its own can run what another one migrated', async (context) => {
  const place = await freshSchema(context)
  await works(place, 'a')
  const url = await user(context, place, '')
  await asAdmin(place.url, (client) =>
    client.query(`grant "${place.schema}_app", "${place.schema}_worker" to "${place.schema}_login"`),
  )
  await works({ ...place, url }, 'b')
  await asAdmin(place.url, (client) => client.query(`revoke "${place.schema}_app" from "${place.schema}_login"`))
  await asAdmin(place.url, (client) => client.query(`revoke "${place.schema}_worker" from "${place.schema}_login"`))
  const grant = `grant "${place.schema}_app", "${place.schema}_worker" to "${place.schema}_login"`
  await asAdmin(place.url, (client) => client.query(`alter role "${place.schema}_login" noinherit; ${grant}`))
  await works({ ...place, url }, 'c')
})

test('whoever logs in, the store acts as its role: what that may not, it cannot', async (context) => {
  const place = await freshSchema(context)
  const store = postgresStore(place)
  await store.open()
  context.after(() => store.close())
  const { conversation } = await begin(store, { id: 'j1' })
  await asAdmin(place.url, async (client) => {
    await client.query(`revoke select on "${place.schema}".entries from "${place.schema}_app"`)
    await client.query(`revoke update on "${place.schema}".jobs from "${place.schema}_worker"`)
    await client.query(`revoke update (owner, lease_until) on "${place.schema}".jobs from "${place.schema}_worker"`)
  })
  await assert.rejects(store.readEntries(database, conversation, { after: 0, limit: 1 }), { code: 'STORE_UNAVAILABLE' })
  await assert.rejects(store.heartbeat('w1', [{ database, id: 'j1', epoch: 1 }], 1000), { code: 'STORE_UNAVAILABLE' })
})

test('the library does not load `pg` for those who do not use it', () => {
  const script = `import { createRequire } from 'node:module'
await import('@witan/core')
const loaded = Object.keys(createRequire(import.meta.url).cache)
console.log(loaded.filter((file) => /node_modules.pg/.test(file)).length)`
  const flags = ['--conditions=witan-source', '--input-type=module', '-e', script]
  assert.equal(execFileSync(process.execPath, flags, { encoding: 'utf8', cwd: import.meta.dirname }).trim(), '0')
})

test('a schema without participants gets those whom conversations name among their parameters', async (context) => {
  const place = await freshSchema(context)
  const { url, schema } = place
  await works(place, 'a')
  const first = postgresStore(place)
  await first.open()
  const people = { $users: [['bob', 'anna é'], false] } as const
  const odd = { x: ['\ud800', true], ...people } as const
  for (const [index, parameters] of [people, odd, {}].entries()) {
    const id = `people/${index}`
    await first.append({ database, conversation: id, create: conversation(id, { parameters }), entries: [] })
  }
  await first.close()
  await asAdmin(url, (client) =>
    client.query(
      `drop table ${['participants', 'artifacts', 'usage', 'usage_waiting', 'live_jobs', 'ended_runs', ...recordTables.map(({ name }) => name)].map((table) => `"${schema}".${table}`).join(', ')}`,
    ),
  )
  const columns = 'drop column maker, drop column changed_at, add column due_at bigint'
  await asAdmin(url, (client) => client.query(`alter table "${schema}".jobs ${columns}`))
  await setVersion(place, 7, 7)
  const store = postgresStore(place)
  await store.open()
  context.after(() => store.close())
  const found = async (index: number) =>
    (await store.listParticipants(database, `people/${index}`, wholePage)).map(({ user }) => user)
  assert.deepEqual(await found(0), ['bob', 'anna é'])
  assert.deepEqual([await found(1), await found(2)], [[], []])
})
