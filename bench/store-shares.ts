/** How large each table of a PostgreSQL store is beside the others, with conversations that are made in SQL after one that was run. */
import pg from 'pg'
import { postgresStore } from '@witan/core'
import { startServer } from '../test/postgres/support/server.ts'
import { runOnce } from './measure.ts'
import { scenarios } from './scenario.ts'
import { witanOn } from './witan.ts'

/** Bytes by table, its indexes included. */
export type Shares = Readonly<Record<string, number>>

const schema = 'shares'
const entriesEach = 10

/**
 * Makes this number of conversations, each with ten entries and a run. As in a real run, the run's row is inserted when it begins and updated when it ends.
 * `atOnce` of them are live at the same time, and what they leave is vacuumed.
 */
export async function storeShares(conversations: number, atOnce = 1_000): Promise<Shares> {
  const scenario = scenarios.find(({ id }) => id === 'S2')
  if (scenario === undefined) throw new Error('there is no scenario S2')
  const server = await startServer()
  const admin = new pg.Client({ connectionString: server.url })
  await admin.connect()
  try {
    const subject = await witanOn(scenario, postgresStore({ url: server.url, schema }), { ms: 0 })
    await runOnce(scenario, subject)
    await subject.close()
    await admin.query(`set search_path = ${schema}`)
    for (let from = 1; from < conversations; from += atOnce) {
      const range = [from, Math.min(conversations - 1, from + atOnce - 1)]
      for (const sql of Object.values(copies)) await admin.query(sql, range)
      await admin.query('vacuum jobs, live_jobs')
    }
    const { rows } = await admin.query<{ table: string; bytes: number }>(
      `select relname as table, pg_total_relation_size(oid)::float8 as bytes from pg_class
      where relnamespace = $1::regnamespace and relkind = 'r' order by 2 desc`,
      [schema],
    )
    return Object.fromEntries(rows.map(({ table, bytes }) => [table, bytes]))
  } finally {
    await admin.end()
    await server.stop('fast')
  }
}

/** An id as long as one that was made, ending with a number. */
const copyOf = (id: string) => `left(${id}, length(${id}) - 8) || lpad(to_hex(n), 8, '0')`
const numbers = 'generate_series($1::integer, $2::integer) n'
const first = '(select * from jobs order by number limit 1)'

const copies = {
  conversations: `
insert into conversations (database, id, agent, created_by, created_at, last_message_at, last_seq, parameters)
select c.database, ${copyOf('c.id')}, c.agent, c.created_by, c.created_at, c.last_message_at, ${entriesEach}, c.parameters
from (select * from conversations order by number limit 1) c, ${numbers}`,
  entries: `
insert into entries (database, conversation, seq, text)
select e.database, ${copyOf('e.conversation')}, s, replace(e.text, j.id, ${copyOf('j.id')})
from ${first} j, ${numbers}, generate_series(1, ${entriesEach}) s
join entries e on e.seq = 1 + (s - 1) % 7 and e.conversation = (select id from conversations order by number limit 1)`,
  live: `
insert into jobs (database, id, conversation, kind, status, owner, epoch, lease_until, wake, attempts, created_at, started_at,
  first_seq, about, result, changed_at, maker)
select j.database, ${copyOf('j.id')}, ${copyOf('j.conversation')}, j.kind, 'running', 'w_1234567890', 1, j.lease_until, false, 1,
  j.created_at, j.started_at, j.first_seq, j.about, 'null', j.changed_at, j.maker
from ${first} j, ${numbers}`,
  due: `
insert into live_jobs (database, conversation, number, id, kind, maker, created_at, due_at)
select database, conversation, number, id, kind, maker, created_at, lease_until from jobs
where ended_at is null and number > 0 * ($1::integer + $2::integer)`,
  ended: `
update jobs o set status = j.status, owner = null, ended_at = j.ended_at, result = j.result, changed_at = j.changed_at + n
from ${first} j, ${numbers} where o.database = j.database and o.id = ${copyOf('j.id')}`,
  gone: 'delete from live_jobs where number > 0 * ($1::integer + $2::integer)',
  runs: `
insert into ended_runs (database, maker, changed_at, id)
select o.database, o.maker, o.changed_at, o.id
from ${first} j cross join ${numbers} join jobs o on o.database = 'default' and o.id = ${copyOf('j.id')}`,
}
