/** Blocks of memory with many long texts, which a person or a model may write one after another, on each kind of store. */
import type { Store } from '@witan/core'
import { stores } from '../support/long.ts'
import type { Row } from '../support/row.ts'

const database = 'default'
const by = { id: 'user:anna', agent: null, conversationId: null, runId: null }
const owner = (conversation: string | null) =>
  ({
    agent: 'root',
    scope: conversation === null ? 'person' : 'conversation',
    subject: 'user:anna',
    conversation,
  }) as const

const revisions = Array.from({ length: 400 }, (_, at) => {
  return { revision: at + 1, text: `${at} ${'a '.repeat(20_000)}`, at, writtenBy: by }
})
const kinds = {
  kind: 'core',
  key: 'k',
  revision: revisions.length,
  createdAt: 0,
  updatedAt: revisions.length - 1,
} as const
const block = (conversation: string | null) =>
  ({ ...owner(conversation), ...kinds, id: 'mem_1', text: revisions.at(-1)?.text ?? '', writtenBy: by }) as const
const limits = { coreCharacters: 40_000, coreBlocks: 1, archivalCharacters: 0 }

/** What ends such a block, or takes it in, and of what conversation it is. */
const acts: Readonly<Record<string, readonly [conversation: string | null, act: (store: Store) => Promise<unknown>]>> =
  {
    'is deleted': [null, (store) => store.deleteBlock(database, 'mem_1')],
    'is deleted by a model': [
      null,
      (store) =>
        store.writeBlock(database, {
          ...{ owner: owner(null), key: 'k', kind: null, text: '', expected: revisions.length },
          ...{ id: 'mem_2', at: 1, by, call: null, limits },
        }),
    ],
    'is erased': [null, (store) => store.eraseBlocks(database, { subject: 'user:anna', agent: null })],
    'is copied': ['chats/1', (store) => store.copyBlocks(database, 'chats/1', 'chats/2', () => 'mem_2')],
    'ends with its conversation': ['chats/1', (store) => store.deleteConversation(database, 'chats/1')],
    'is imported': ['chats/1', (store) => store.putBlock('other', block(null), revisions)],
  }

/** Rows of blocks. */
export const remembering: readonly Row[] = Object.keys(stores).flatMap((kind) =>
  Object.entries(acts).map(([what, [conversation, act]]) => ({
    name: `a block of memory with 400 texts of 40,000 characters ${what}, in ${kind}`,
    async setUp(play) {
      const store = await stores[kind]?.(play)
      if (store === undefined) throw new Error(`there is no store "${kind}"`)
      play.after(() => store.close())
      await store.open()
      for (const id of ['chats/1', 'chats/2']) {
        const times = { createdAt: 1, lastMessageAt: 1, lastSeq: 0, expiresAt: null }
        const row = { database, id, agent: 'root', createdBy: 'user:anna', parameters: {}, ...times }
        const create = { ...row, maxModelIterationsPerCall: null }
        await store.append({ database, conversation: id, create, entries: [] })
      }
      await store.putBlock(database, block(conversation), revisions)
      return () => act(store)
    },
  })),
)
