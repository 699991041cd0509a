/** Documents as large as they may be: read in a process of their own, cut into passages, and stored, while the loop goes on. */
import { createRuntime } from '@witan/core'
import { createReaders } from '@witan/readers'
import { stores } from '../support/long.ts'
import type { Row } from '../support/row.ts'

interface Sent {
  readonly mediaType: string
  readonly text: () => string
}

const size = 16_000_000
const fill = (piece: string, length = size) => piece.repeat(Math.ceil(length / piece.length)).slice(0, length)
const of = (mediaType: string, text: () => string): Sent => ({ mediaType, text })

/** Each is one document, and as large as one may be. */
const documents: Readonly<Record<string, Sent>> = {
  '16 MB of text': of('text/plain', () => fill('The quick brown fox says hello to employees. ')),
  '400,000 different words': of('text/plain', () => Array.from({ length: 400_000 }, (_, at) => `w${at}`).join(' ')),
  '16 MB of Han': of('text/plain', () => fill('知識', size / 3)),
  '16 MB of marks': of('text/plain', () => fill(`a${'\u0301'.repeat(1_000)}`, size / 2)),
  '60,000 headings with a word each': of('text/markdown', () => fill('# h\n\nx\n\n', 480_000)),
  'a list of a million items': of('text/html', () => `<ul>${'<li>a b'.repeat(1_000_000)}`),
  'a hundred thousand rows': of('text/csv', () => `name,age\n${fill('Ada,36\n', 700_000)}`),
  'a hundred thousand levels of HTML': of('text/html', () => '<div>'.repeat(100_000)),
  'an unclosed emphasis': of('text/markdown', () => fill('*a **a ', 1_000_000)),
}

/** Reading and cutting are the same for every store; SQLite, which stores in a thread, gets one of each length of what is stored. */
const ofSqlite = ['16 MB of Han', '400,000 different words', 'a list of a million items']

/** Rows of documents. The store in memory keeps them as SQLite does. */
export const ingests: readonly Row[] = ['SQLite', 'PostgreSQL'].flatMap((kind) =>
  Object.entries(documents)
    .filter(([what]) => kind !== 'SQLite' || ofSqlite.includes(what))
    .map(
      ([what, { mediaType, text }]): Row => ({
        name: `a document with ${what}, ingested by the store ${kind}`,
        setUp: async (play) => {
          const store = await stores[kind]?.(play)
          if (store === undefined) throw new Error(`there is no store "${kind}"`)
          const readers = createReaders()
          const knowledge = [{ id: 'b', passageCharacters: 200 }]
          const runtime = createRuntime({ store, knowledge, readers, report: () => undefined })
          play.after(() => readers.close())
          play.after(() => runtime.close())
          await runtime.ready
          await runtime.knowledge.documents.ingest('b', { documents: [{ key: 'short', text: 'x' }] })
          const data = Buffer.from(text()).toString('base64')
          return async () => {
            const request = { documents: [{ key: 'long', mediaType, data }], wait: false }
            const { id } = await runtime.knowledge.documents.ingest('b', request)
            const { signal } = new AbortController()
            for await (const { status } of runtime.knowledge.documents.followIngest('b', id, signal))
              if (status === 'completed') return
          }
        },
      }),
    ),
)
