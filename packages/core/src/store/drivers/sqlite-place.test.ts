/** A store file that is replaced, renamed or removed under its process is not written into silently. */
import assert from 'node:assert/strict'
import { copyFile, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { conversation, database, entry, start, textsOf } from '../../testing/conformance/store-fixtures.ts'
import { sqliteStore } from './sqlite.ts'

async function opened(context: TestContext) {
  const home = await mkdtemp(join(tmpdir(), 'witan-place-'))
  context.after(() => rm(home, { recursive: true }))
  const file = join(home, 'witan.db')
  const store = sqliteStore({ file, synchronous: 'normal' })
  await store.open()
  await start(store, 'chats/1')
  return { home, file, store }
}

const changes: Readonly<Record<string, (file: string) => Promise<void>>> = {
  'replaced by another file': async (file) => {
    await writeFile(`${file}.restored`, 'restored')
    await rename(`${file}.restored`, file)
  },
  'replaced by a copy of itself': async (file) => {
    await copyFile(file, `${file}.restored`)
    await rename(`${file}.restored`, file)
  },
  'removed and made again': async (file) => {
    await rm(file)
    await writeFile(file, 'restored')
  },
  renamed: (file) => rename(file, `${file}.old`),
  removed: (file) => rm(file),
}

for (const [name, change] of Object.entries(changes))
  test(`a store whose file was ${name} refuses by name, and leaves what is there now as it is`, async (context) => {
    const { home, file, store } = await opened(context)
    await change(file)
    const contents = async () => {
      const names = (await readdir(home)).sort()
      return Promise.all(names.map(async (one) => [one, (await readFile(join(home, one))).toString('base64')]))
    }
    const before = await contents()
    const refused = { code: 'STORE_UNAVAILABLE', message: /witan\.db` was (replaced|removed)/, details: { file } }
    const create = conversation('chats/2')
    const append = { database, conversation: 'chats/2', create, entries: [entry('lost')] }
    await assert.rejects(store.append(append), refused)
    await assert.rejects(store.checkWritable(), refused)
    await assert.rejects(store.getConversation(database, 'chats/1'), refused)
    await store.close()
    assert.deepEqual(await contents(), before)
  })

test('a store that writes its log into its file goes on', async (context) => {
  const { store } = await opened(context)
  for (let index = 0; index < 30; index += 1)
    assert.ok((await store.append({ database, conversation: 'chats/1', entries: [entry('x'.repeat(400_000))] })).ok)
  assert.equal((await textsOf(store, 'chats/1')).length, 31)
  await store.close()
})
