/** Readers of a long conversation: what one page holds is bounded, also when many ask for one at once. */
import { createRuntime, memoryStore, type Runtime } from '@witan/core'
import { lengthened } from '../../support/long-log.ts'
import type { Play, Row } from '../support/row.ts'
import { saying } from '../support/said.ts'

/** A runtime whose conversation `chats/long` has thirty prompts of 0.9 MB, none of them in a cache. */
async function open(play: Play): Promise<Runtime> {
  const store = memoryStore()
  const runtime = createRuntime({
    store,
    models: { 'play/root': saying('play/root', () => ({ text: 'Done.' })) },
    agents: [{ id: 'root', model: 'play/root', instructions: 'You do it.' }],
    report: () => undefined,
  })
  play.after(() => runtime.close())
  await runtime.ready
  await (await runtime.start({ agent: 'root', id: 'chats/short', prompt: 'Go.' })).run?.result
  const short = await store.readSnapshot('default', 'chats/short')
  if (short === null) throw new Error('the store has lost a conversation')
  await store.putSnapshot('default', lengthened(short, { id: 'chats/long', runs: 30, characters: 900_000 }))
  return runtime
}

/** What readers ask for. */
const asked: Readonly<Record<string, (runtime: Runtime) => Promise<unknown>>> = {
  'a page of the document': (runtime) => runtime.getDocument('chats/long', { limit: 200, detail: 'full' }),
  'a page of the events': (runtime) => runtime.readEvents('chats/long', { from: 0, verbose: true }),
  'a run that continues it': async (runtime) => (await runtime.run('chats/long', { prompt: 'And?' })).result,
}

/** Rows of pages. */
export const pages: readonly Row[] = Object.entries(asked).flatMap(([what, ask]) =>
  [1, 8].map((times) => ({
    name: `${times} × ${what} of a conversation with thirty prompts of 0.9 MB`,
    setUp: async (play) => {
      const runtime = await open(play)
      return () => Promise.all(Array.from({ length: times }, () => ask(runtime)))
    },
  })),
)
