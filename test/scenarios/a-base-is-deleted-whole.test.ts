/** A base that was deleted shows no document again, whatever failed behind its definition, and what is left of it is cleared later. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createRuntime, defineAgent, memoryStore, type Runtime, type Store } from '@witan/core'
import { call, scriptedModel, toolResults } from '@witan/core/testing'
import { fakeClock } from '../support/clock.ts'

type Knowledge = Store['knowledge']

/** A store whose methods of knowledge may be others. */
function storeWith(store: Store, methods: Partial<Knowledge>): Store {
  return { ...store, knowledge: { ...store.knowledge, ...methods } }
}

/** A store that deletes nothing while `fails` is true. */
function failing(): { readonly inner: Store; readonly store: Store; fails: boolean } {
  const store = memoryStore()
  const state = { fails: false }
  const deleteKnowledge: Knowledge['deleteKnowledge'] = (...at) =>
    state.fails ? Promise.reject(new Error('no disk')) : store.knowledge.deleteKnowledge(...at)
  return Object.assign(state, { inner: store, store: storeWith(store, { deleteKnowledge }) })
}

async function left(store: Store): Promise<readonly string[]> {
  return (await store.knowledge.listBases('default')).map(({ base }) => base)
}

async function opened(context: TestContext, options: Parameters<typeof createRuntime>[0]): Promise<Runtime> {
  const runtime = createRuntime(options)
  context.after(() => runtime.close())
  await runtime.ready
  return runtime
}

const horse = { documents: [{ key: 'a', text: 'horse' }] }

test('a base that is saved again after a deletion that failed half-way has none of its documents', async (context) => {
  const state = failing()
  const reports: unknown[] = []
  const clock = fakeClock()
  const runtime = await opened(context, { store: state.store, report: (error) => reports.push(error), clock })
  await runtime.knowledge.save({ id: 'files' })
  await runtime.knowledge.documents.ingest('files', horse)
  state.fails = true
  await runtime.knowledge.delete('files')
  assert.match(String(reports[0]), /no disk/)
  await assert.rejects(runtime.knowledge.documents.list('files'), { code: 'NOT_FOUND' })
  const { base } = await runtime.knowledge.save({ id: 'files' })
  assert.deepEqual([base.revision, base.documents, base.passages], [2, 0, 0])
  assert.deepEqual((await runtime.knowledge.documents.list('files')).items, [])
  await assert.rejects(runtime.knowledge.documents.get('files', 'a'), { code: 'NOT_FOUND' })
  assert.deepEqual(await runtime.knowledge.search('files', { query: 'horse' }), { passages: [], notices: [] })
  await runtime.knowledge.documents.ingest('files', { documents: [{ key: 'b', text: 'horse cart' }] })
  const { passages } = await runtime.knowledge.search('files', { query: 'horse' })
  assert.deepEqual(
    passages.map(({ base: of, document }) => `${of} ${document}`),
    ['files b'],
  )
  assert.equal((await left(state.store)).length, 2)
  state.fails = false
  clock.advance(300_000)
  while ((await left(state.store)).length > 1) await new Promise((resolve) => setTimeout(resolve, 5))
  assert.equal((await runtime.knowledge.get('files')).documents, 1)
})

test('what a dead process left of a deleted base is cleared by the next that takes work', async (context) => {
  const state = failing()
  const first = createRuntime({ store: state.store, report: () => {} })
  await first.knowledge.save({ id: 'files' })
  await first.knowledge.documents.ingest('files', horse)
  state.fails = true
  await first.knowledge.delete('files')
  assert.deepEqual(await left(state.store), ['files'])
  state.fails = false
  await opened(context, { store: memoryStore({ beside: state.inner }) })
  while ((await left(state.store)).length > 0) await new Promise((resolve) => setTimeout(resolve, 5))
  await first.close()
})

test('an ingest that is taken for a deleted base by a process that knows it still shows nothing', async (context) => {
  const store = memoryStore()
  const stale = await opened(context, { store, takesWork: false })
  await stale.knowledge.save({ id: 'files' })
  const begun = Promise.withResolvers<void>()
  const other = await opened(context, {
    store: storeWith(memoryStore({ beside: store }), {
      beginIngest: async (...given) => {
        await begun.promise
        return store.knowledge.beginIngest(...given)
      },
    }),
  })
  const late = other.knowledge.documents.ingest('files', { ...horse, wait: false })
  await new Promise((resolve) => setTimeout(resolve, 20))
  await stale.knowledge.delete('files')
  await stale.knowledge.save({ id: 'files' })
  begun.resolve()
  await late
  while ((await left(store)).length > 0) await new Promise((resolve) => setTimeout(resolve, 5))
  assert.equal((await stale.knowledge.get('files')).documents, 0)
})

test('a run that began with a base which was deleted finds nothing of another one of its id', async (context) => {
  const deleted = Promise.withResolvers<void>()
  const asked = Promise.withResolvers<void>()
  const boss = scriptedModel(
    async (request) => {
      const [result] = toolResults(request)
      if (result !== undefined) return `It says: ${result}`
      asked.resolve()
      await deleted.promise
      return call('clerk', { message: 'Search.' })
    },
    { id: 'play/boss' },
  )
  const clerk = scriptedModel(
    (request) => {
      const [result] = toolResults(request)
      return result === undefined ? call('search_knowledge', { query: 'horse' }) : `found ${result}`
    },
    { id: 'play/clerk' },
  )
  const agents = [
    defineAgent({
      ...{ id: 'boss', instructions: 'Ask.', model: boss },
      subAgents: [{ agent: 'clerk', description: 'Searches.' }],
    }),
    defineAgent({ id: 'clerk', instructions: 'Search.', knowledgeBases: ['files'], model: clerk }),
  ]
  const runtime = await opened(context, { agents, knowledge: [{ id: 'files' }] })
  const result = runtime.conversation('boss').run('Where?')
  await asked.promise
  await runtime.knowledge.delete('files', { force: true })
  await runtime.knowledge.save({ id: 'files' })
  await runtime.knowledge.documents.ingest('files', horse)
  deleted.resolve()
  const { text, status } = await result
  assert.equal(status, 'completed', text)
  assert.match(text, /^It says: /)
  assert.doesNotMatch(text, /horse/)
})
