/**
 * What knowledge costs, and how well words find: `npm run bench:knowledge -- [--documents 10000] [--stores full,postgres] [--json FILE]`.
 * Ingests documents of 1,700 characters through the store, searches by eight words, and asks our own documentation questions whose pages are
 * known, beside the ranking that comes with SQLite.
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { parseArgs } from 'node:util'
import type { Store } from '@witan/core'
import { queryWordsOf, runWithPauses, splitPassages, wordsOf } from '@witan/core/tooling'
import { aboutHere } from './about.ts'
import { percentile } from './figure.ts'
import { gridOf, short } from './grid.ts'
import { cpuNow } from './measure.ts'
import { type GroundName, openGround, storeAt } from './ground.ts'
import { questions } from './knowledge-questions.ts'

const { values: options } = parseArgs({
  options: {
    documents: { type: 'string', default: '10000' },
    stores: { type: 'string', default: 'full,postgres' },
    json: { type: 'string' },
  },
})

type Block = Parameters<typeof splitPassages>[0] extends Iterable<infer One> ? One : never

const database = 'default'
const passageCharacters = 1_200
const vocabularySize = 30_000

/** Texts of made words, the common ones among few; the same in each run. */
function textMaker(): { word(): string; text(characters: number): string } {
  const syllables = ['ba', 'ro', 'ti', 'ken', 'mor', 'lis', 'an', 'der', 'sto', 'pel', 'gra', 'ud', 'in', 'ex', 'cor']
  const vocabulary = Array.from({ length: vocabularySize }, (_, index) => {
    let word = ''
    for (let rest = index + 1; rest > 0; rest = Math.floor(rest / 15)) word += syllables[rest % 15]
    return word
  })
  let state = 7
  const random = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
  const word = () => vocabulary[Math.floor(vocabularySize ** random()) - 1] ?? ''
  const text = (characters: number) => {
    const words: string[] = []
    for (let length = 0; length < characters; length += (words.at(-1)?.length ?? 0) + 1) words.push(word())
    return words.join(' ')
  }
  return { word, text }
}

interface Written {
  readonly key: string
  readonly blocks: readonly Block[]
  readonly customer: string
}

/** Ingests documents as the ingest loop does: eight at a time. */
async function ingest({ knowledge }: Store, documents: readonly Written[], base: string): Promise<void> {
  const byKey = new Map(documents.map((one) => [one.key, one]))
  const pending = documents.map(({ key, blocks, customer }) => {
    const content = blocks.map(({ text }) => text).join('\n\n')
    return { key, title: null, uri: null, mediaType: 'text/plain', content, attributes: { customer }, digest: key }
  })
  const id = `ingest-${documents[0]?.key}`
  await knowledge.beginIngest(database, { base, id, at: 1, prune: null, failed: [], pending })
  for (;;) {
    const held = await knowledge.claimDocuments({ owner: 'bench', leaseMs: 60_000, limit: 8 })
    if (held.length === 0) return
    await Promise.all(
      held.map(async (one) => {
        const blocks = byKey.get(one.key)?.blocks ?? []
        const pieces = await runWithPauses(splitPassages(blocks, passageCharacters))
        const passages = pieces.map((piece) => ({ ...piece, words: wordsOf(`${piece.heading} ${piece.text}`, 'en') }))
        const { key: title, mediaType, attributes, digest } = one
        const form = { title, uri: null, mediaType, attributes, digest, blocks, passages, vectors: null, reading: 'en' }
        if (!(await knowledge.endDocument('bench', one, { kind: 'stored', form, at: 1 })))
          throw new Error(`lost ${title}`)
      }),
    )
  }
}

/** What one store needed. Times are ms, memory MB; CPU is that of all threads of this process. */
async function measure(name: GroundName, ground: ReturnType<typeof openGround>) {
  const store = storeAt(await ground.site(name))
  await store.open()
  const made = textMaker()
  const count = Number(options.documents)
  globalThis.gc?.()
  const before = process.memoryUsage().rss
  let peak = before
  const loop = monitorEventLoopDelay({ resolution: 1 })
  const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 20)
  loop.enable()
  const [from, cpu] = [performance.now(), cpuNow()]
  for (let at = 0; at < count; at += 500) {
    const documents = Array.from({ length: Math.min(500, count - at) }, (_, index) => {
      const blocks = [0, 1].map(() => ({ kind: 'paragraph', text: made.text(850) }) as const)
      return { key: `docs/${at + index}`, blocks, customer: `c${index % 10}` }
    })
    await ingest(store, documents, 'made')
  }
  const [ingestMs, ingestCpuMs] = [performance.now() - from, (cpuNow() - cpu) / 1_000]
  clearInterval(watch)
  const { passages } = await store.knowledge.countKnowledge(database, 'made')
  const held = loop.max / 1e6
  const all = await search(store, made, [])
  const filtered = await search(store, made, [{ name: 'customer', values: ['c3'] }])
  await store.close()
  return {
    store: name,
    documents: count,
    passages,
    ingestMs,
    ingestCpuMs,
    memoryMb: (peak - before) / 1e6,
    heldMs: held,
    all,
    filtered,
  }
}

async function search(
  store: Store,
  made: ReturnType<typeof textMaker>,
  filter: readonly { name: string; values: string[] }[],
) {
  const times: number[] = []
  let cpu = cpuNow()
  const loop = monitorEventLoopDelay({ resolution: 1 })
  for (let round = 0; round < 220; round += 1) {
    if (round === 20) {
      loop.enable()
      cpu = cpuNow()
    }
    const words = queryWordsOf(Array.from({ length: 8 }, made.word).join(' '), 'en')
    const from = performance.now()
    const scopes = [{ base: 'made', filter }]
    const places = await store.knowledge.rankByWords({ database, scopes, words, limit: 6 })
    await store.knowledge.readPassages(database, scopes, places)
    if (round >= 20) times.push(performance.now() - from)
  }
  return {
    p50: percentile(times, 0.5),
    p95: percentile(times, 0.95),
    heldMs: loop.max / 1e6,
    cpuMs: (cpuNow() - cpu) / 1_000 / times.length,
  }
}

/** The pages of our documentation, in blocks. */
function pages(): Written[] {
  return globSync('docs/{concepts,decisions,guides}/*.md').map((file) => {
    const blocks = readFileSync(file, 'utf8')
      .split(/\n{2,}/)
      .map((text): Block => {
        const heading = /^(#{1,6}) (.*)$/.exec(text)
        if (heading === null) return { kind: 'paragraph', text }
        return { kind: 'heading', level: heading[1]?.length ?? 1, text: heading[2] ?? '' }
      })
    return { key: file.replace(/^docs\//, '').replace(/\.md$/, ''), blocks, customer: 'all' }
  })
}

/** The ranking that comes with SQLite, over the same passages. */
async function plainSearch(documents: readonly Written[], tokenizer: string) {
  const db = new DatabaseSync(':memory:')
  db.exec(`create virtual table passages using fts5(key unindexed, text, tokenize = '${tokenizer}')`)
  const insert = db.prepare('insert into passages (key, text) values (?, ?)')
  for (const { key, blocks } of documents)
    for (const { heading, text } of await runWithPauses(splitPassages(blocks, passageCharacters)))
      insert.run(key, `${heading} ${text}`)
  const select = db.prepare('select key from passages where passages match ? order by bm25(passages), key limit 100')
  return async (question: string) => {
    const words = question.toLowerCase().match(/[a-z0-9]+/g) ?? []
    return select.all(words.map((word) => `"${word}"`).join(' OR ')).map(({ key }) => key as string)
  }
}

/** How well a search answers: the share of questions with a right page among the first five, 1 by its rank, and nDCG of the first ten. */
async function quality(name: string, find: (question: string) => Promise<readonly string[]>): Promise<string[]> {
  let [recall, reciprocal, gain] = [0, 0, 0]
  for (const [question, ...right] of questions) {
    const found = [...new Set(await find(question))]
    const isRight = (key: string) => right.some((page) => key.startsWith(page))
    const rank = found.findIndex(isRight)
    if (rank >= 0 && rank < 5) recall += 1
    if (rank >= 0) reciprocal += 1 / (rank + 1)
    const gains = found.slice(0, 10).map((key, index) => (isRight(key) ? 1 / Math.log2(index + 2) : 0))
    const ideal = right.map((_, index) => 1 / Math.log2(index + 2))
    gain += gains.reduce((sum, one) => sum + one, 0) / ideal.reduce((sum, one) => sum + one, 0)
  }
  return [name, ...[recall, reciprocal, gain].map((sum) => (sum / questions.length).toFixed(3))]
}

async function qualities(ground: ReturnType<typeof openGround>): Promise<string[][]> {
  const documents = pages()
  const store = storeAt(await ground.site('memory'))
  await store.open()
  await ingest(store, documents, 'docs')
  const scopes = [{ base: 'docs', filter: [] }]
  const ours = async (question: string) => {
    const words = queryWordsOf(question, 'en')
    const places = await store.knowledge.rankByWords({ database, scopes, words, limit: 100 })
    return places.map(({ document }) => document)
  }
  const rows = [
    await quality('FTS5 bm25, unicode61', await plainSearch(documents, 'unicode61')),
    await quality('FTS5 bm25, porter', await plainSearch(documents, 'porter unicode61')),
    await quality('ours', ours),
  ]
  await store.close()
  return rows
}

const ground = openGround()
const figures: Awaited<ReturnType<typeof measure>>[] = []
try {
  const quality = await qualities(ground)
  console.log(gridOf([`${questions.length} questions`, 'recall@5', 'MRR', 'nDCG@10'], quality))
  for (const name of (options.stores ?? '').split(',').filter((one) => one !== '')) {
    const one = await measure(name as GroundName, ground)
    figures.push(one)
    const { all, filtered } = one
    const row = [
      ...[one.ingestMs, one.ingestCpuMs, one.memoryMb, one.heldMs, all.p50, all.p95, all.cpuMs, all.heldMs],
      ...[filtered.p50, filtered.p95, filtered.cpuMs],
    ].map(short)
    const head = [
      'store',
      'ingest ms',
      'CPU',
      'memory MB',
      'held ms',
      'search p50',
      'p95',
      'CPU',
      'held ms',
      'filtered p50',
      'p95',
      'CPU',
    ]
    console.log(gridOf(head, [[`${name}, ${one.documents} documents, ${one.passages} passages`, ...row]]))
  }
  if (options.json !== undefined)
    writeFileSync(options.json, JSON.stringify({ about: aboutHere(), quality, figures }, null, 2))
} finally {
  await ground.close()
}
