/** A run that came over A2A: its chain stands in the system message and in the log, and a replay comes to the same log. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuntime, memoryStore } from '@witan/core'
import { readReplaySource, replay } from '@witan/core/export'
import { scriptedModel } from '@witan/core/testing'
test('[M04] [M10] a run that came with a chain tells it to its model, and is replayed to the same log', async () => {
  const model = scriptedModel(() => 'done', { id: 'play/model' })
  const runtime = createRuntime({
    store: memoryStore(),
    models: { 'play/model': model },
    agents: [{ id: 'a', model: 'play/model', instructions: 'x', address: 'a', access: { call: ['@*'] } }],
    domains: { 'b.example': 'default' },
  })
  const who = {
    database: runtime.principal.database,
    id: '@x@a.test',
    roles: ['run'],
    address: '@x@a.test',
    incoming: { chain: { hop: 1, maxHops: 4, root: null, path: ['@x@a.test'] } },
  } as const
  const opened = await runtime
    .as(who)
    .start(
      { agent: 'a', prompt: 'hi' },
      { messageId: 'm', notices: [{ code: 'CHAIN_MISSING', detail: 'd', caller: '@x@a.test' }] },
    )
  await opened.run?.result
  assert.match(String(model.requests[0]?.messages[0]?.content), /This is hop 1 of at most 4/)
  const lines: string[] = []
  for await (const line of runtime.exportConversation(opened.id)) lines.push(line)
  const source = await readReplaySource(ReadableStream.from(lines))
  const found = await replay(source)
  assert.equal(found.difference, null, JSON.stringify(found.difference))
})
