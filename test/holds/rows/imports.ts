/** Conversations that a store imports: with much of one kind. */
import { createHash } from 'node:crypto'
import type { Store } from '@witan/core'
import { openStore, stores } from '../support/long.ts'
import type { Row } from '../support/row.ts'

type Long = Parameters<Store['putSnapshot']>[1]

function files(count: number, size: number): NonNullable<Long['contents']> {
  return Array.from({ length: count }, (_, at) => {
    const bytes = Buffer.alloc(size, `${at} `)
    const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`
    return { digest, mediaType: 'text/plain', name: null, bytes }
  })
}

/** The same log, with each of its replies by another model. */
function byManyModels(long: Long): Long {
  const entries = long.entries.map((entry, at) =>
    entry.type === 'end' && entry.kind === 'model'
      ? ({ ...entry, body: { ...entry.body, asked: `model-${at}` } } as typeof entry)
      : entry,
  )
  return { ...long, entries }
}

const people = Array.from({ length: 20_000 }, (_, at) => ({
  user: `u${at}`,
  name: null,
  roles: [],
  joinedAt: 1,
  leftAt: null,
}))

/** What is imported, by what it has: the runs of its log, and what is put beside it. */
const imports: Readonly<Record<string, readonly [runs: number, more: (long: Long) => Long]>> = {
  '30,000 short prompts': [30_000, (long) => long],
  '30 files of 4 MB': [1, (long) => ({ ...long, contents: files(30, 4_000_000) })],
  '5,000 files of 20 bytes': [1, (long) => ({ ...long, contents: files(5_000, 20) })],
  '20,000 people': [1, (long) => ({ ...long, participants: people })],
  '20,000 models': [20_000, byManyModels],
}

/** Rows of imports. */
export const importing: readonly Row[] = Object.keys(stores).flatMap((kind) =>
  Object.entries(imports).map(
    ([what, [runs, more]]): Row => ({
      name: `an import of a conversation with ${what} by the store ${kind}`,
      setUp: async (play) => {
        const { store, long } = await openStore(play, { runs, characters: 100, kind })
        const whole = more(long)
        return async () => {
          if (!(await store.putSnapshot('default', whole))) throw new Error('it was not imported')
        }
      },
    }),
  ),
)
