/** What embedding models place counts in usage alone: of a run in its sums, of ingests and administrators in those of the database, and in no limit. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { callsOf, text } from './support/knowledge.ts'
import { createModelServer } from './support/model-server.ts'
import { agent, callsTo, type Stage, sub } from './support/stage.ts'
import type { RunResult, RunState, UsageCounts } from './support/wire.ts'
import { createWitan, type Witan } from './support/witan.ts'

/** Prices in dollars for a million tokens. The models `free` and `unread` have none. */
const price = (inputPerMillion: number, outputPerMillion: number) => ({ inputPerMillion, outputPerMillion })
const embedding = 'placer/small'

let stage: Stage
let placer: Awaited<ReturnType<typeof createPlacer>>
before(async () => {
  placer = await createPlacer()
  const model = await createModelServer()
  const connection = (baseUrl: string, prices: object) => ({ kind: 'openai-compatible', baseUrl, prices })
  const priced = Object.fromEntries(['reader', 'chief', 'frugal', 'doubter'].map((id) => [id, price(1, 1)]))
  const connections = { play: connection(model.url, priced), placer: connection(placer.url, { small: price(2, 0) }) }
  const witan = await createWitan({
    modelUrl: model.url,
    store: 'file',
    prepare: () => ({ connections, telemetry: { metrics: true } }),
  })
  stage = { model, witan, ...callsTo(witan), close: () => end(witan) }
  await put('house', { embedding })
  await put('attic', { embedding: 'placer/free' })
  await ingest('house', [text('wine.txt', 'The wine is in the cellar.')])
  await ingest('attic', [text('box.txt', 'The box is under the roof.')])
})
after(() => stage?.close())

async function end(witan: Witan): Promise<void> {
  await witan.close()
  await stage.model.close()
  await placer.close()
  assert.deepEqual(stage.model.unexpected, [])
}

const { put, ingest, search } = callsOf(() => stage)

/** Plays an embedding endpoint: each text is at one place, and `usage` is what it says that a request used. */
async function createPlacer() {
  const placed = { usage: { prompt_tokens: 7, total_tokens: 7 } as unknown, requests: 0, refused: '' }
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const { input } = JSON.parse(Buffer.concat(parts).toString()) as { input: string[] }
    placed.requests += 1
    if (placed.refused !== '' && input.some((one) => one.includes(placed.refused))) {
      response.writeHead(400, { 'content-type': 'application/json' })
      return void response.end('{"error":{"message":"It is refused."}}')
    }
    const data = input.map((_, index) => ({ index, embedding: [1, 0, 0] }))
    const usage = placed.usage === undefined ? '' : `,"usage":${placed.usage as string}`
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(`{"data":${JSON.stringify(data)}${usage}}`)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const says = (usage: string | undefined) => {
    placed.usage = usage
    placed.requests = 0
  }
  says('{"prompt_tokens":7}')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    says,
    requests: () => placed.requests,
    refuses: (word: string) => {
      placed.refused = word
    },
    close: () => new Promise((resolve) => server.close(resolve)),
  }
}

interface Item extends UsageCounts {
  key: string
  costUsd: number | null
}

async function itemsBy(by: string): Promise<Map<string, Item>> {
  const { status, body, text } = await stage.witan.call<{ items: Item[] }>('GET', `/api/v1/usage?by=${by}&limit=200`)
  assert.equal(status, 200, text)
  return new Map(body.items.map((item) => [item.key, item]))
}

const brief = (used: (UsageCounts & { costUsd?: number | null; complete?: boolean }) | undefined) =>
  used === undefined
    ? undefined
    : [
        used.modelCalls,
        used.toolCalls,
        used.inputTokens,
        used.outputTokens,
        used.totalTokens,
        used.costUsd,
        used.complete,
      ]

const asked = { calls: [{ name: 'search_knowledge', args: { query: 'Where is the wine?' } }] }

describe('a search in a run', () => {
  let run: RunResult
  const all = [2, 1, 44, 3, 47, 0.000061, true]

  test('counts in the usage of the run, of its call and of its document, and as no call of a model', async () => {
    placer.says('{"prompt_tokens":7}')
    await stage.save(agent('reader', { knowledgeBases: [{ id: 'house', retrieval: 'both' }] }))
    stage.model.script(
      'reader',
      { ...asked, usage: { input: 10, output: 1 } },
      { text: 'In the cellar.', usage: { input: 20, output: 2 } },
    )
    run = await stage.ask('reader', 'Where is the wine?', { id: 'chats/1' })
    assert.equal(run.status, 'completed', JSON.stringify(run.error))
    assert.equal(placer.requests(), 2, 'one by itself, one by the tool')
    assert.deepEqual(brief(run.usage), all)
    assert.deepEqual(brief(run.usage.byAgent['reader']), all)
    const { body } = await stage.witan.call<RunState>('GET', `/api/v1/runs/${run.runId}`)
    assert.deepEqual(brief(body.tree.usage), all, 'the call')
    assert.deepEqual(brief((await stage.document('chats/1')).totalUsage), all, 'the document')
    const ended = (await stage.events('chats/1')).find(({ type, kind }) => type === 'end' && kind === 'agent')
    assert.deepEqual((ended?.content as { usage?: unknown } | undefined)?.usage, run.usage, 'the event')
  })

  test('[T27] counts in the sums of the database, for the embedding model by its name', async () => {
    const models = await itemsBy('model')
    assert.deepEqual(brief(models.get('play/reader')), [2, 0, 30, 3, 33, 0.000033, true])
    assert.deepEqual(
      brief(models.get(embedding)),
      [0, 0, 21, 0, 21, 0.000042, true],
      'one of the ingest, two of the run',
    )
    assert.deepEqual(brief((await itemsBy('agent')).get('reader')), all)
    assert.deepEqual(brief((await itemsBy('conversation')).get('chats/1')), all)
    assert.deepEqual(brief((await itemsBy('user')).get('user:local')), all)
  })

  test('counts once: a fork adds nothing, and a killed process loses nothing', async () => {
    const { lastSeq } = await stage.conversation('chats/1')
    const fork = await stage.witan.call<{ id: string }>('POST', '/api/v1/conversations/chats%2F1/fork', {
      body: { seq: lastSeq },
    })
    assert.equal(fork.status, 201, fork.text)
    assert.deepEqual(brief((await itemsBy('agent')).get('reader')), all)
    assert.equal((await itemsBy('conversation')).has(fork.body.id), false)
    stage.model.on('reader', ({ body }) =>
      body.messages.at(-1)?.role === 'tool'
        ? { text: 'In the cellar.', usage: { input: 20, output: 2 } }
        : { ...asked, usage: { input: 10, output: 1 } },
    )
    await stage.run('chats/1', { prompt: 'Where is the wine?' })
    await stage.witan.kill()
    await stage.witan.start()
    const twice = [4, 2, 88, 6, 94, 0.000122, true]
    assert.deepEqual(brief((await itemsBy('conversation')).get('chats/1')), twice)
    assert.deepEqual(brief((await itemsBy('agent')).get('reader')), twice)
    assert.deepEqual(brief((await itemsBy('model')).get(embedding)), [0, 0, 35, 0, 35, 0.00007, true])
    assert.deepEqual(brief((await stage.document('chats/1')).totalUsage), twice)
  })

  test('of a child counts for the child, and in the sum of the tree', async () => {
    await stage.save(
      agent('chief', { subAgents: [sub('doubter')] }),
      agent('doubter', { knowledgeBases: [{ id: 'house', retrieval: 'auto' }] }),
    )
    stage.model.script('chief', { calls: [{ name: 'doubter', args: { message: 'Where?' } }] }, { text: 'Done.' })
    stage.model.script('doubter', { text: 'In the cellar.' })
    const { usage } = await stage.ask('chief', 'Where is the wine?')
    assert.deepEqual([usage.modelCalls, usage.inputTokens], [3, 37])
    assert.equal(usage.byAgent['chief/doubter']?.inputTokens, 17)
    assert.equal(usage.byAgent['chief']?.inputTokens, 20)
  })
})

test('no limit of a run counts what is placed', async () => {
  placer.says('{"prompt_tokens":900000}')
  const limits = { maxModelCalls: 2, maxTokens: 100, maxCostUsd: 0.001 }
  await stage.save(agent('frugal', { knowledgeBases: [{ id: 'house', retrieval: 'both' }], limits }))
  stage.model.script('frugal', asked, { text: 'In the cellar.' })
  const run = await stage.ask('frugal', 'Where is the wine?')
  assert.equal(run.status, 'completed', JSON.stringify(run.error))
  assert.deepEqual([run.usage.modelCalls, run.usage.inputTokens], [2, 1_800_020])
})

test('without a price the cost is unknown, whichever comes first', async () => {
  placer.says('{"prompt_tokens":7}')
  for (const retrieval of ['auto', 'tool']) {
    await stage.save(agent('reader', { knowledgeBases: [{ id: 'attic', retrieval }] }))
    stage.model.on('reader', ({ body }) =>
      retrieval === 'tool' && body.messages.at(-1)?.role !== 'tool' ? asked : { text: 'Under the roof.' },
    )
    const { usage } = await stage.ask('reader', 'Where is the box?', { id: `chats/${retrieval}` })
    assert.deepEqual([usage.costUsd, usage.complete], [null, true], retrieval)
    assert.equal((await itemsBy('conversation')).get(`chats/${retrieval}`)?.costUsd, null)
  }
  const item = (await itemsBy('model')).get('placer/free')
  assert.deepEqual([item?.inputTokens, item?.costUsd], [21, null], 'one of the ingest')
})

const hostile = ['{"prompt_tokens":-5}', '{"prompt_tokens":1e300}', '{"prompt_tokens":1e999}', '{"prompt_tokens":1.5}']
const odd = [
  '{"prompt_tokens":"7"}',
  '{"prompt_tokens":null}',
  '{"prompt_tokens":9007199254740991}',
  '{}',
  '[]',
  'null',
]
for (const usage of [...hostile, ...odd, undefined])
  test(`what an endpoint does not say in a form that can be is unknown: ${usage ?? 'no usage'}`, async () => {
    placer.says(usage)
    await stage.save(agent('doubter', { knowledgeBases: [{ id: 'house', retrieval: 'auto' }] }))
    stage.model.on('doubter', () => ({ text: 'In the cellar.' }))
    const run = await stage.ask('doubter', 'Where is the wine?')
    assert.equal(placer.requests(), 1)
    assert.deepEqual(brief(run.usage), [1, 0, 10, 5, 15, 0.000015, false])
    const sums = (await itemsBy('conversation')).get(run.conversationId)
    assert.deepEqual(brief(sums), brief(run.usage))
  })

describe('what is placed outside of runs', () => {
  /** What a call adds to the sums by model and by day; no others change. */
  const addedBy = async (work: () => Promise<unknown>) => {
    const others = ['agent', 'conversation', 'user']
    const read = async () => Promise.all(['model', 'day', ...others].map(itemsBy))
    const [models, days, ...before] = await read()
    await work()
    const [model, day, ...now] = await read()
    assert.deepEqual(now, before, others.join())
    const of = (all: ReadonlyMap<string, Item> | undefined, key: string) => all?.get(key)
    const [today = ''] = [...(day?.keys() ?? [])]
    const tokens = (of(day, today)?.inputTokens ?? 0) - (of(days, today)?.inputTokens ?? 0)
    const [was, is] = [of(models, embedding), of(model, embedding)]
    const cost = ((is?.costUsd ?? 0) - (was?.costUsd ?? 0)) * 1_000_000
    assert.equal((is?.inputTokens ?? 0) - (was?.inputTokens ?? 0), tokens)
    assert.deepEqual([is?.modelCalls, is?.totalTokens], [0, is?.inputTokens])
    return [tokens, Math.round(cost)]
  }

  test('[T27] counts by model and day: an ingest, a search by an administrator, and what a changed base reads again', async () => {
    placer.says('{"prompt_tokens":7}')
    await put('loft', { embedding })
    const lines = Array.from({ length: 40 }, (_, at) => `Line ${at}: ${'word '.repeat(200)}`).join('\n\n')
    assert.deepEqual(await addedBy(() => ingest('loft', [text('a.txt', 'One.'), text('b.txt', lines)])), [28, 56])
    assert.deepEqual(await addedBy(() => ingest('loft', [text('a.txt', 'One.')])), [0, 0], 'unchanged')
    assert.deepEqual(await addedBy(() => search('loft', 'word')), [7, 14])
    assert.equal(placer.requests(), 5)
    const again = async () => {
      await put('loft', { embedding, language: 'none' })
      while (placer.requests() < 9) await new Promise((resolve) => setTimeout(resolve, 20))
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
    assert.deepEqual(await addedBy(again), [28, 56])
  })

  test('a request that is refused costs nothing, and one whose tokens are not told makes the sums a lower bound', async () => {
    placer.refuses('Refused')
    const failed = await addedBy(async () => {
      const { failed: bad } = await ingest('loft', [text('c.txt', 'Refused.')])
      assert.equal(bad[0]?.code, 'EMBEDDING_FAILED')
    })
    placer.refuses('')
    assert.deepEqual(failed, [0, 0])
    await put('untold', { embedding: 'placer/untold' })
    placer.says(undefined)
    await ingest('untold', [text('a.txt', 'One.')])
    const item = (await itemsBy('model')).get('placer/untold')
    assert.deepEqual([item?.inputTokens, item?.costUsd, item?.complete], [0, null, false])
  })

  test('every request is a figure of its model: of runs, of ingests, and of searches by administrators', async () => {
    const counts = async () => {
      const { text: figures } = await stage.witan.call('GET', '/metrics')
      const of = 'gen_ai_operation_name="embeddings",gen_ai_request_model="placer/small"'
      const count = (name: string, more = '') =>
        Number(new RegExp(`^${name}_count\\{${of}${more}\\} (\\d+)$`, 'm').exec(figures)?.[1])
      assert.doesNotMatch(figures, /"embeddings",.*gen_ai_token_type="output"|"chat",gen_ai_request_model="placer/)
      return [
        count('gen_ai_client_token_usage', ',gen_ai_token_type="input"'),
        count('gen_ai_client_operation_duration_seconds'),
      ] as const
    }
    const [tokens, seconds] = await counts()
    placer.says('{"prompt_tokens":7}')
    await ingest('loft', [text('d.txt', 'Another.')])
    await search('loft', 'another')
    stage.model.on('doubter', () => ({ text: 'In the cellar.' }))
    await stage.ask('doubter', 'Where is the wine?')
    assert.equal(placer.requests(), 3)
    placer.says(undefined)
    await search('loft', 'another')
    assert.deepEqual(await counts(), [tokens + 3, seconds + 4], 'tokens that are not told are no figure')
  })
})

test('a document that its model refuses says so where it is listed, and is found in its old form', async () => {
  placer.says('{"prompt_tokens":7}')
  await put('shed', { embedding })
  await ingest('shed', [text('rake.txt', 'The rake.'), text('saw.txt', 'The saw.')])
  type Line = { key: string; failure: Record<string, unknown> | null }
  const lines = async () => {
    const { body } = await stage.witan.call<{ items: Line[] }>('GET', '/api/v1/knowledge/shed/documents')
    return new Map(body.items.map(({ key, failure }) => [key, failure]))
  }
  assert.deepEqual(
    await lines(),
    new Map([
      ['rake.txt', null],
      ['saw.txt', null],
    ]),
  )
  placer.refuses('saw')
  await put('shed', { embedding, passageCharacters: 300 })
  for (let failure = null; failure === null; ) {
    await new Promise((resolve) => setTimeout(resolve, 20))
    failure = (await lines()).get('saw.txt') ?? null
  }
  placer.refuses('')
  const { at, retryAt, ...failure } = (await lines()).get('saw.txt') ?? assert.fail()
  const detail = 'The model `placer/small` could not place its passages.'
  assert.deepEqual(failure, { code: 'EMBEDDING_FAILED', detail, attempts: 1 })
  assert.equal(Date.parse(String(retryAt)) - Date.parse(String(at)), 300_000)
  assert.equal((await lines()).get('rake.txt'), null)
  const one = await stage.witan.call<Line>('GET', '/api/v1/knowledge/shed/documents/saw.txt')
  assert.deepEqual(one.body.failure, { ...failure, at, retryAt })
  assert.equal((await search('shed', 'saw')).length, 2)
})
