/** Knowledge over the API: bases and documents as objects, and how they are ingested, changed and listed. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Ingest, KnowledgeDocument, Passage, StoredKnowledgeBase } from '@witan/protocol/knowledge'
import { assertProblem } from './support/claims.ts'
import { agent, createStage, type Stage, until } from './support/stage.ts'
import { at, callsOf, customer, markdown, text } from './support/knowledge.ts'

let stage: Stage
before(async () => {
  stage = await createStage()
})
after(() => stage?.close())

const { put, ingest, search } = callsOf(() => stage)

describe('bases', () => {
  test('a base is an object of the database: saved, read, revised, guarded and deleted with its documents', async () => {
    const created = await put('handbook', { description: 'How we work.' })
    assert.equal(created.status, 201, created.text)
    assert.deepEqual([created.body.documents, created.body.passages, created.body.language], [0, 0, 'en'])
    assert.equal(created.headers.get('etag'), '"1"')
    assert.equal((await put('handbook', created.body)).body.revision, 1, 'a save that changes nothing makes none')
    assert.equal((await put('handbook', { description: 'Rules.' }, { 'if-match': '"1"' })).body.revision, 2)
    assertProblem(await put('handbook', {}, { 'if-match': '"1"' }), { status: 412, code: 'REVISION_MISMATCH' })
    await ingest('handbook', [text('a', 'The sauna opens at noon.')])
    await stage.save(agent('reader', { knowledgeBases: ['handbook'] }))
    const refused = await stage.witan.call('DELETE', at('handbook'))
    assertProblem(refused, { status: 409, code: 'KNOWLEDGE_REFERENCED' })
    assert.match(refused.text, /reader/)
    assert.equal((await stage.witan.call('DELETE', at('handbook', '?force=true'))).status, 204)
    assertProblem(await stage.witan.call('GET', at('handbook')), { status: 404, code: 'NOT_FOUND' })
    assert.equal((await put('handbook')).body.revision, 3, 'the count goes on')
    assert.deepEqual(await search('handbook', 'sauna'), [], 'what was deleted does not come back with the name')
  })

  test('what a base cannot be is refused, with its path', async () => {
    const rows: [body: object, code: string, path: string][] = [
      [{ attributes: { customer: 'date' } }, 'KNOWLEDGE_INVALID', 'attributes.customer'],
      [{ requiredFilters: ['customer'] }, 'KNOWLEDGE_INVALID', 'requiredFilters.0'],
      [{ passageCharacters: 50 }, 'KNOWLEDGE_INVALID', 'passageCharacters'],
      [{ langauge: 'en' }, 'UNKNOWN_KEY', 'langauge'],
    ]
    for (const [body, code, path] of rows) {
      const answer = await put('bad', body)
      assertProblem(answer, { status: 422, code })
      assert.equal((answer.body as unknown as { path: string }).path, path)
    }
    assertProblem(await put('Bad_Id'), { status: 422, code: 'ID_INVALID' })
  })

  test('agents list bases, and a check says what does not fit [F02] [F12] [F13]', async () => {
    await put('walled', { attributes: { customer: 'string' }, requiredFilters: ['customer'] })
    const rows: [use: unknown, code: string][] = [
      ['nowhere', 'KNOWLEDGE_UNKNOWN'],
      ['walled', 'KNOWLEDGE_FILTER_MISSING'],
      [{ id: 'walled', filter: { customer: 'nobody' } }, 'KNOWLEDGE_FILTER_UNBOUND'],
      [{ id: 'walled', filter: { customer: 'customerId', color: 'customerId' } }, 'KNOWLEDGE_FILTER_UNBOUND'],
    ]
    for (const [use, code] of rows) {
      const body = { agents: [agent('wrong', { parameters: [customer], knowledgeBases: [use] })] }
      assertProblem(await stage.witan.call('POST', '/api/v1/agents/batch', { body }), { status: 422, code })
    }
    const { policy: _, ...open } = customer
    const use = { id: 'walled', filter: { customer: 'customerId' } }
    const checked = await stage.witan.call<{ warnings: { code: string }[] }>('POST', '/api/v1/check', {
      body: { agents: [agent('open', { parameters: [open], knowledgeBases: [use] })] },
    })
    assert.ok(checked.body.warnings.some(({ code }) => code === 'KNOWLEDGE_FILTER_GENERATABLE'))
    await stage.save(agent('single', { parameters: [customer] }))
    const path = '/api/v1/agents/single/knowledge/walled'
    const given = await stage.witan.call('PUT', path, { body: { filter: { customer: 'customerId' } } })
    assert.equal(given.status, 201, given.text)
    assert.equal(
      (await stage.witan.call('PUT', path, { body: { filter: { customer: 'customerId' }, limit: 2 } })).status,
      200,
    )
    assert.equal((await stage.witan.call('DELETE', path)).status, 204)
    assertProblem(await stage.witan.call('DELETE', path), { status: 404, code: 'NOT_FOUND' })
    await stage.save(agent('searcher', { parameters: [customer], knowledgeBases: [use] }))
    assertProblem(await put('walled', { attributes: {} }), { status: 422, code: 'KNOWLEDGE_FILTER_UNBOUND' })
    assert.equal((await put('walled', { attributes: { customer: 'string' } })).status, 200)
  })
})

describe('documents', () => {
  before(() => put('docs', { attributes: { pages: 'number' } }))

  test('an ingest counts what it did, by digest, and a bad document fails alone', async () => {
    const first = await ingest('docs', [
      markdown('guide/start.md', '# Start\n\nTurn the key.', { attributes: { pages: 2 } }),
      text('guide/end.txt', 'Turn it back.'),
      text('../evil', 'Out.'),
      text('odd', 'Odd.', { mediaType: 'application/x-odd' }),
      text('typed', 'Typed.', { attributes: { pages: 'two' } }),
      { key: 'empty' },
    ])
    assert.deepEqual(
      [first.status, first.total, first.done, first.added, first.changed, first.unchanged],
      ['completed', 6, 6, 2, 0, 0],
    )
    assert.deepEqual(
      first.failed.map(({ key, code }) => [key, code]),
      [
        ['../evil', 'BODY_INVALID'],
        ['odd', 'MEDIA_TYPE_UNSUPPORTED'],
        ['typed', 'BODY_INVALID'],
        ['empty', 'BODY_INVALID'],
      ],
    )
    const again = await ingest('docs', [
      markdown('guide/start.md', '# Start\n\nTurn the key.', { attributes: { pages: 2 } }),
      text('guide/end.txt', 'Turn it back, gently.'),
    ])
    assert.deepEqual([again.added, again.changed, again.unchanged], [0, 1, 1])
    const read = await stage.witan.call<KnowledgeDocument>('GET', at('docs', '/documents/guide%2Fstart.md'))
    assert.equal(read.status, 200, read.text)
    assert.deepEqual(
      [read.body.title, read.body.revision, read.body.passages, read.body.attributes],
      ['Start', 1, 1, { pages: 2 }],
    )
    assert.match(read.body.text, /Turn the key\./)
    const listed = await stage.witan.call<{ items: { key: string }[] }>('GET', at('docs', '/documents?prefix=guide/'))
    assert.deepEqual(
      listed.body.items.map(({ key }) => key),
      ['guide/end.txt', 'guide/start.md'],
    )
    assert.deepEqual(
      (await search('docs', 'gently')).map(({ document, base }) => [document, base]),
      [['guide/end.txt', 'docs']],
    )
    const pruned = await ingest('docs', [text('guide/end.txt', 'Turn it back, gently.')], { prune: 'guide/' })
    assert.deepEqual([pruned.unchanged, pruned.deleted], [1, 1])
    assert.deepEqual(await search('docs', 'key'), [])
    assert.equal((await stage.witan.call('DELETE', at('docs', '/documents/guide%2Fend.txt'))).status, 204)
    assertProblem(await stage.witan.call('DELETE', at('docs', '/documents/guide%2Fend.txt')), {
      status: 404,
      code: 'NOT_FOUND',
    })
    assert.deepEqual(await search('docs', 'gently'), [])
  })

  test('who does not wait gets the ingest at once, and follows it', async () => {
    const taken = await stage.witan.call<Ingest>('POST', at('docs', '/documents'), {
      body: { documents: [text('later', 'Patience is rewarded.')], wait: false },
    })
    assert.equal(taken.status === 202 || taken.body.status === 'completed', true, taken.text)
    const path = at('docs', `/ingests/${taken.body.id}`)
    const read = () => stage.witan.call<Ingest>('GET', path, { headers: { accept: 'application/json' } })
    const ended = await until(read, ({ body }) => body.status === 'completed')
    assert.deepEqual([ended.body.added, ended.body.done, ended.body.failed], [1, 1, []])
    const stream = await stage.witan.stream('GET', path)
    const frames: Ingest[] = []
    for await (const { data } of stream.frames) frames.push(JSON.parse(data) as Ingest)
    assert.equal(frames.at(-1)?.status, 'completed')
    assertProblem(await stage.witan.call('GET', at('docs', '/ingests/none')), { status: 404, code: 'NOT_FOUND' })
    assertProblem(await stage.witan.call('POST', at('nowhere', '/documents'), { body: { documents: [] } }), {
      status: 404,
      code: 'NOT_FOUND',
    })
  })

  test('a base that cuts or compares words otherwise reads its documents again', async () => {
    await put('cut', { language: 'none' })
    await ingest('cut', [text('a', `The cellars are cold. ${'So it is. '.repeat(200)}`)])
    assert.deepEqual(await search('cut', 'cellar'), [], 'words as they are written')
    const passages = async () => (await stage.witan.call<StoredKnowledgeBase>('GET', at('cut'))).body.passages ?? 0
    const before = await passages()
    await put('cut', { language: 'en', passageCharacters: 400 })
    await until(passages, (now) => now > before)
    assert.equal((await search('cut', 'cellar'))[0]?.document, 'a')
  })

  test('a passage has the path of its headings, and an id that stays', async () => {
    await ingest('docs', [
      markdown('house.md', '# House\n\n## Cellar\n\nThe wine is below the stairs.\n\n## Roof\n\nTiles.'),
    ])
    const [found] = await search('docs', 'wine')
    assert.deepEqual([found?.heading, found?.title], ['House › Cellar', 'House'])
    assert.match(found?.id ?? '', /^k[a-z2-7]{8}$/)
    assert.equal((await search('docs', 'stairs'))[0]?.id, found?.id)
  })
})

describe('the passages of a document', () => {
  test('are listed in their order, page after page, as a search finds them', async () => {
    await put('parts', {})
    const words = ['First comes the cellar.', 'Then the kitchen.', 'At last the roof.']
    await ingest('parts', [markdown('a/house.md', words.map((one, index) => `# Part ${index}\n\n${one}`).join('\n\n'))])
    const read: Passage[] = []
    for (let cursor = '', isMore = true; isMore; ) {
      const answer = await stage.witan.call<{ items: Passage[]; nextCursor: string | null }>(
        'GET',
        at('parts', `/documents/a%2Fhouse.md/passages?limit=2${cursor}`),
      )
      assert.equal(answer.status, 200, answer.text)
      read.push(...answer.body.items)
      isMore = answer.body.nextCursor !== null
      cursor = `&cursor=${answer.body.nextCursor}`
    }
    assert.deepEqual(
      read.map(({ heading, text: found }) => [heading, found]),
      words.map((one, index) => [`Part ${index}`, one]),
    )
    assert.deepEqual(await search('parts', 'kitchen'), [read[1]])
    for (const [path, status, code] of [
      ['/documents/none/passages', 404, 'NOT_FOUND'],
      ['/documents/a%2F/passages', 404, 'NOT_FOUND'],
      ['/documents/a%2Fhouse.md/passages?cursor=x', 422, 'BODY_INVALID'],
      ['/documents/a%2Fhouse.md/passages?cursor=9', 422, 'BODY_INVALID'],
    ] as const)
      assertProblem(await stage.witan.call('GET', at('parts', path)), { status, code })
  })
})
