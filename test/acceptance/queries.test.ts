/** Query tools on a SQLite source: bound values from trusted parameters, typed arguments, and limits. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, test } from 'node:test'
import { assertEvents, assertNeverSaw, notices } from './support/claims.ts'
import { agent, createStage, type Stage, sub } from './support/stage.ts'
import { offered, offeredNames, toolContents } from './support/transcript.ts'
import type { WitanEvent } from './support/wire.ts'

const anna = 'cny_anna_zx12cv34bn56ml78kj90hg12'
const bert = 'cny_bert_fd12sa34po56iu78yt90re12'
let stage: Stage
before(async () => {
  stage = await createStage({ prepare: (folder) => ({ sources: { shop: source(folder) } }) })
})
after(() => stage?.close())

function source(folder: string): Record<string, string> {
  const file = join(folder, 'shop.db')
  const database = new DatabaseSync(file)
  database.exec(
    'create table orders (id integer primary key, owner text, item text, price real); create table numbers (n integer)',
  )
  const insert = database.prepare('insert into orders (owner, item, price) values (?, ?, ?)')
  for (const [owner, item, price] of [
    [anna, 'tea', 3.5],
    [bert, 'secret-of-bert', 9],
    [anna, 'cups', 12],
  ] as const)
    insert.run(owner, item, price)
  database.exec(
    'insert into numbers with recursive c(n) as (select 1 union all select n + 1 from c where n < 250) select n from c',
  )
  database.close()
  return { kind: 'sqlite', file }
}

const trusted = { name: 'userId', type: 'string', sendToModel: false, policy: 'forbidModelGeneration' }
const minimum = { type: 'object', properties: { minimum: { type: 'number' } }, required: ['minimum'] }
const myOrders = {
  name: 'my-orders',
  description: 'The orders of the user.',
  source: 'shop',
  query: 'select item, price from orders where owner = $userId and price >= $minimum order by id',
  parametersSchema: minimum,
}

/** A root and a leaf with the query; the leaf's model calls it with these arguments (or this text) and then ends. */
async function callQuery(
  word: string,
  call: { args?: unknown; rawArgs?: string },
): Promise<{ content: string; events: WitanEvent[] }> {
  await stage.save(
    agent(`root-${word}`, { subAgents: [sub(`leaf-${word}`)] }),
    agent(`leaf-${word}`, { parameters: [trusted], queries: [myOrders] }),
  )
  stage.model.script(`root-${word}`, { calls: [{ name: `leaf-${word}`, args: { message: 'm' } }] }, { text: 'done' })
  stage.model.script(`leaf-${word}`, { calls: [{ name: 'my-orders', ...call }] }, { text: 'ok' })
  const run = await stage.ask(`root-${word}`, 'hello', { parameters: { userId: anna } })
  assert.equal(run.status, 'completed')
  const events = await stage.events(run.conversationId)
  assertEvents(events)
  return { content: toolContents(stage.model.of(`leaf-${word}`)[1])[0] ?? '', events }
}

const starts = (events: WitanEvent[], name: string) =>
  events.filter((event) => event.kind === 'tool' && event.type === 'start' && event.content.name === name)

test('a query’s rows are an array of the user’s own, and the bound name is not in its schema [R49] [R36] [Rb42]', async () => {
  const { content, events } = await callQuery('plain', { args: { minimum: 1 } })
  assert.deepEqual(JSON.parse(content), [
    { item: 'tea', price: 3.5 },
    { item: 'cups', price: 12 },
  ])
  assert.deepEqual(offered(stage.model.of('leaf-plain')[0]), [
    { name: 'my-orders', properties: ['minimum'], required: ['minimum'] },
  ])
  const [start] = starts(events, 'my-orders')
  assert.deepEqual(start?.content.arguments, { minimum: 1 })
  assert.deepEqual(start?.content.bound, ['userId'])
  assert.equal(notices(events, 'ARGUMENT_OVERRIDE_IGNORED').length, 0)
  assertNeverSaw(stage.model.seen, anna)
  assert.equal(JSON.stringify(events).includes(anna), false)
})

test('a model’s argument narrows the rows', async () => {
  const { content } = await callQuery('narrow', { args: { minimum: 10 } })
  assert.deepEqual(JSON.parse(content), [{ item: 'cups', price: 12 }])
})

test('a model that passes the bound name gets the bound user’s rows, and a notice is left [C19] [R44] [Rb09]', async () => {
  const { content, events } = await callQuery('override', { args: { minimum: 1, userId: bert } })
  assert.deepEqual(JSON.parse(content), [
    { item: 'tea', price: 3.5 },
    { item: 'cups', price: 12 },
  ])
  const found = notices(events, 'ARGUMENT_OVERRIDE_IGNORED')
  assert.equal(found.length, 1)
  assert.ok(JSON.stringify(found[0]?.content).includes('userId'))
  assertNeverSaw(stage.model.seen, 'secret-of-bert')
  assertNeverSaw(stage.model.seen, anna)
})

test('arguments off the schema are a tool error that names them, and the run goes on', async () => {
  const { content } = await callQuery('wrong', { args: { minimum: 'many' } })
  const { error } = JSON.parse(content) as { error: string }
  assert.ok(error.includes('minimum'), error)
  assert.equal(error.includes('userId'), false, 'no hidden name in an error to the model')
})

test('arguments that are no JSON are a tool error, and the run goes on', async () => {
  const { content } = await callQuery('torn', { rawArgs: '{"minimum": 1' })
  assert.equal(typeof (JSON.parse(content) as { error: string }).error, 'string')
})

test('a hidden trusted value in a row is scrubbed before the model reads it [D15] [C17]', async () => {
  const echo = {
    name: 'echo',
    description: 'Echoes.',
    source: 'shop',
    query: 'select owner, item from orders where owner = $userId order by id',
    parametersSchema: {},
  }
  await stage.save(agent('echoer', { parameters: [trusted], queries: [echo] }))
  stage.model.script('echoer', { calls: [{ name: 'echo' }] }, { text: 'ok' })
  const run = await stage.ask('echoer', 'hello', { parameters: { userId: anna } })
  assert.equal(run.status, 'completed')
  assert.ok(toolContents(stage.model.of('echoer')[1])[0]?.includes('tea'))
  assertNeverSaw(stage.model.of('echoer'), anna)
})

test('rows beyond 200 are cut with a marker that the model reads [D16] [bad input 18]', async () => {
  const all = {
    name: 'all-numbers',
    description: 'Many.',
    source: 'shop',
    query: 'select n from numbers order by n',
    parametersSchema: {},
  }
  await stage.save(agent('many', { queries: [all] }))
  stage.model.script('many', { calls: [{ name: 'all-numbers' }] }, { text: 'ok' })
  const run = await stage.ask('many', 'hello')
  const content = toolContents(stage.model.of('many')[1])[0] ?? ''
  const read: unknown[] = JSON.parse(content)
  assert.deepEqual([read.length, read[199], read[200]], [201, { n: 200 }, 'first 200 of more rows shown'])
  const end = (await stage.events(run.conversationId)).find((event) => event.kind === 'tool' && event.type === 'end')
  assert.equal(end?.content.truncated, true)
})

test('a row beyond 256 kB is an error and not an empty array [D16] [bad input 18]', async () => {
  const wide = { name: 'wide', source: 'shop', query: 'select hex(zeroblob(200000)) as w', parametersSchema: {} }
  await stage.save(agent('wide-eyed', { queries: [wide] }))
  stage.model.script('wide-eyed', { calls: [{ name: 'wide' }] }, { text: 'ok' })
  await stage.ask('wide-eyed', 'hello')
  assert.deepEqual(toolContents(stage.model.of('wide-eyed')[1]), [
    '{"error":"`wide` gave nothing: its first row is larger than 256 kB."}',
  ])
})

test('a query may stand in the initial context without being offered to the model [Rb40]', async () => {
  const context = {
    ...myOrders,
    name: 'context',
    query: 'select item from orders where owner = $userId order by id',
    parametersSchema: {},
    addToInitialContext: true,
    allowModelQueries: false,
  }
  await stage.save(agent('knows', { parameters: [trusted], queries: [context] }))
  stage.model.script('knows', { text: 'ok' })
  assert.equal((await stage.ask('knows', 'hello', { parameters: { userId: anna } })).status, 'completed')
  const [first] = stage.model.of('knows')
  assert.deepEqual(offeredNames(first), [])
  assert.deepEqual(
    toolContents(first).map((content) => JSON.parse(content)),
    [[{ item: 'tea' }, { item: 'cups' }]],
  )
})

test('a query that its model may not call is no tool for it, whatever the model writes [Rb40] [bad input 12]', async () => {
  const rest = { description: 'Reads.', source: 'shop', parametersSchema: {}, allowModelQueries: false }
  const queries = [
    { ...rest, name: 'context', query: 'select item from orders where owner = $userId', addToInitialContext: true },
    { ...rest, name: 'unused', query: 'select n from numbers' },
  ]
  await stage.save(agent('curious', { parameters: [trusted], queries }))
  stage.model.script('curious', { calls: [{ name: 'context' }, { name: 'unused' }] }, { text: 'ok' })
  assert.equal((await stage.ask('curious', 'hello', { parameters: { userId: anna } })).status, 'completed')
  const [initial, ...called] = toolContents(stage.model.of('curious')[1])
  assert.ok(initial?.includes('tea'), initial)
  assert.deepEqual(called, [
    '{"error":"unknown tool context; nothing was run. There are no tools."}',
    '{"error":"unknown tool unused; nothing was run. There are no tools."}',
  ])
})
