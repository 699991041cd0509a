/** A process that only looks and speaks: what it takes in is worked on elsewhere, so that its end leaves no effect in the middle. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuntime, defineAgent, defineTool, memoryStore, type Store } from '@witan/core'
import { call, scriptedModel, toolResults } from '@witan/core/testing'

interface Opened {
  readonly runtime: ReturnType<typeof createRuntime>
  /** How often the model was asked here, and how often it was paid. */
  done(): { readonly asked: number; readonly paid: number }
}

function open(store: Store, takesWork: boolean): Opened {
  let [asked, paid] = [0, 0]
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    parameters: { '~standard': { version: 1, vendor: 'witan', validate: (value) => ({ value }) } },
    jsonSchema: { type: 'object' },
    execute() {
      paid += 1
      return 'paid'
    },
  })
  const model = scriptedModel(
    (request) => {
      asked += 1
      return toolResults(request)[0] ?? call('pay')
    },
    { id: 'play/clerk' },
  )
  const clerk = defineAgent({ id: 'clerk', instructions: 'Pay.', model, tools: [pay], approvals: ['pay'] })
  return { runtime: createRuntime({ store, agents: [clerk], takesWork }), done: () => ({ asked, paid }) }
}

test('[D1] an approval that a looking process takes in is carried out by one that works, once', async (context) => {
  const store = memoryStore()
  const working = open(store, true)
  context.after(() => working.runtime.close())
  const waiting = await working.runtime.conversation('clerk', { id: 'chats/1' }).run('Pay it.')
  const looking = open(memoryStore({ beside: store }), false)
  await looking.runtime.answerInterruption(waiting.interruptions[0]?.id ?? '', { answer: { decision: 'approved' } })
  await looking.runtime.close()
  const stop = new AbortController()
  for await (const { type, kind } of working.runtime.followEvents('chats/1', { signal: stop.signal }))
    if (type === 'end' && kind === 'agent') stop.abort()
  assert.deepEqual(
    [looking.done(), working.done()],
    [
      { asked: 0, paid: 0 },
      { asked: 2, paid: 1 },
    ],
  )
})

test('[D4] a message that a looking process takes in begins a run elsewhere, and its result comes back', async (context) => {
  const store = memoryStore()
  const working = open(store, true)
  context.after(() => working.runtime.close())
  await working.runtime.ready
  const looking = open(memoryStore({ beside: store }), false)
  context.after(() => looking.runtime.close())
  const told = await looking.runtime.conversation('clerk', { id: 'chats/2' }).run('Pay it.')
  assert.equal(told.interruptions.length, 1)
  assert.deepEqual([looking.done().asked, working.done().asked], [0, 1])
  const { events } = await working.runtime.readEvents('chats/2', { verbose: true, limit: 20 })
  assert.ok(
    !events.some(({ type, content }) => type === 'notice' && content.code === 'RUN_RECOVERED'),
    'what is given back counts as no failed try',
  )
})
