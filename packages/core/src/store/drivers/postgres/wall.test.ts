/** The wall between tenants on PostgreSQL: every table, every kind of statement, and the rights of the roles [D17]. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type pg from 'pg'
import { asAdmin, freshSchema } from '../../../../../../test/postgres/support/stores.ts'
import { begin, by, entry, interruption, key, reply, rest } from '../../../testing/conformance/store-fixtures.ts'
import { modelIn, writing } from '../../../testing/conformance/store-block-fixtures.ts'
import { formOf, pendingOf } from '../../../testing/conformance/store-knowledge-fixtures.ts'
import { keyTable, listKeys, putKey, useKeys } from '../../keys.ts'
import { recordTables } from '../../record-tables.ts'
import type { RecordTable } from '../../record.ts'
import type { Store } from '../../store.ts'
import { agentSql } from '../../sql/postgres/agents.ts'
import { columnOf } from '../../sql/records.ts'
import { tenantTables } from '../../sql/postgres/schema.ts'
import { postgresStore } from '../postgres.ts'
import { sqlOf } from './records.ts'

interface Place {
  readonly url: string
  readonly schema: string
}

/** One row for each kind of record except keys: `filled` adds a key itself. */
const oneOfEach = recordTables.flatMap((table) => {
  if (table === (keyTable as RecordTable)) return []
  const values = Object.entries(table.columns).map(([name, type]) => [name, type.startsWith('text') ? 'x' : 1])
  return [{ table, row: { id: 'r1', ...Object.fromEntries(values) } }]
})

/** A store in which the database `default` holds a row in every table. */
async function filled(context: TestContext): Promise<Place> {
  const place = await freshSchema(context)
  const store = postgresStore(place)
  await store.open()
  const job = await begin(store, { id: 'j1' })
  await store.append({ ...by(job), entries: [entry('ask', 'j1')], open: [interruption(job, 'i1')] })
  await store.append({ ...by(job), entries: [], jobs: [rest('j1', 'waiting')] }) // leaves a mark
  await begin(store, { id: 'j0', in: 'chats/ended' })
  assert.ok(
    (await store.append({ database: 'default', conversation: 'chats/ended', entries: [], jobs: [rest('j0')] })).ok,
  )
  await store.beginReply('default', reply('k'))
  const use = { digest: 'sha256:0', mediaType: 'image/png', name: null }
  await store.putContent('default', use.digest, new Uint8Array(3))
  await store.append({ database: 'default', conversation: job.conversation, entries: [], contents: [use] })
  const file = { id: 'art_1', name: 'a', mediaType: 'image/png', bytes: 3, digest: use.digest, inputs: [] }
  const made = { ...entry('made'), type: 'artifact', kind: null, body: file } as const
  await store.append({ database: 'default', conversation: job.conversation, entries: [made], contents: [use] })
  const tool = { name: 'look', toolCallId: 't1', arguments: {}, bound: [] }
  const used = { ...entry('used'), type: 'start', kind: 'tool', body: tool } as const
  await store.append({ database: 'default', conversation: job.conversation, entries: [used], usedBy: 'user:anna' })
  const anna = { user: 'anna', name: null, roles: [], joinedAt: 1, leftAt: null }
  await store.append({ database: 'default', conversation: job.conversation, entries: [], participants: [anna] })
  await putKey(store, key('k1'))
  const data = { id: 'a' } as never
  const row = { database: 'default', id: 'a', revision: 1, source: 'data', data, warnings: [], changed: null } as const
  await store.changeAgents('default', [{ id: 'a', ifRevision: 0, row }])
  for (const { table, row } of oneOfEach) await store.addRecord('default', { table, row })
  await store.writeBlock('default', writing('k', { by: modelIn(job.conversation), call: 'c1' }))
  await fillKnowledge(store, place)
  await store.close()
  return place
}

/** A document, one that waits, and what a base with many documents has. */
async function fillKnowledge({ knowledge }: Store, { url, schema }: Place): Promise<void> {
  const pending = ['a', 'b'].map((one) => pendingOf({ key: one, text: 'horse', attributes: { customer: 'c' } }))
  const failed = [{ key: 'c', code: 'DOCUMENT_UNREADABLE', detail: '' }]
  await knowledge.beginIngest('default', { base: 'handbook', id: 'i1', at: 1, prune: '', failed, pending })
  const [held] = await knowledge.claimDocuments({ owner: 'w1', leaseMs: 1, limit: 1 })
  const written = { key: 'a', text: 'horse', attributes: { customer: 'c' }, vectors: [new Int8Array(3)] }
  await knowledge.endDocument('w1', held ?? assert.fail(), { kind: 'stored', form: formOf(written), at: 1 })
  const columns = `database, base, grp, pack`
  await asAdmin(url, (client) =>
    client.query(
      `insert into "${schema}".knowledge_postings (${columns}, word, first, data) values ('default', 'x', 1, 1, 'w', 1, '')`,
    ),
  )
  await asAdmin(url, (client) =>
    client.query(
      `insert into "${schema}".knowledge_hidden (${columns}, form, words) values ('default', 'x', 1, 1, 1, '')`,
    ),
  )
}

interface Actor {
  readonly role: 'app' | 'worker'
  readonly database: string | null
}

/** Acts as the store does; nothing of it stays. */
async function acting<Result>(
  { url, schema }: Place,
  { role, database }: Actor,
  work: (client: pg.Client) => Promise<Result>,
) {
  return asAdmin(url, async (client) => {
    await client.query('begin')
    await client.query(`set local search_path = "${schema}"`)
    await client.query("select set_config('role', $1, true)", [`${schema}_${role}`])
    if (database !== null) await client.query("select set_config('witan.database', $1, true)", [database])
    try {
      return await work(client)
    } finally {
      await client.query('rollback')
    }
  })
}

/** All tables of the schema that have a column `database`, whoever made them. */
async function tablesOf({ url, schema }: Place): Promise<readonly string[]> {
  const { rows } = await asAdmin(url, (client) =>
    client.query(
      `select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid
where c.relnamespace = $1::regnamespace and c.relkind in ('r', 'p') and a.attname = 'database' order by 1`,
      [schema],
    ),
  )
  return rows.map(({ name }) => name)
}

test('every table with a database is behind the wall, forced and for writing too [D17]', async (context) => {
  const place = await filled(context)
  const tables = await tablesOf(place)
  assert.deepEqual(tables, [...tenantTables].sort(), 'a new table belongs into `tenantTables`')
  await asAdmin(place.url, async (client) => {
    for (const table of tables) {
      const name = `"${place.schema}"."${table}"`
      const { rows } = await client.query(
        'select relrowsecurity, relforcerowsecurity from pg_class where oid = $1::regclass',
        [name],
      )
      assert.deepEqual(rows, [{ relrowsecurity: true, relforcerowsecurity: true }], table)
      const { rows: policies } = await client.query(
        'select policyname, roles::text[], cmd, qual, with_check from pg_policies where schemaname = $1 and tablename = $2 and roles::text[] @> array[$3::text]',
        [place.schema, table, `${place.schema}_app`],
      )
      const rule = "(database = current_setting('witan.database'::text, true))"
      const roles = [`${place.schema}_app`]
      const wall = { policyname: 'tenant', roles, cmd: 'ALL', qual: rule, with_check: rule }
      const [named, ...others] = policies.filter(({ policyname }) => policyname !== 'tenant')
      assert.deepEqual(
        policies.filter((one) => one !== named),
        [wall],
        table,
      )
      // Records with a secret, such as the digest of a key, are also found by it, and by nothing else.
      const secret = recordTables.find((record) => record.name === table)?.secret
      assert.deepEqual([secret !== undefined, others], [named !== undefined, []], table)
      if (named !== undefined && secret !== undefined) {
        assert.deepEqual([named.policyname, named.cmd, named.with_check], ['named', 'SELECT', null])
        const digests = `string_to_array(current_setting('witan.digests'::text, true), ','::text)`
        assert.equal(named.qual, `(${columnOf(secret).replaceAll('"', '')} = ANY (${digests}))`)
      }
    }
  })
})

test('the roles of the run time own nothing and can pass no wall', async (context) => {
  const place = await filled(context)
  await asAdmin(place.url, async (client) => {
    const names = [`${place.schema}_app`, `${place.schema}_worker`]
    const { rows } = await client.query(
      'select rolname, rolsuper, rolbypassrls, rolcanlogin, rolcreaterole from pg_roles where rolname = any($1) order by 1',
      [names],
    )
    const harmless = { rolsuper: false, rolbypassrls: false, rolcanlogin: false, rolcreaterole: false }
    assert.deepEqual(
      rows,
      names.map((rolname) => ({ rolname, ...harmless })),
    )
    const { rows: owned } = await client.query(
      `select c.relname from pg_class c join pg_roles r on r.oid = c.relowner
where c.relnamespace = $1::regnamespace and r.rolname = any($2)`,
      [place.schema, names],
    )
    assert.deepEqual(owned, [])
  })
})

test('nobody touches a row of another database, in any table [D17] [I14]', async (context) => {
  const place = await filled(context)
  const app = { role: 'app' } as const
  for (const table of await tablesOf(place)) {
    const count = async (database: string | null) =>
      acting(place, { ...app, database }, async (client) => {
        const { rows } = await client.query(`select count(*)::int as rows from ${table}`)
        return rows[0].rows as number
      })
    assert.ok((await count('default')) > 0, `${table} has a row to look for`)
    assert.equal(await count('other'), 0, table)
    assert.equal(await count(null), 0, `${table} without a database`)
    assert.equal(await count(''), 0, `${table} with an empty database`)
    const writes = [`update ${table} set database = database`, `delete from ${table}`]
    const record = recordTables.find(({ name }) => name === table)
    for (const [index, sql] of writes.entries())
      if (record === undefined || (index === 1 && record.isDeleted === true)) {
        const { rowCount } = await acting(place, { ...app, database: 'other' }, (client) => client.query(sql))
        assert.equal(rowCount, 0, sql)
      } else
        await assert.rejects(
          acting(place, { ...app, database: 'default' }, (client) => client.query(sql)),
          { code: '42501' },
          `${table}: a record changes only as declared`,
        )
    const moved = acting(place, { ...app, database: 'default' }, (client) =>
      client.query(`update ${table} set database = 'other'`),
    )
    await assert.rejects(moved, { code: '42501' }, `${table}: a row leaves its database`)
    await assert.rejects(inserted(place, table), { code: '42501' }, `${table}: a row is slipped in`)
  }
})

test('a transaction that names a digest reads that key, and nothing else of its database [D17]', async (context) => {
  const place = await filled(context)
  const store = postgresStore(place)
  await store.open()
  await putKey(store, key('k2'))
  await putKey(store, key('k1', { database: 'other', digest: 'sha256:k3' }))
  await store.close()
  const reading = (digests: string, sql: string, database: string | null = null) =>
    acting(place, { role: 'app', database }, async (client) => {
      await client.query("select set_config('witan.digests', $1, true)", [digests])
      return client.query(sql)
    })
  const seen = async (digests: string) => (await reading(digests, 'select digest from keys order by 1')).rows
  assert.deepEqual(await seen('sha256:k1'), [{ digest: 'sha256:k1' }])
  assert.deepEqual(await seen('sha256:k1,sha256:k3'), [{ digest: 'sha256:k1' }, { digest: 'sha256:k3' }])
  for (const nothing of ['', 'sha256:', 'sha256:k', '*', '%', "' or true --"]) assert.deepEqual(await seen(nothing), [])
  for (const sql of ['update keys set last_used_at = 1', 'delete from keys'])
    assert.equal((await reading('sha256:k1', sql)).rowCount, 0, sql)
  await assert.rejects(reading('sha256:k1', "update keys set roles = '[]'", 'default'), { code: '42501' })
  for (const table of (await tablesOf(place)).filter((one) => one !== 'keys'))
    assert.deepEqual((await reading('sha256:k1', `select * from ${table}`)).rows, [], table)
  assert.equal((await reading('sha256:k1', 'select * from keys', 'other')).rowCount, 2, 'beside its own keys')
})

/** Statements that forget their database, for as long as `work` takes. */
async function forgetting(work: () => Promise<void>): Promise<void> {
  const tables = [sqlOf(keyTable), sqlOf(keyTable).lists, agentSql] as unknown as readonly Record<string, string>[]
  const whole = tables.map((table) => ({ ...table }))
  let forgotten = 0
  for (const table of tables)
    for (const [name, sql] of Object.entries(table)) {
      if (typeof sql !== 'string') continue
      table[name] = sql.replace(/\bwhere (\w\.)?database = \$1\b/g, 'where $$1::text is not null')
      if (table[name] !== sql) forgotten += 1
    }
  assert.ok(forgotten >= 6, `${forgotten} statements`)
  try {
    await work()
  } finally {
    for (const [index, table] of tables.entries()) Object.assign(table, whole[index])
  }
}

test('through the pool of one store, statements that forget their database read and change nothing of another [D17]', async (context) => {
  const place = await filled(context)
  const store = postgresStore({ ...place, poolSize: 2 })
  await store.open()
  await putKey(store, key('k9', { database: 'other', digest: 'sha256:k9' }))
  const page = { limit: 9, after: null }
  const idsOf = async (database: string) => (await listKeys(store, database, page)).map(({ id }) => id)
  await forgetting(async () => {
    // Connections are used for one database after the other.
    const rounds = Array.from({ length: 30 }, (_, at) => (['default', 'other', 'third'] as const)[at % 3] ?? 'third')
    const own = { default: ['k1'], other: ['k9'], third: [] } as const
    const seen = await Promise.all(rounds.map(idsOf))
    assert.deepEqual(
      seen,
      rounds.map((database) => own[database]),
    )
    assert.deepEqual(await Promise.all(['other', 'third'].map((database) => store.listAgents(database))), [[], []])
    await useKeys(store, [{ database: 'other', id: 'k1', at: 5 }])
    assert.deepEqual(
      await Promise.all(['other', 'third'].map((one) => store.deleteRecord(one, { table: keyTable, id: 'k1' }))),
      [false, false],
    )
    assert.equal((await store.listAgents('default')).length, 1)
  })
  const [kept] = await listKeys(store, 'default', page)
  assert.deepEqual([kept?.id, kept?.lastUsedAt], ['k1', key('k1').lastUsedAt])
  await store.close()
})

/** A copy of the first row, made while acting for another database. */
async function inserted(place: Place, table: string): Promise<unknown> {
  const row = await asAdmin(place.url, async (client) => {
    const { rows } = await client.query(
      `select to_jsonb(t) - 'number' - 'due_at' as row from "${place.schema}".${table} t limit 1`,
    )
    return rows[0].row as Record<string, unknown>
  })
  const columns = Object.keys(row)
  const values = columns.map((_, index) => `$${index + 1}`)
  return acting(place, { role: 'app', database: 'other' }, (client) =>
    client.query(`insert into ${table} (${columns.join(', ')}) values (${values.join(', ')})`, Object.values(row)),
  )
}

const deniedToWorker = [
  'select text from entries',
  'select parameters from conversations',
  'select created_by from conversations',
  'select body from replies',
  'select data from agent_revisions',
  'delete from jobs',
  'delete from conversations',
  "update jobs set conversation = 'x'",
  'update jobs set result = result',
  'update interruptions set state = state',
  "insert into entries values ('default', 'x', 1, '')",
  'select * from agents',
  'select * from marks',
  'select digest from keys',
  'select * from keys',
  'update keys set roles = roles',
  'delete from keys',
  'select content from knowledge_waiting',
  'select about from knowledge_waiting',
  'update knowledge_waiting set key = key',
  'delete from knowledge_waiting',
  'select * from knowledge_passages',
  'select * from knowledge_documents',
  'select * from memory_blocks',
  'select text from memory_revisions',
  'select * from memory_uses',
]

test('the key of the notifications is read by the worker, and changed by no role of the run time', async (context) => {
  const place = await filled(context)
  const key = await acting(place, { role: 'worker', database: null }, (client) =>
    client.query('select key from notice_key'),
  )
  assert.deepEqual(
    key.rows.map(({ key: bytes }) => (bytes as Buffer).length),
    [32],
  )
  const denied = ['update notice_key set key = key', 'delete from notice_key', 'insert into notice_key default values']
  for (const role of ['app', 'worker'] as const)
    for (const sql of role === 'app' ? ['select key from notice_key', ...denied] : denied) {
      const tried = acting(place, { role, database: 'default' }, (client) => client.query(sql))
      await assert.rejects(tried, { code: '42501' }, `${role}: ${sql}`)
    }
})

test('the worker sees of other tables only what claiming and sweeping need', async (context) => {
  const place = await filled(context)
  const worker = { role: 'worker', database: null } as const
  for (const sql of deniedToWorker) {
    await assert.rejects(
      acting(place, worker, (client) => client.query(sql)),
      { code: '42501' },
      sql,
    )
  }
  const seen = await acting(place, worker, (client) => client.query('select id from jobs'))
  assert.deepEqual(seen.rows, [{ id: 'j1' }])
  await asAdmin(place.url, (client) => client.query(`update "${place.schema}".jobs set ended_at = 1`))
  const ended = await acting(place, worker, (client) => client.query('select id from jobs'))
  assert.deepEqual(ended.rows, [], 'a job that has ended is nobody else’s business')
  const ending = acting(place, worker, (client) => client.query('update jobs set owner = null'))
  assert.equal((await ending).rowCount, 0)
})
