/** What comes into knowledge bases, is searched for in them, and comes out. */
import type { Play, Row } from '../support/row.ts'
import { open } from '../support/said.ts'
import { serve } from './server.ts'

const megabyte = 1_000_000
const path = '/api/v1/knowledge/house'

/** A server with the base `house`. */
async function withBase(play: Play): Promise<string> {
  const url = await serve(play)
  const attributes = { floor: 'number', tags: 'string[]' }
  await play.outside.send({ url: `${url}${path}`, status: 201, method: 'PUT', body: JSON.stringify({ attributes }) })
  return url
}

const sentences = (characters: number) => 'The wine is below the stairs, and so on. '.repeat(Math.ceil(characters / 41))

const encoded = (mediaType: string, text: string) => ({
  ...{ key: 'a', mediaType },
  data: Buffer.from(text).toString('base64'),
})

/** What is ingested. Each is taken; what is wrong with a document is told. */
const ingested: Readonly<Record<string, (number: number) => readonly object[]>> = {
  'a text of 12 MB without a space': () => [{ key: 'a', text: 'x'.repeat(12 * megabyte) }],
  'a text of 12 MB of sentences': () => [{ key: 'a', text: sentences(12 * megabyte) }],
  'a text of 3 MB of blank lines': () => [{ key: 'a', text: '\n'.repeat(3 * megabyte) }],
  'a Markdown of 9 MB of headings': () => [encoded('text/markdown', '# a\n'.repeat(2.25 * megabyte))],
  'an HTML of 6 MB of tags': () => [{ key: 'a', mediaType: 'text/html', text: '<p>'.repeat(2 * megabyte) }],
  'a JSON of 6 MB of lists': () => [
    { key: 'a', mediaType: 'application/json', text: `[${'[],'.repeat(2 * megabyte)}0]` },
  ],
  'a CSV of 9 MB of one quote': () => [encoded('text/csv', `"${'a,b\n'.repeat(2.25 * megabyte)}`)],
  '12 MB of bytes that are no PDF': () => [
    { key: 'a', mediaType: 'application/pdf', data: Buffer.alloc(9 * megabyte, 'x').toString('base64') },
  ],
  '1,000 documents of 12 kB': (number) =>
    Array.from({ length: 1_000 }, (_, at) => ({ key: `${number}/${at}`, text: sentences(12_000) })),
  '1,000 documents with the longest attributes': (number) =>
    Array.from({ length: 1_000 }, (_, at) => ({
      key: `${number}/${at}`,
      text: 'So.',
      attributes: { tags: Array.from({ length: 9 }, (_one, tag) => `${tag}`.repeat(500)) },
    })),
  '1,000 documents that are none': () => Array.from({ length: 1_000 }, () => ({ key: '..', more: 1 })),
  'a text of 1 MB of combining marks': () => [{ key: 'a', text: `a${'\u0301'.repeat(megabyte)}` }],
}

const ingesting: readonly Row[] = Object.entries(ingested).map(([what, made]) => ({
  name: `an ingest of ${what}`,
  setUp: async (play) => {
    const url = await withBase(play)
    const body = JSON.stringify({ documents: made(play.number) })
    return () => play.outside.send({ url: `${url}${path}/documents`, status: 200, method: 'POST', body })
  },
}))

/** What is read of a base with a long document and a thousand short ones. */
const read: Readonly<Record<string, readonly [method: 'GET' | 'POST', rest: string, body?: object]>> = {
  'the long document': ['GET', '/documents/long'],
  'a page of documents': ['GET', '/documents?limit=200'],
  'a search of 10,000 characters': ['POST', '/search', { query: sentences(9_900), limit: 20 }],
  'a search of 10,000 different words': [
    'POST',
    '/search',
    { query: Array.from({ length: 1_500 }, (_, at) => `w${at}`).join(' '), limit: 20 },
  ],
  'a filter with the most values': [
    'POST',
    '/search',
    { query: 'wine', filter: { tags: Array.from({ length: 100 }, (_, at) => `${at}`.repeat(300)) } },
  ],
}

const reading: readonly Row[] = Object.entries(read).map(([what, [method, rest, sent]]) => ({
  name: `4 × a client reads ${what} of a knowledge base`,
  setUp: async (play) => {
    const url = await withBase(play)
    const documents = [
      { key: 'long', text: sentences(10 * megabyte) },
      ...Array.from({ length: 900 }, (_, at) => ({ key: `d${at}`, text: sentences(3_000) })),
    ]
    const body = JSON.stringify({ documents })
    await play.outside.send({ url: `${url}${path}/documents`, status: 200, method: 'POST', body })
    const one = { url: `${url}${path}${rest}`, status: 200, method }
    return () => play.outside.send({ ...one, times: 4, ...(sent === undefined ? {} : { body: JSON.stringify(sent) }) })
  },
}))

/** Passages as long as a base may have them. */
const wide = { id: 'house', passageCharacters: 4000 }

/** An agent that searches by itself and by its model, with a message of this length and this many searches in one reply. */
function searching(what: string, of: { readonly message: string; readonly calls: number }): Row {
  return {
    name: `a run with ${what}`,
    setUp: async (play) => {
      const calls = Array.from({ length: of.calls }, () => ({
        name: 'search_knowledge',
        arguments: JSON.stringify({ query: sentences(5_000) }),
      }))
      const runtime = await open(play, {
        script: (step) => (step === 0 && of.calls > 0 ? { calls } : { text: 'Done.' }),
        options: { knowledge: [wide] },
        agent: { knowledgeBases: [{ id: 'house', retrieval: 'both', limit: 20 }] },
      })
      const documents = Array.from({ length: 200 }, (_, at) => ({ key: `d${at}`, text: sentences(3_900) }))
      await runtime.knowledge.documents.ingest('house', { documents })
      return async () => (await runtime.start({ agent: 'root', prompt: of.message })).run?.result
    },
  }
}

export const knowing: readonly Row[] = [
  ...ingesting,
  ...reading,
  searching('a message of 0.9 MB that is searched for', { message: sentences(900_000), calls: 0 }),
  searching('128 searches in one reply', { message: 'Where?', calls: 128 }),
]
