/** Readers of a long conversation: what one page holds is bounded, also when many ask for one at once. */
import type { Runtime } from '@witan/core'
import { type Length, openLong, stores } from '../support/long.ts'
import type { Row } from '../support/row.ts'

/** What readers ask for. */
const asked: Readonly<Record<string, (runtime: Runtime) => Promise<unknown>>> = {
  'a page of the document': (runtime) => runtime.getDocument('chats/long', { limit: 200, detail: 'full' }),
  'a page of the events': (runtime) => runtime.readEvents('chats/long', { from: 0, verbose: true }),
  'a run that continues it': async (runtime) => (await runtime.run('chats/long', { prompt: 'And?' })).result,
}

/** Long conversations by their names. */
const lengths: Readonly<Record<string, Length>> = {
  'thirty prompts of 0.9 MB': { runs: 30, characters: 900_000 },
  '5,000 short prompts': { runs: 5_000, characters: 100 },
}

/** What copies it whole. */
const copied: Readonly<Record<string, (runtime: Runtime) => Promise<unknown>>> = {
  'an export': async (runtime) => {
    for await (const line of runtime.exportConversation('chats/long')) void line
  },
  'a fork': async (runtime) => {
    const { lastSeq } = await runtime.getConversation('chats/long')
    await runtime.forkConversation('chats/long', { seq: lastSeq })
  },
}

/** Rows of pages. */
export const pages: readonly Row[] = [
  ...Object.entries(asked).flatMap(([what, ask]) =>
    [1, 8].map(
      (times) =>
        ({
          name: `${times} × ${what} of a conversation with thirty prompts of 0.9 MB`,
          setUp: async (play) => {
            const runtime = await openLong(play, { runs: 30, characters: 900_000 })
            return () => Promise.all(Array.from({ length: times }, () => ask(runtime)))
          },
        }) satisfies Row,
    ),
  ),
  ...Object.keys(stores).flatMap((kind) =>
    Object.entries(lengths).flatMap(([long, length]) =>
      Object.entries(copied).map(
        ([what, copy]): Row => ({
          name: `${what} of a conversation with ${long} on ${kind}`,
          setUp: async (play) => {
            const runtime = await openLong(play, length, kind)
            return () => copy(runtime)
          },
        }),
      ),
    ),
  ),
]
