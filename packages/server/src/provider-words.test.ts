/** What a model's server said, its address among it, reaches who may read everything, and nobody else; by every way out. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuntime, ModelCallError, type Principal } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'

const words = 'The model server 127.0.0.1:39665 answered 400: secret text'
const model = scriptedModel(
  ({ messages }) => {
    if (String(messages[0]?.content).includes('lead') && messages.at(-1)?.role !== 'tool')
      return { toolCalls: [{ id: 'a', name: 'leaf', arguments: '{"message":"go"}' }] }
    throw new ModelCallError(words, { retryable: false })
  },
  { id: 'play/model' },
)

test('[D17] a failed run tells its code and a title, and an admin and a reader the rest', async () => {
  const runtime = createRuntime({
    models: { 'play/model': model },
    retry: { tries: 1 },
    report: () => undefined,
    agents: [
      { id: 'boss', model: 'play/model', instructions: 'You lead.', subAgents: [{ agent: 'leaf' }] },
      { id: 'leaf', model: 'play/model', instructions: 'You fail.' },
    ] as never,
  })
  const as = (id: string, ...roles: string[]) =>
    runtime.as({ database: 'default', id, roles, address: null } as unknown as Principal)
  const owner = as('user:owner', 'run')
  const started = await owner.start({ agent: 'boss', id: 'chats/1', prompt: 'Go.', users: [{ id: 'guest' }] })
  const run = started.run ?? assert.fail()
  const direct = await run.result
  const readers = {
    owner: [owner, false],
    guest: [as('user:guest'), false],
    reader: [as('user:reader', 'read'), true],
    admin: [as('user:admin', 'admin'), true],
    both: [as('user:owner', 'run', 'read'), true],
  } as const
  for (const [name, [witan, reads]] of Object.entries(readers)) {
    const stop = new AbortController()
    const followed: unknown[] = []
    for await (const event of witan.followEvents('chats/1', { verbose: true, signal: stop.signal })) {
      followed.push(event)
      if (event.type === 'end' || (event.type === 'error' && event.parentCallId === null)) stop.abort()
    }
    const seen: Readonly<Record<string, unknown>> = {
      'events as JSON': await witan.readEvents('chats/1', { verbose: true }),
      'terse events': await witan.readEvents('chats/1', {}),
      'events as a stream': followed,
      'a document': await witan.getDocument('chats/1', { detail: 'full' }),
      'a run': await witan.getRun(run.runId),
      'a diagram': await witan.getDiagram(run.runId),
      'its tasks': await witan.tasks.list(),
      'the runs': await witan.listRuns('chats/1'),
      'a conversation': await witan.getConversation('chats/1'),
      ...(reads ? {} : { 'the reply': direct }),
    }
    for (const [way, value] of Object.entries(seen)) {
      const text = JSON.stringify(value)
      if (!reads) assert.doesNotMatch(text, /39665|secret text/, `${name}: ${way}`)
    }
    const all = JSON.stringify(seen)
    assert.match(all, /MODEL_CALL_FAILED/, name)
    assert.equal(/39665/.test(all), reads, name)
    if (!reads) assert.match(JSON.stringify(seen['events as JSON']), /The model could not be called\./)
  }
  await runtime.close()
})
