/** Random writes and ends of blocks in a store must have the results that they have in the store in memory. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryStore } from '../../store/drivers/memory.ts'
import type { Store } from '../../store/store.ts'
import { allBlocks, anna, blockOf, everybody, limited, modelIn, within, writing } from './store-block-fixtures.ts'
import { database, start, type StoreHarness } from './store-fixtures.ts'

type Command = (store: Store) => Promise<unknown>

/** Draws whole numbers below a bound; the same for the same seed. */
function drawing(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 4_294_967_296) * below)
  }
}

const subjects = ['user:anna', 'user:bob'] as const
const conversations = ['chats/0', 'chats/1', 'chats/2'] as const
const texts = ['', 'a', 'four', 'Ås \u0000 ☔', 'twelve signs'] as const

function commandOf(draw: (below: number) => number, count: number): readonly [told: unknown, run: Command] {
  const pick = <Item>(...items: readonly Item[]): Item => items[draw(items.length)] as Item
  const subject = pick(...subjects)
  const conversation = pick(...conversations)
  const agent = pick('clerk', 'mate')
  const owner = { ...pick(anna, within(conversation)), subject, agent }
  const by = pick(modelIn(conversation), writing('k').by)
  const id = `mem_${draw(count + 1)}`
  const kind = draw(12)
  if (kind < 7) {
    const limits = limited({ coreCharacters: 30, coreBlocks: pick(2, 9), archivalCharacters: 20 })
    const given = {
      owner: pick(owner, owner, everybody),
      expected: pick(null, null, 1, 2, 3),
      text: pick(...texts),
      by,
      limits,
    }
    const call = pick(null, null, 'c1', 'c2')
    const write = writing(pick('a', 'b', 'c'), {
      ...given,
      kind: pick(null, 'core', 'archival'),
      call,
      id: `mem_${count}`,
      at: count,
    })
    return [['write', write], (store) => store.writeBlock(database, write)]
  }
  if (kind === 7) return [['delete', id], (store) => store.deleteBlock(database, id)]
  if (kind === 8) {
    const about = { subject, agent: pick(null, agent, 'nobody') }
    return [['erase', about], (store) => store.eraseBlocks(database, about)]
  }
  if (kind === 9) {
    const use = { agent, subject, conversation: pick(conversation, 'chats/none') }
    return [['use', use], (store) => store.noteBlockUse(database, use)]
  }
  if (kind === 10) {
    const block = { ...blockOf(pick('a', 'b', 'c'), { id: pick(id, `mem_${count}`), revision: pick(1, 3) }), ...owner }
    const { revision, text, updatedAt: at, writtenBy } = block
    return [['put', block], (store) => store.putBlock(database, block, [{ revision, text, at, writtenBy }])]
  }
  const to = `chats/fork ${count}`
  const copy: Command = async (store) => {
    await start(store, to)
    let copies = 0
    await store.copyBlocks(database, conversation, to, () => `mem_copy ${count} ${copies++}`)
  }
  const again: Command = async (store) => {
    await store.deleteConversation(database, conversation)
    await start(store, conversation)
  }
  return pick<readonly [unknown, Command]>([['copy', conversation], copy], [['again', conversation], again])
}

/** All that the methods of a store say about blocks. Times of deletions are never said. */
async function stateOf(store: Store): Promise<unknown> {
  const page = { limit: 1_000, after: null }
  const rows = await store.listBlocks(database, { ...allBlocks, ...page })
  const revisions = await Promise.all(rows.map(({ id }) => store.listBlockRevisions(database, id, page)))
  const uses = subjects.flatMap((subject) =>
    [null, 'clerk', 'mate'].map((agent) => store.listBlockUses(database, { ...page, subject, agent })),
  )
  const owners = subjects.flatMap((subject) => [anna, ...conversations.map(within)].map((one) => ({ ...one, subject })))
  return [rows, revisions, await Promise.all(uses), await store.readBlocks(database, [everybody, ...owners])]
}

/** Registers the test that sends the same random commands to a store and to the store in memory, `runs` times sixty. */
export function testBlocksAgainstMemory(harness: StoreHarness, runs: number): void {
  test(`${harness.name}: random writes of blocks have the results that they have in memory`, async (context) => {
    for (let run = 1; run <= runs; run += 1) {
      const draw = drawing(run)
      const stores = [memoryStore(), await harness.open(context)] as const
      for (const store of stores) for (const id of conversations) await start(store, id)
      const past: string[] = []
      for (let count = 0; count < 60; count += 1) {
        const [told, command] = commandOf(draw, count)
        past.push(JSON.stringify(told))
        const expected = await command(stores[0])
        assert.deepEqual(await command(stores[1]), expected, past.join('\n'))
      }
      assert.deepEqual(await stateOf(stores[1]), await stateOf(stores[0]), past.join('\n'))
      for (const store of stores) await store.close()
    }
  })
}
