/** A value of the host program becomes JSON where it enters, once: what is done to it later changes nothing that is stored. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { defineTool, memoryStore, type Model, type ModelRequest, type QuerySource, type Store } from '@witan/core'
import { call, toolResults } from '@witan/core/testing'
import { sqliteStore } from '@witan/core'
import { z } from 'zod'
import { actionsIn, agent, createStage, type Stage } from '../support/stage.ts'

/** A value, and what its owner does to it later. */
interface Given {
  readonly value: unknown
  change(): void
}

class Money {
  amount = 12
  get doubled() {
    return 2 * this.amount
  }
}

/** A value, and a change that calls of its methods make. */
function changing<Value>(value: Value, change: (value: Value) => void = () => {}): Given {
  return { value, change: () => change(value) }
}

const values: Readonly<Record<string, () => Given>> = {
  'a date': () => changing({ at: new Date(0) }, ({ at }) => at.setFullYear(2000)),
  'a map': () => changing({ map: new Map([['a', 1]]) }, ({ map }) => map.set('b', 2)),
  'a set': () => changing([new Set([1])], ([set]) => set?.add(2)),
  'an instance of a class': () =>
    changing({ price: new Money() }, ({ price }) => {
      price.amount = 13
    }),
  'a list': () =>
    changing([1, 2], (list) => {
      list.push(3)
      list[0] = 0
    }),
  'a list within': () => changing({ rows: [{ tags: ['a'] }] }, ({ rows }) => rows[0]?.tags.push('b')),
  'a getter': () => {
    let count = 0
    return changing({
      get count() {
        count += 1
        return Math.min(count, 2)
      },
    })
  },
  'what JSON leaves out': () => changing({ a: undefined, b: () => 1, c: [undefined, Symbol('c')] }),
}

const kinds = ['memory', 'sqlite'] as const

const look = { name: 'Look', description: 'Looks.', parametersSchema: { type: 'object', properties: {} } }

/** A tool and an action; the root uses what a prompt names. What the tool does is given to the stage. */
function stageOn(store: Store, execute: Parameters<typeof defineTool>[0]['execute'] = () => 'ok'): Stage {
  const tool = defineTool({ name: 'work', description: 'Works.', parameters: z.object({}), execute })
  return createStage({
    agents: [
      { id: 'root', tools: ['work'], actions: [look], subAgents: [{ agent: 'leaf' }] },
      { id: 'leaf', actions: [look] },
    ],
    plays: {
      root: (request) =>
        toolResults(request).length > 0 ? 'done' : call(/Look/.test(textOf(request)) ? 'Look' : 'work'),
      leaf: () => 'leaf done',
    },
    options: { tools: [tool], store },
  })
}

function textOf(request: { readonly messages: readonly { readonly content: unknown }[] }): string {
  return String(request.messages.at(-1)?.content)
}

const query = { name: 'look', description: 'Looks.', source: 'shop', query: 'rows' }

/** A source whose one row has the value. */
function sourceOf({ value, change }: Given): QuerySource {
  return {
    kind: 'one row',
    check: async () => ({ ok: true, placeholders: [] }),
    async run() {
      setImmediate(change)
      return { ok: true, rows: [{ it: value }], truncated: false }
    },
    close: async () => {},
  }
}

const inSchema = (schema: unknown) =>
  (schema as { readonly properties: { readonly a: { readonly default: unknown } } }).properties.a.default

const rowIn = (result: unknown) => (result as readonly { readonly it: unknown }[])[0]?.it

type Door = (store: Store, given: Given) => Promise<unknown>

/** Every event, and the document, as JSON; and no event has anything but JSON. */
async function eventsOf(stage: Stage, id = 'chats/1') {
  const events = await stage.events(id)
  assert.deepStrictEqual(JSON.parse(JSON.stringify(events)), structuredClone(events), 'events are plain JSON')
  return events
}

const contentIn = async (stage: Stage, type: string, id?: string) =>
  (await eventsOf(stage, id)).findLast((one) => one.type === type && one.kind !== 'agent' && one.kind !== 'model')
    ?.content

async function waiting(store: Store): Promise<{ stage: Stage; id: string }> {
  const stage = stageOn(store)
  const { interruptions } = await stage.ask('root', 'Look', { id: 'chats/1' })
  return { stage, id: actionsIn(interruptions)[0]?.id ?? '' }
}

/** The ways in, each with the form in which the log has the value. */
const doors: Readonly<Record<string, Door>> = {
  async 'the result of a tool'(store, { value, change }) {
    const stage = stageOn(store, () => {
      setImmediate(change)
      return value
    })
    await stage.ask('root', 'work', { id: 'chats/1' })
    change()
    const [message] = (await stage.document('chats/1')).messages.filter(({ toolCalls }) => toolCalls.length > 0)
    const content = (await contentIn(stage, 'end'))?.['result']
    assert.deepStrictEqual(message?.toolCalls[0]?.result, content, 'the document has what the log has')
    return content
  },
  async 'the response of an artificial action'(store, { value, change }) {
    const stage = stageOn(store)
    const opened = stage.runtime.start({ agent: 'root', id: 'chats/1', prompt: 'hello' })
    await (await opened).run?.result
    const artificialActions = [{ name: 'Look', response: value }]
    const run = await stage.runtime.run('chats/1', { prompt: 'and?', artificialActions })
    change()
    await run.result
    const message = (await stage.document('chats/1')).messages.findLast(
      ({ toolCalls }) => toolCalls[0]?.name === 'Look',
    )
    await eventsOf(stage)
    return message?.toolCalls[0]?.result
  },
  async 'the answer of an action'(store, { value, change }) {
    const { stage, id } = await waiting(store)
    const run = await stage.runtime.run('chats/1', { actionResponses: [{ id, response: value }] })
    change()
    await run.result
    return (await contentIn(stage, 'end'))?.['result']
  },
  async 'the answer of an interruption'(store, { value, change }) {
    const { stage, id } = await waiting(store)
    await stage.runtime.answerInterruption(id, { answer: value })
    change()
    await (await stage.runtime.liveRun('chats/1'))?.result
    return (await contentIn(stage, 'end'))?.['result']
  },
  async 'a direct run'(store, { value, change }) {
    const stage = stageOn(store)
    const artificialActions = [{ name: 'Look', response: value }]
    const request = { prompt: 'go', conversationId: 'chats/2', artificialActions }
    const run = await stage.runtime.agents.subAgents.run('root', 'leaf', request)
    change()
    await run.result
    await eventsOf(stage, 'chats/2')
    return (await stage.document('chats/2')).messages.find(({ toolCalls }) => toolCalls.length > 0)?.toolCalls[0]
      ?.result
  },
  async 'a checkpoint of a tool'(store, { value, change }) {
    let seen: unknown
    const stage = stageOn(store, async (_, { ask, checkpoint }) => {
      seen = checkpoint.value
      if (seen === undefined) await checkpoint.save(value)
      change()
      await ask([{ id: 'q', text: 'And?' }])
      return 'ok'
    })
    const { interruptions } = await stage.ask('root', 'work', { id: 'chats/1' })
    await stage.run('chats/1', { answers: [{ id: interruptions[0]?.id, answer: { q: { text: 'so' } } }] })
    return seen
  },
  async 'the answer of a handler of a chat'(store, { value, change }) {
    const stage = stageOn(store)
    const chat = stage.runtime.conversation('root', { id: 'chats/1' }).handle('Look', () => {
      setImmediate(change)
      return value
    })
    await chat.run('Look')
    change()
    return (await contentIn(stage, 'end'))?.['result']
  },
  async 'a row that a model has asked a source for'(store, given) {
    const stage = createStage({
      agents: [{ id: 'root', queries: [{ ...query, addToInitialContext: false }] }],
      plays: { root: (request) => (toolResults(request).length > 0 ? 'done' : call('look')) },
      options: { store, sources: { shop: sourceOf(given) } },
    })
    await stage.ask('root', 'go', { id: 'chats/1' })
    given.change()
    return rowIn((await contentIn(stage, 'end'))?.['result'])
  },
  async 'a row with which a document begins'(store, given) {
    const stage = createStage({
      agents: [{ id: 'root', queries: [{ ...query, addToInitialContext: true }] }],
      plays: { root: () => 'done' },
      options: { store, sources: { shop: sourceOf(given) } },
    })
    await stage.ask('root', 'go', { id: 'chats/1' })
    given.change()
    return rowIn((await contentIn(stage, 'end'))?.['result'])
  },
  async 'a sample of a saved agent'(store, { value, change }) {
    const stage = stageOn(store)
    const saved = { id: 'saved', model: 'play/model', instructions: 'You do it.', outputSample: value }
    await stage.runtime.agents.save(saved)
    change()
    return (await stage.runtime.agents.get('saved')).outputSample
  },
  async 'a schema of a saved action'(store, { value, change }) {
    const stage = stageOn(store)
    const parametersSchema = { type: 'object', properties: { a: { default: value } } }
    const actions = [{ ...look, parametersSchema }]
    await stage.runtime.agents.save({ id: 'saved', model: 'play/model', instructions: 'You do it.', actions })
    change()
    const [action] = (await stage.runtime.agents.get('saved')).actions
    return inSchema(action?.parametersSchema)
  },
  async 'a schema of a saved protocol'(store, { value, change }) {
    const stage = stageOn(store)
    const schema = { type: 'object', properties: { a: { default: value } } }
    await stage.runtime.protocols.save({ name: 'saved', messages: [{ name: 'ask', from: 'initiator', schema }] })
    change()
    const [message] = (await stage.runtime.protocols.get('saved')).messages
    return inSchema(message?.schema)
  },
  async 'what a model wants back'(store, { value, change }) {
    const requests: ModelRequest[] = []
    const model: Model = {
      id: 'play/keeping',
      async *stream(request) {
        requests.push(request)
        const reply = { text: 'done', toolCalls: [], finishReason: 'stop', usage: null, model: null } as const
        yield { type: 'reply', reply: { ...reply, kept: { by: 'play', parts: value } } }
      },
    }
    const stage = createStage({
      agents: [],
      plays: {},
      options: { store, models: { 'play/model': model }, agents: [agent('root')] },
    })
    await stage.ask('root', 'go', { id: 'chats/1' })
    change()
    await stage.run('chats/1', { prompt: 'and?' })
    const said = requests[1]?.messages.find(({ role }) => role === 'assistant') as {
      readonly kept?: { readonly parts?: unknown }
    }
    return said.kept?.parts
  },
  async 'what a tool asks to approve'(store, { value, change }) {
    const stage = stageOn(store, async (_, { approve }) => {
      setImmediate(change)
      await approve({ what: value })
    })
    const { interruptions } = await stage.ask('root', 'work', { id: 'chats/1' })
    change()
    await eventsOf(stage)
    const [now] = (await stage.runtime.listInterruptions()).items
    assert.deepEqual(now, interruptions[0])
    return (now as { arguments?: Record<string, unknown> }).arguments?.['what']
  },
}

/** A definition is looked at before it is copied: what is no JSON there is refused by its form, and nobody writes getters into one. */
const definitions = ['a sample of a saved agent', 'a schema of a saved action', 'a schema of a saved protocol']

for (const kind of kinds)
  for (const [door, enter] of Object.entries(doors))
    for (const [name, make] of Object.entries(values).filter(
      ([one]) => one !== 'a getter' || !definitions.includes(door),
    ))
      test(`${door}, ${kind}: ${name} is JSON as it was when it came`, async (context) => {
        const folder = mkdtempSync(join(tmpdir(), 'witan-values-'))
        context.after(() => rmSync(folder, { recursive: true }))
        const store = kind === 'memory' ? memoryStore() : sqliteStore({ file: join(folder, 'witan.db') })
        const wanted = JSON.parse(JSON.stringify(make().value))
        const found = await enter(store, make())
        // What a person approves is an object; a list in it is none of its keys.
        assert.deepStrictEqual(structuredClone(found), wanted)
        await store.close()
      })

for (const value of [Number.NaN, { a: [Number.POSITIVE_INFINITY] }, { a: 1n }])
  test(`a request with ${Object.values([value])} is refused, with its place`, async () => {
    const { stage, id } = await waiting(memoryStore())
    const refused = { code: 'BODY_INVALID', message: /no finite number|BigInt/ }
    await assert.rejects(stage.runtime.run('chats/1', { actionResponses: [{ id, response: value }] }), refused)
    await assert.rejects(stage.runtime.answerInterruption(id, { answer: value }), refused)
  })

test('a getter that throws refuses the request, and fails the call of a tool', async () => {
  const value = {
    get it() {
      throw new Error('not now')
    },
  }
  const { stage, id } = await waiting(memoryStore())
  const refused = { code: 'BODY_INVALID', message: /not now/ }
  await assert.rejects(stage.runtime.answerInterruption(id, { answer: value }), refused)
  const calling = stageOn(memoryStore(), () => value)
  assert.equal((await calling.ask('root', 'work', { id: 'chats/1' })).status, 'completed')
  assert.match(String((await contentIn(calling, 'error'))?.['detail']), /not JSON: not now/)
})

test('what a tool throws may be anything', async () => {
  const strange = Object.defineProperty(new Error('x'), 'message', {
    get: () => {
      throw new Error('no')
    },
  })
  for (const thrown of [strange, Object.assign(new Error('x'), { message: Symbol('x') }), null, new Map()]) {
    const stage = stageOn(memoryStore(), () => {
      throw thrown
    })
    assert.equal((await stage.ask('root', 'work', { id: 'chats/1' })).status, 'completed')
  }
})
