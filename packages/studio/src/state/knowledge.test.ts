/** What the pages of knowledge make of what is typed and chosen. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Finding, StoredAgent } from '@witan/protocol'
import { type Ingest, type StoredKnowledgeBase, withoutStoredBase } from '@witan/protocol/knowledge'
import { filterFields, outlineOf, readAttribute, readFilter, retrievalWords, searchersOf } from './knowledge.ts'
import { baseOf, doubledAttribute, draftOf, emptyBase, fieldOf, findingsByField } from './knowledge-draft.ts'
import { documentOf, mediaTypeOf, requestsOf } from './knowledge-files.ts'
import { sumOf } from './ingest-sum.ts'

const base: StoredKnowledgeBase = {
  id: 'contracts',
  description: 'Contracts.',
  language: 'en',
  attributes: { customer: 'string', year: 'number', open: 'boolean', regions: 'string[]' },
  requiredFilters: ['customer'],
  passageCharacters: 1200,
  embedding: null,
  query: null,
  revision: 3,
  source: 'data',
  ...{ by: null, via: null, at: null },
  warnings: [],
  documents: 2,
  passages: 4,
  waiting: 0,
}
const agents = [
  { id: 'plain', parameters: [], knowledgeBases: ['handbook'] },
  {
    id: 'lawyer',
    parameters: [
      { name: 'customerId', type: 'string', secret: true },
      { name: 'from', type: 'number' },
    ],
    knowledgeBases: [
      { id: 'contracts', filter: { customer: 'customerId', year: 'from' }, retrieval: 'auto', limit: 2 },
    ],
  },
  { id: 'careless', parameters: [], knowledgeBases: ['contracts'] },
  { id: 'older', parameters: [] },
] as unknown as StoredAgent[]
const searcher = (id: string) => searchersOf(agents, 'contracts').find(({ agent }) => agent.id === id) ?? null

describe('a search as an agent', () => {
  test('asks for the values of the parameters that the agent binds, in the types of the base', () => {
    assert.deepEqual(
      searchersOf(agents, 'contracts').map(({ agent, use }) => [agent.id, use.retrieval, use.limit]),
      [
        ['lawyer', 'auto', 2],
        ['careless', 'tool', 6],
      ],
    )
    const fields = filterFields(base, searcher('lawyer'))
    assert.deepEqual(
      fields.map(({ attribute, parameter, type, secret }) => [attribute, parameter, type, secret]),
      [
        ['customer', 'customerId', 'string', true],
        ['year', 'from', 'number', false],
      ],
    )
    assert.deepEqual(readFilter(fields, base, { customer: '7', year: '2026' }), {
      filter: { customer: '7', year: 2026 },
      missing: [],
      problems: {},
    })
  })

  test('is closed by each value that is missing, and by what the base demands and the agent does not bind', () => {
    const missing = (id: string, texts: Record<string, string>) =>
      readFilter(filterFields(base, searcher(id)), base, texts).missing.map(({ attribute, parameter }) => [
        attribute,
        parameter,
      ])
    assert.deepEqual(missing('lawyer', { customer: '7' }), [['year', 'from']])
    assert.deepEqual(missing('lawyer', {}), [
      ['customer', 'customerId'],
      ['year', 'from'],
    ])
    assert.deepEqual(missing('careless', {}), [['customer', null]])
    const byHand = readFilter(filterFields(base, null), base, { year: '2026' })
    assert.deepEqual(
      byHand.missing.map(({ attribute }) => attribute),
      ['customer'],
    )
    assert.deepEqual(readFilter(filterFields(base, null), base, { customer: 'a', year: 'x' }).problems, {
      year: 'This is not a number.',
    })
  })
})

test('attributes are read in their types', () => {
  const rows: [type: Parameters<typeof readAttribute>[0], text: string, value: unknown][] = [
    ['string', '7', '7'],
    ['number', '7', 7],
    ['number', '', null],
    ['number', 'seven', null],
    ['boolean', 'true', true],
    ['boolean', 'yes', null],
    ['string[]', 'north, south,', ['north', 'south']],
    ['string[]', '["a,b"]', ['a,b']],
    ['string[]', '[1]', null],
    ['any', '{"a":1}', null],
    ['any', 'text', 'text'],
  ]
  for (const [type, text, value] of rows) assert.deepEqual(readAttribute(type, text).value, value, `${type} ${text}`)
})

describe('the form of a base', () => {
  test('holds a base as it is stored, and makes the same one', () => {
    assert.deepEqual(baseOf(draftOf(base)), withoutStoredBase(base))
    const elsewhere = { ...base, name: 'CRM', embedding: 'local/e', query: { source: 'crm', query: 'select 1' } }
    const made = baseOf(draftOf(elsewhere))
    assert.deepEqual([made.name, made.embedding, made.query], ['CRM', 'local/e', elsewhere.query])
  })

  test('leaves what cannot be read to the server, and names doubled attributes', () => {
    assert.equal(baseOf({ ...emptyBase, id: 'a', passageCharacters: 'many' }).passageCharacters, 'many')
    const line = { type: 'string', required: true } as const
    const draft = {
      ...emptyBase,
      attributes: [
        { ...line, key: 0, name: 'a' },
        { ...line, key: 1, name: '' },
        { ...line, key: 2, name: 'a' },
      ],
    }
    assert.equal(doubledAttribute(draft), 'a')
    assert.equal(doubledAttribute(emptyBase), null)
    assert.deepEqual(baseOf({ ...draft, attributes: draft.attributes.slice(0, 2) }).requiredFilters, ['a'])
  })

  test('has each finding at its field; those of agents at none', () => {
    const finding = (path: string, agent = '') =>
      ({ severity: 'error', code: 'X', agent, path, detail: 'd', hint: 'h' }) as unknown as Finding
    const found = findingsByField([
      finding('knowledge.0.id'),
      finding('knowledge.0.attributes.customer'),
      finding('knowledge.0.requiredFilters.0'),
      finding('knowledge.0.query.source'),
      finding('knowledge.0.query'),
      finding('knowledgeBases.0.filter', 'lawyer'),
    ])
    assert.deepEqual(
      [...found].map(([field, list]) => [field, list.length]),
      [
        ['id', 1],
        ['attributes', 2],
        ['source', 1],
        ['query', 1],
        [null, 1],
      ],
    )
    assert.equal(fieldOf('toString'), null)
  })
})

describe('files', () => {
  test('are documents under a prefix, in base64, by the type of their ending', async () => {
    const file = new File(['# A'], 'a b.MD', { type: 'application/octet-stream' })
    assert.deepEqual(await documentOf(file, { prefix: 'guides/', attributes: { customer: 'a' } }), {
      key: 'guides/a b.MD',
      mediaType: 'text/markdown',
      data: btoa('# A'),
      attributes: { customer: 'a' },
    })
    assert.equal(mediaTypeOf({ name: 'x.docx', type: 'application/x-docx' }), 'application/x-docx')
    assert.equal(mediaTypeOf({ name: 'constructor', type: '' }), 'application/octet-stream')
  })

  test('go in requests of at most 1,000 documents and fewer than 16 MiB', () => {
    const many = Array.from({ length: 2_001 }, (_, index) => ({ key: `${index}`, text: 'x' }))
    assert.deepEqual(
      requestsOf(many).map((one) => one.length),
      [1000, 1000, 1],
    )
    const large = Array.from({ length: 5 }, (_, index) => ({ key: `${index}`, data: 'x'.repeat(6_000_000) }))
    assert.deepEqual(
      requestsOf(large).map((one) => one.length),
      [2, 2, 1],
    )
    for (const request of requestsOf(large)) assert.ok(JSON.stringify({ documents: request }).length < 16 * 2 ** 20)
    assert.deepEqual(requestsOf([]), [])
  })
})

test('ingests are counted together', () => {
  const one: Ingest = {
    id: 'i1',
    status: 'completed',
    ...{ total: 3, done: 3, added: 1, changed: 1, unchanged: 0, deleted: 0 },
    failed: [{ key: 'a', code: 'X', detail: 'd' }],
    startedAt: '',
    endedAt: '',
  }
  assert.equal(sumOf([]), null)
  assert.deepEqual(
    sumOf([one, { ...one, id: 'i2', status: 'running', total: 2, done: 1, added: 1, changed: 0, failed: [] }]),
    {
      status: 'running',
      ...{ total: 5, done: 4, added: 2, changed: 1, unchanged: 0, deleted: 0 },
      failed: one.failed,
    },
  )
})

test('what messages found is said in words', () => {
  const found = (count: number) => ({
    seq: 1,
    at: '',
    query: 'q',
    passages: Array.from({ length: count }, () => ({ id: 'k', base: 'b', document: 'd' })),
  })
  assert.equal(retrievalWords([found(1), found(2)]), 'found 3 passages')
  assert.equal(retrievalWords([found(0)]), 'found no passage')
})

test('the headings of a document stand each once, under those that they belong to', () => {
  const passage = (id: string, heading: string) => ({
    id,
    heading,
    base: 'b',
    document: 'd',
    title: '',
    uri: null,
    text: '',
  })
  const passages = [
    passage('k1', ''),
    passage('k2', 'A › B'),
    passage('k3', 'A › B'),
    passage('k4', 'A › C'),
    passage('k5', 'D'),
  ]
  assert.deepEqual(
    outlineOf(passages).map(({ words, depth, passage: first }) => [words, depth, first]),
    [
      ['A', 0, 'k2'],
      ['B', 1, 'k2'],
      ['C', 1, 'k4'],
      ['D', 0, 'k5'],
    ],
  )
})
