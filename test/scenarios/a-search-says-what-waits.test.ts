/** A search by an administrator says that documents wait to be read, as they do behind an import, until they are. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuntime, memoryStore } from '@witan/core'

test('documents that wait are counted, and a search says so until a process has read them', async (context) => {
  const store = memoryStore()
  const idle = createRuntime({ store, takesWork: false, knowledge: [{ id: 'files' }] })
  context.after(() => idle.close())
  const documents = ['a', 'b'].map((key) => ({ key, text: 'horse' }))
  await idle.knowledge.documents.ingest('files', { documents, wait: false })
  const { documents: there, waiting } = await idle.knowledge.get('files')
  assert.deepEqual([there, waiting], [0, 2])
  const { passages, notices } = await idle.knowledge.search('files', { query: 'horse' })
  assert.deepEqual([passages, notices.map(({ code, base }) => [code, base])], [[], [['KNOWLEDGE_PENDING', 'files']]])
  assert.match(notices[0]?.detail ?? '', /^2 documents of `files` wait/)
  const working = createRuntime({ store: memoryStore({ beside: store }) })
  context.after(() => working.close())
  await working.ready
  while ((await idle.knowledge.get('files')).waiting !== 0) await new Promise((resolve) => setTimeout(resolve, 5))
  const after = await idle.knowledge.search('files', { query: 'horse' })
  assert.deepEqual([after.passages.length, after.notices], [2, []])
})
