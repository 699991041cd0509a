/** What an agent may search: which bases its values open, which of them a model may name, and what a failing search tells. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { createRuntime, defineAgent, memoryStore, type ModelRequest } from '@witan/core'
import { defineKnowledgeSource, type SourceSearch } from '@witan/core/knowledge'
import { call, scriptedModel, toolResults } from '@witan/core/testing'

const searches: SourceSearch[] = []
const source = (id: string, search: (asked: SourceSearch) => unknown = async () => []) =>
  defineKnowledgeSource({
    id,
    description: `About ${id}.`,
    attributes: { floor: 'number', tags: 'string[]' },
    search: async (asked) => {
      searches.push(asked)
      return (await search(asked)) as []
    },
  })

/** What the model of an agent with these bases reads of one search. */
async function searched(
  bases: readonly unknown[],
  args: object,
  parameters: Readonly<Record<string, unknown>> = {},
): Promise<{
  readonly result: string
  readonly offered: string
  readonly failed: readonly string[]
  readonly codes: readonly string[]
}> {
  searches.length = 0
  const model = scriptedModel((_, turn) => (turn === 0 ? call('search_knowledge', { ...args }) : 'done'), { id: 'x/y' })
  const agent = defineAgent({
    id: 'desk',
    instructions: 'Search.',
    model,
    questions: true,
    parameters: [
      { name: 'floor', type: 'number', sendToModel: false },
      { name: 'tags', type: 'string[]', sendToModel: false },
    ],
    knowledgeBases: [...bases],
  } as Parameters<typeof defineAgent>[0])
  const runtime = createRuntime({
    agents: [agent],
    knowledge: [
      source('open', async ({ query }) => [
        { id: 7, title: `On ${query}`, text: 'a\u2028b' },
        { id: 'x' },
        null,
        { text: '' },
      ]),
      source('broken', () => Promise.reject(new Error('secret words of the server'))),
      source('walled', async () => [{ id: 'w', text: 'behind' }]),
    ],
    report: () => {},
  })
  await runtime.conversation('desk', { id: 'chats/1', parameters: { ...parameters } }).run('go')
  const { events } = await runtime.readEvents('chats/1', { verbose: true, limit: 1000 })
  await runtime.close()
  const [first, second] = model.requests
  return {
    result: second === undefined ? '' : (toolResults(second)[0] ?? ''),
    offered: JSON.stringify(first?.tools.find(({ name }) => name === 'search_knowledge') ?? null),
    failed: events.flatMap((event) => (event.type === 'error' && event.kind === 'tool' ? [event.content.code] : [])),
    codes: events.flatMap((event) => (event.type === 'notice' ? [event.content.code] : [])),
  }
}

test('a search elsewhere is read as passages; what has no text, or is none, is left out', async () => {
  const { result } = await searched(['open'], { query: 'sauna' })
  const { passages } = JSON.parse(result) as { passages: Record<string, unknown>[] }
  assert.deepEqual(
    passages.map(({ id: _, ...rest }) => rest),
    [{ base: 'open', title: 'On sauna', heading: '', uri: null, text: 'a\u2028b' }],
  )
  assert.doesNotMatch(result, /\u2028/, 'a quoted text forges no line')
})

test('a search that fails is told by the base alone, and the other bases are searched', async () => {
  const { result, codes } = await searched(['broken', 'open'], { query: 'sauna' })
  assert.match(result, /On sauna/)
  assert.doesNotMatch(result, /secret words/)
  assert.deepEqual(codes, ['KNOWLEDGE_FAILED'])
})

test('a value opens a base, with each of its values in the filter; without one it is closed, and no model names it', async () => {
  const walled = { id: 'walled', filter: { floor: 'floor', tags: 'tags' }, limit: 3 }
  const open = await searched([walled, 'open'], { query: 'so' }, { floor: 2, tags: ['a', 'b'] })
  assert.deepEqual([...searches.map(({ filter }) => filter)].sort(), [{ floor: 2, tags: ['a', 'b'] }, {}].sort())
  assert.match(open.offered, /"enum":\["walled","open"\]/)
  assert.deepEqual(open.codes, [])
  const closed = await searched([walled, 'open'], { query: 'so', knowledge_base: 'walled' }, { floor: 2 })
  assert.deepEqual(closed.codes, ['KNOWLEDGE_UNAVAILABLE', 'ARGUMENT_UNKNOWN_DROPPED'])
  assert.doesNotMatch(closed.offered, /walled/)
})

test('a model that searches although every base is closed reads so, whatever it asks', async () => {
  const walled = { id: 'walled', filter: { floor: 'floor' } }
  for (const args of [{ query: 'so' }, { query: 'so', knowledge_base: 'walled' }, {}, { query: 7 }]) {
    const { result, offered, codes, failed } = await searched([walled], args)
    assert.equal(offered, 'null')
    assert.equal(codes[0], 'KNOWLEDGE_UNAVAILABLE')
    assert.deepEqual(failed, ['KNOWLEDGE_UNAVAILABLE'])
    assert.match(result, /no knowledge base can be searched in this conversation/)
    assert.doesNotMatch(result, /walled|floor/)
    assert.equal(searches.length, 0)
  }
})

test('another base than those that are open is no argument', async () => {
  for (const base of ['walled', '__proto__', 'knowledge:open', 7]) {
    const { result } = await searched(['open', 'broken'], { query: 'so', knowledge_base: base })
    assert.match(result, /expected one of open, broken/, String(base))
    assert.equal(searches.length, 0)
  }
})

test('[D16] a base over a table: its query is checked when it is saved, and run with what the agent binds', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'witan-base-'))
  context.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'crm.db')
  const database = new DatabaseSync(file)
  database.exec(`create table notes (id integer, title text, text text, customer text);
    insert into notes values (1, 'One', 'wine for alpha', 'alpha'), (2, 'Two', 'wine for beta', 'beta'), (3, null, 'bread', 'alpha')`)
  database.close()
  const sql = `select id, title, text, null as uri from notes
    where customer = $customer and text like '%' || $query || '%' order by id limit $limit`
  const base = (query: object) => ({ id: 'notes', attributes: { customer: 'string' as const }, query: query as never })
  const model = scriptedModel((_, turn) => (turn === 0 ? call('search_knowledge', { query: 'wine' }) : 'done'))
  const runtime = createRuntime({
    sources: { crm: { kind: 'sqlite', file } },
    knowledge: [base({ source: 'crm', query: sql })],
    agents: [
      defineAgent({
        id: 'desk',
        instructions: 'Search.',
        model,
        parameters: [{ name: 'who', sendToModel: false }],
        knowledgeBases: [{ id: 'notes', filter: { customer: 'who' } }],
      }),
    ],
  })
  context.after(() => runtime.close())
  await runtime.conversation('desk', { parameters: { who: 'alpha' } }).run('go')
  const read = JSON.parse(toolResults(model.requests[1] as ModelRequest)[0] ?? '') as { passages: { title: string }[] }
  assert.deepEqual(
    read.passages.map(({ title }) => title),
    ['One'],
  )
  const rows: readonly [query: object, code: string][] = [
    [{ source: 'nowhere', query: sql }, 'SOURCE_UNKNOWN'],
    [{ source: 'crm', query: 'delete from notes' }, 'QUERY_NOT_READ_ONLY'],
    [{ source: 'crm', query: 'select id from nothing' }, 'QUERY_FAILED'],
    [{ source: 'crm', query: `${sql} offset $where` }, 'QUERY_PARAM_UNCOVERED'],
  ]
  for (const [query, code] of rows) await assert.rejects(runtime.knowledge.save(base(query)), { code })
  await assert.rejects(runtime.knowledge.documents.ingest('notes', { documents: [] }), { code: 'KNOWLEDGE_NOT_OURS' })
})

test('what an embedding model used is kept where the search fails', async () => {
  const store = memoryStore()
  const broken = new Proxy(store.knowledge, {
    get: (from, name) =>
      name === 'rankByWords' ? () => Promise.reject(new Error('away')) : Reflect.get(from, name, from),
  })
  const searches = scriptedModel((_, turn) => (turn === 0 ? call('search_knowledge', { query: 'wine' }) : 'done'))
  const runtime = createRuntime({
    store: new Proxy(store, { get: (from, name) => (name === 'knowledge' ? broken : Reflect.get(from, name, from)) }),
    embeddings: { near: { id: 'near', embed: async () => ({ vectors: [[1]], tokens: 7 }) } },
    knowledge: [{ id: 'house', embedding: 'near' }],
    agents: [
      defineAgent({
        id: 'desk',
        instructions: 'Search.',
        model: searches,
        knowledgeBases: [{ id: 'house', retrieval: 'both' }],
      }),
    ],
    report: () => {},
  })
  const { usage } = await runtime.conversation('desk', { id: 'chats/1' }).run('go')
  const { items } = await runtime.usage({ by: 'model' })
  const { events } = await runtime.readEvents('chats/1', { verbose: true })
  await runtime.close()
  assert.ok(events.some(({ type, kind }) => type === 'error' && kind === 'tool'))
  assert.equal(usage.byAgent['desk']?.inputTokens, 14 + (items.find(({ key }) => key !== 'near')?.inputTokens ?? 0))
  assert.deepEqual(items.find(({ key }) => key === 'near')?.inputTokens, 14, 'one by itself, one by the tool')
})
