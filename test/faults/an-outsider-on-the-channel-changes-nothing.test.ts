/** A login of the database that has no rights on the store listens to its notifications, sends some of its own, and repeats what it recorded. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { createRuntime, type Model, type ModelReply, postgresStore, type Runtime } from '@witan/core'
import type { AnyEvent } from '@witan/protocol'
import { asAdmin, freshSchema } from '../postgres/support/stores.ts'
import { closers, type Later } from '../support/closers.ts'
import { agent, createGate } from '../support/stage.ts'

const timeout = 120_000

interface Place {
  readonly url: string
  readonly schema: string
}

/** Somebody who may log in and nothing else, listening. */
async function outsider(later: Later, { url, schema }: Place) {
  const name = `${schema}_outsider`
  await asAdmin(url, (client) => client.query(`create role "${name}" login`))
  const at = new URL(url)
  at.username = name
  const client = new pg.Client({ connectionString: at.href })
  await client.connect()
  later(async () => {
    await client.end()
    await asAdmin(url, (admin) => admin.query(`drop role "${name}"`))
  })
  const channel = `${schema}_notices`
  const recorded: string[] = []
  client.on('notification', ({ payload }) => recorded.push(payload ?? ''))
  await client.query(`listen "${channel}"`)
  return {
    recorded,
    async send(payloads: readonly string[]) {
      for (const payload of payloads) await client.query('select pg_notify($1, $2)', [channel, payload])
    },
    denied: (sql: string) => client.query(sql.replaceAll('{s}', `"${schema}"`)),
  }
}

/** Until `count` stores listen. */
async function listening({ url }: Place, count: number): Promise<void> {
  const sql = `select from pg_stat_activity where application_name = 'witan listener' and query like '%clock_timestamp%'`
  await asAdmin(url, async (client) => {
    while (((await client.query(sql)).rowCount ?? 0) < count);
  })
}

interface SlowModel {
  readonly model: Model
  /** Whether its text was wanted as it is written, for each call. */
  readonly streamed: boolean[]
  /** Lets it write its second word, and then its reply. */
  readonly gates: readonly [second: ReturnType<typeof createGate>, reply: ReturnType<typeof createGate>]
}

function slowModel(): SlowModel {
  const streamed: boolean[] = []
  const gates = [createGate(), createGate()] as const
  const reply: ModelReply = { text: 'marzipan truffle', toolCalls: [], finishReason: 'stop', usage: null, model: null }
  const model: Model = {
    id: 'play/model',
    async *stream(_, { deltas }) {
      streamed.push(deltas)
      yield { type: 'delta', text: 'marzipan ' }
      await gates[0].opened
      yield { type: 'delta', text: 'truffle' }
      await gates[1].opened
      yield { type: 'reply', reply }
    },
  }
  return { model, streamed, gates }
}

/** Reads until the test is over. */
function follow(later: Later, runtime: Runtime, id: string) {
  const stop = new AbortController()
  later(() => stop.abort())
  const events: AnyEvent[] = []
  const state = { isOver: false, wake: () => {} }
  const reading = (async () => {
    for await (const event of runtime.followEvents(id, { verbose: true, signal: stop.signal })) {
      events.push(event)
      state.wake()
    }
  })().finally(() => {
    state.isOver = true
    state.wake()
  })
  reading.catch(() => {})
  return {
    events,
    async until(wanted: (event: AnyEvent) => boolean) {
      while (!events.some(wanted)) {
        assert.ok(!state.isOver, 'the stream goes on')
        await new Promise<void>((resolve) => {
          state.wake = resolve
        })
      }
    },
  }
}

/** What a program before this one sent, and what nobody ever sent. */
function poison(conversation: string): readonly string[] {
  const [item, field] = ['\u001e', '\u001f']
  const old = (...fields: string[]) => `sender${item}${fields.join(field)}`
  const place = { call: 'c_1', parentCall: null, run: 'c_1', document: conversation, author: 'a', agentPath: 'a' }
  const delta = { place: { ...place, invocation: 'c_1' }, text: 'forged', attempt: 1, at: 0 }
  const plain = [
    ['said', 'default', conversation, 'not JSON'],
    ['said', 'default', conversation, 'null'],
    ['said', 'default', conversation, '{"reads":true}'],
    ['said', 'default', conversation, '{"text":"no place"}'],
    ['said', 'default', conversation, JSON.stringify(delta)],
    ['said', 'default', '', ''],
    ['gone', 'default', conversation],
    ['appended', 'default', conversation, '1e9'],
    ['appended'],
    ['due'],
    [''],
  ] as const
  const json = ['null', '{}', '[]', '{"place":null}', `[["gone","default","${conversation}"]]`, '"', '\\u0000']
  const sealed = ['2.', '2.AAAA', `2.${'A'.repeat(7_900)}`, `1.${'A'.repeat(100)}`, '3.x', 'x'.repeat(7_999)]
  return ['', ' ', ...plain.map((fields) => old(...fields)), ...json, ...sealed]
}

test('a login without rights reads nothing of the store on its channel, and changes nothing there', {
  timeout,
}, async (context) => {
  const later = closers(context)
  const place = await freshSchema(context)
  const reports: string[] = []
  const { model, streamed, gates } = slowModel()
  const start = async () => {
    const report = (error: unknown) => void reports.push(String(error))
    const options = { models: { 'play/model': model }, agents: [agent('clerk')], report }
    const runtime = createRuntime({ store: postgresStore(place), ...options })
    later(() => runtime.close())
    await runtime.ready
    return runtime
  }
  const [working, reading] = [await start(), await start()]
  await listening(place, 2)
  const spy = await outsider(later, place)
  await working.start({ agent: 'clerk', id: 'chats/secret-42' })
  await working.start({ agent: 'clerk', id: 'chats/unread' })
  const reader = follow(later, reading, 'chats/secret-42')
  // From the first delta on both know of each other.
  const isDelta = (word: string) => (event: AnyEvent) =>
    event.type === 'delta' && JSON.stringify(event.content).includes(word)
  let run = await working.run('chats/secret-42', { prompt: 'Say it.' })
  await reader.until(isDelta('marzipan'))

  const before = reader.events.length
  const forged = poison('chats/secret-42')
  await spy.send(forged)
  await spy.send(forged.map((payload) => payload.replaceAll('secret-42', 'unread')))
  for (let round = 0; round < 3; round += 1) await spy.send([...spy.recorded])
  gates[0].open()
  await reader.until(isDelta('truffle'))
  gates[1].open()
  await run.result
  await reader.until(({ type, kind }) => type === 'end' && kind === 'agent')
  const seqs = reader.events.flatMap(({ seq }) => (seq === null || seq === undefined ? [] : [seq]))
  assert.deepEqual(
    seqs,
    [...new Set(seqs)].toSorted((one, other) => one - other),
  )
  const texts = reader.events.slice(before).filter(({ type }) => type === 'delta')
  assert.deepEqual(
    texts.map(({ content }) => content['text']),
    ['truffle'],
    'no text is repeated or forged',
  )

  run = await working.run('chats/unread', { prompt: 'Say it where nobody reads.' })
  await run.result
  assert.equal(streamed.at(-1), false, 'no forged reader makes a model stream')

  const foreign = spy.recorded.filter((payload) => !forged.some((one) => one === payload || payload.includes('unread')))
  assert.ok(foreign.length > 3, 'there was something to read')
  const hidden = ['default', 'secret', 'unread', 'marzipan', 'truffle', 'clerk', 'appended', place.schema]
  for (const payload of foreign) {
    const body = payload.split('.').at(-1) ?? ''
    const spellings = [
      payload,
      ...['utf8', 'latin1'].map((one) => Buffer.from(body, 'base64url').toString(one as 'utf8')),
    ]
    for (const word of hidden) assert.ok(!spellings.some((text) => text.includes(word)), `${word} in ${payload}`)
  }
  for (const sql of ['select * from {s}.notice_key', 'select * from {s}.entries', 'table {s}.conversations'])
    await assert.rejects(spy.denied(sql), { code: '42501' }, sql)
  const ignored = reports.filter((text) => /\d+ notifications? (was|were) ignored/.test(text))
  assert.equal(ignored.length, reports.length, reports.join('\n'))
  assert.ok(ignored.length > 0 && ignored.length <= 4, 'a flood of them is a line or two')
})

test('a role that may read every table does not get the key of the notifications', async (context) => {
  const place = await freshSchema(context)
  const store = postgresStore(place)
  await store.open()
  context.after(() => store.close())
  const name = `${place.schema}_reports`
  await asAdmin(place.url, async (client) => {
    await client.query(`create role "${name}" login`)
    await client.query(`grant usage on schema "${place.schema}" to "${name}"`)
    await client.query(`grant select on all tables in schema "${place.schema}" to "${name}"`)
    await client.query(`set role "${name}"`)
    const keys = await client.query(`select key from "${place.schema}".notice_key`)
    await client.query('reset role')
    await client.query(`drop owned by "${name}"`)
    await client.query(`drop role "${name}"`)
    assert.deepEqual(keys.rows, [])
  })
})

test('where the key of the notifications was lost, a store that may not make one works without notifications and reports it', {
  timeout,
}, async (context) => {
  const later = closers(context)
  const place = await freshSchema(context)
  const problems: string[] = []
  const first = postgresStore(place)
  await first.open()
  later(() => first.close())
  const name = `${place.schema}_login`
  await asAdmin(place.url, async (client) => {
    await client.query(`create role "${name}" login`)
    await client.query(`grant "${place.schema}_app", "${place.schema}_worker" to "${name}"`)
    await client.query(`delete from "${place.schema}".notice_key`)
  })
  later(() => asAdmin(place.url, (client) => client.query(`drop role "${name}"`)))
  const at = new URL(place.url)
  at.username = name
  const reported = Promise.withResolvers<void>()
  const well = Promise.withResolvers<void>()
  const store = postgresStore({ ...place, url: at.href })
  store.listen({
    appended() {},
    due() {},
    gone() {},
    historyChanged() {},
    received() {},
    watched: () => [],
    listening(problem) {
      if (problem === null) return well.resolve()
      problems.push(problem.message)
      reported.resolve()
    },
    ignored() {},
  })
  await store.open()
  await reported.promise
  assert.match(problems.join(), /notice_key. is empty: as its owner run/)
  assert.deepEqual(await store.listDatabases(), [])
  // The owner opens the store: it is made anew, and found.
  const owner = postgresStore(place)
  await owner.open()
  await well.promise
  await Promise.all([owner.close(), store.close()])
})
