/** Content over a slow line: reading it may take as long as storing it. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { openProxy } from '../../../../../../test/postgres/support/proxy.ts'
import { freshSchema, openStore } from '../../../../../../test/postgres/support/stores.ts'
import { conversation, database, entry } from '../../../testing/conformance/store-fixtures.ts'

test('content that takes longer than a reply may take is read, as it was stored', async (context) => {
  const place = await freshSchema(context)
  const proxy = await openProxy(place.url)
  context.after(() => proxy.close())
  const store = await openStore(context, {
    ...place,
    url: proxy.url,
    timeouts: { replyMs: 1_000 },
    unavailableAfterMs: 1_000,
  })
  const [digest, bytes] = ['d1', new Uint8Array(randomBytes(400_000))]
  await store.putContent(database, digest, bytes)
  await store.append({
    ...{ database, conversation: 'chats/1', create: conversation('chats/1'), entries: [entry('look')] },
    contents: [{ digest, mediaType: 'image/png', name: null }],
  })
  assert.equal(await store.readContent(database, 'chats/1', 'none'), null)
  proxy.throttle(200_000)
  const read = await store.readContent(database, 'chats/1', digest)
  proxy.throttle(null)
  assert.ok(read !== null && Buffer.from(read.bytes).equals(bytes))
  await store.close()
})
