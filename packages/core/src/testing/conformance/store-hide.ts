/** Conformance of stores: parameters that are hidden after their conversation was created. */
import assert from 'node:assert/strict'
import type { Store } from '../../store/store.ts'
import type { Check } from './store-fixtures.ts'
import { assertRefused, database, entry, start } from './store-fixtures.ts'

const id = 'chats/1'
const parameters = {
  open: ['north', false],
  closed: ['secret', true],
  list: [['a', 'b'], false],
  ['__proto__']: [1, false],
} as const

async function parametersOf(store: Store, database_ = database): Promise<unknown> {
  return (await store.getConversation(database_, id))?.parameters
}

/** Registers the tests of hiding. */
export function checkHiding(check: Check): void {
  check('what an append hides stays hidden, with the seq it came behind [E19] [P6]', async (store) => {
    await start(store, id, { parameters })
    await store.append({ database, conversation: id, entries: [entry('more')] })
    const hidden = await store.append({ database, conversation: id, entries: [entry('then')], hide: ['open'] })
    assert.deepEqual([hidden.ok && hidden.before, hidden.ok && hidden.lastSeq], [2, 3])
    assert.deepEqual(await parametersOf(store), { ...parameters, open: ['north', true, 2] })
    const again = await store.append({ database, conversation: id, entries: [], hide: ['open', 'closed', 'list'] })
    assert.ok(again.ok)
    const all = { ...parameters, open: ['north', true, 2], list: [['a', 'b'], true, 3] }
    assert.deepEqual(await parametersOf(store), all)
  })

  check('names that were not given are left out, and odd ones are names like others [E19]', async (store) => {
    await start(store, id, { parameters })
    await store.append({ database, conversation: id, entries: [], hide: ['constructor', 'other', '__proto__'] })
    const after = (await parametersOf(store)) as object
    assert.deepEqual(Object.keys(after), Object.keys(parameters))
    assert.deepEqual(Object.getOwnPropertyDescriptor(after, '__proto__')?.value, [1, true, 1])
  })

  check('an append that is refused hides nothing, and no other database is touched [E19]', async (store) => {
    await start(store, id, { parameters })
    await start(store, id, { database: 'other', parameters })
    const moved = { database, conversation: id, entries: [], ifLastSeq: 7, hide: ['open'] }
    assertRefused(await store.append(moved), 'moved')
    assertRefused(await store.append({ ...moved, conversation: 'chats/none' }), 'missing')
    assert.deepEqual(await parametersOf(store), parameters)
    await store.append({ database, conversation: id, entries: [], hide: ['open'] })
    assert.deepEqual(await parametersOf(store, 'other'), parameters)
  })

  check('a row that was read before does not change under its reader [E19]', async (store) => {
    await start(store, id, { parameters })
    const read = await store.getConversation(database, id)
    await store.append({ database, conversation: id, entries: [], hide: ['open'] })
    assert.deepEqual(read?.parameters, parameters)
  })
}
