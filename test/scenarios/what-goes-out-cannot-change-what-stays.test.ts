/** What readers and tools get is theirs: whatever they do to it, the log, its other readers and the next run have what they had. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { defineTool, memoryStore, type Runtime, sqliteStore, type Store } from '@witan/core'
import { call, lastUserMessage, toolResults } from '@witan/core/testing'
import { z } from 'zod'
import { createStage } from '../support/stage.ts'

/** Changes all that can be changed of a value, at every depth, as code does that does not know better. */
function spoil(value: unknown, seen = new Set<object>()): void {
  if (typeof value !== 'object' || value === null || seen.has(value)) return
  seen.add(value)
  for (const inner of Object.values(value)) spoil(inner, seen)
  const changes: (() => unknown)[] = Array.isArray(value)
    ? [() => value.push('spoilt'), () => Object.assign(value, ['spoilt']), () => value.reverse()]
    : Object.keys(value).map((name) => () => Object.assign(value, { [name]: 'spoilt' }))
  for (const change of [...changes, () => Object.assign(value, { spoilt: true })]) {
    try {
      change()
    } catch (error) {
      assert.ok(error instanceof TypeError, 'what several have is read-only')
    }
  }
}

const outputSchema = {
  type: 'object',
  properties: { rows: { type: 'array', items: { type: 'object' } } },
  required: ['rows'],
}
const look = { name: 'Look', description: 'Looks.', parametersSchema: { type: 'object' } }
const result = { rows: [{ id: 1, tags: ['a'] }] }
const args = { of: { names: ['a'] } }

function stageOn(store: Store, spoils: boolean) {
  const spoilt = (value: unknown) => {
    if (spoils) spoil(value)
  }
  const work = defineTool({
    name: 'work',
    description: 'Works.',
    parameters: z.object({ of: z.unknown() }),
    async execute(given, { ask, checkpoint, principal, parameters }) {
      const note = checkpoint.value ?? { steps: [{ at: 1 }] }
      spoilt(note)
      if (checkpoint.value === undefined) await checkpoint.save({ steps: [{ at: 1 }] })
      assert.deepEqual(given, args)
      spoilt(given)
      const answers = await ask([{ id: 'q', text: 'And?', options: [{ id: 'o', label: 'O' }] }])
      const held = { ...parameters }
      spoilt([answers, principal, held, parameters])
      return result
    },
  })
  return createStage({
    agents: [
      {
        id: 'root',
        tools: ['work'],
        actions: [look],
        subAgents: [{ agent: 'leaf' }],
        parameters: [{ name: 'tags', type: 'string[]' }],
        outputSchema,
      },
      { id: 'leaf' },
    ],
    plays: {
      root(request) {
        const asked = lastUserMessage(request)
        if (toolResults(request).length > 0 || asked === 'once more')
          return JSON.stringify({ rows: [{ done: ['yes'] }] })
        if (asked === 'again') return call('Look', args)
        return {
          toolCalls: [
            { name: 'work', arguments: args },
            { name: 'leaf', arguments: { message: 'go' } },
          ],
        }
      },
      leaf: () => 'leaf done',
    },
    options: { tools: [work], store },
  })
}

const id = 'chats/1'
const full = { detail: 'full' } as const

async function listed<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = []
  for await (const item of items) all.push(item)
  return all
}

/** The events of the log, as a reader gets them that follows it. */
async function followed(runtime: Runtime): Promise<unknown[]> {
  const { lastSeq } = await runtime.getConversation(id)
  const stop = new AbortController()
  const events: unknown[] = []
  for await (const event of runtime.followEvents(id, { verbose: true, signal: stop.signal })) {
    events.push(event)
    if ('seq' in event && event.seq === lastSeq) stop.abort()
  }
  return events
}

const runIdOf = async (runtime: Runtime) => (await runtime.listRuns(id)).items[0]?.runId ?? ''

/** The ways out. What each gives must not depend on when it is read. */
const ways: Readonly<Record<string, (runtime: Runtime) => Promise<unknown>>> = {
  'the document': (runtime) => runtime.getDocument(id, full),
  'the events': (runtime) => runtime.readEvents(id, { verbose: true }),
  'the events that are followed': followed,
  'the conversation': (runtime) => runtime.getConversation(id),
  'the list of conversations': (runtime) => runtime.listConversations(),
  'the list of runs': (runtime) => runtime.listRuns(id),
  'a run with its tree and its result': async (runtime) => runtime.getRun(await runIdOf(runtime)),
  'the result of a run': async (runtime) => (await runtime.followRun(await runIdOf(runtime))).result,
  'the diagram': async (runtime) => runtime.getDiagram(await runIdOf(runtime)),
  'the exchanges': async (runtime) => runtime.getExchanges(await runIdOf(runtime)),
  'the tasks': (runtime) => runtime.tasks.list(),
  'the interruptions': (runtime) => runtime.listInterruptions(),
  'the agents': (runtime) => runtime.agents.list(),
  'an agent': (runtime) => runtime.agents.get('root'),
  'the views of agents': (runtime) => runtime.agents.views(),
  'the export': (runtime) => listed(runtime.exportConversation(id)),
  'the usage': (runtime) => runtime.usage({ by: 'agent' }),
  'the people': (runtime) => runtime.listParticipants(id),
  'the audit': (runtime) => runtime.audit(),
}

/** One conversation: a tool that asks, a task, an answer in a form, and an action that waits. */
async function played(store: Store, spoils: boolean) {
  const stage = stageOn(store, spoils)
  const spoilt = (value: unknown) => {
    if (spoils) spoil(value)
  }
  const first = await stage.ask('root', 'go', { id, parameters: { tags: ['x'] } })
  const question = first.interruptions[0]?.id
  spoilt(first)
  const second = await stage.run(id, { answers: [{ id: question, answer: { q: { options: ['o'] } } }] })
  assert.equal(second.status, 'completed')
  spoilt(second)
  const third = await stage.run(id, { prompt: 'again' })
  assert.equal(third.status, 'waiting')
  spoilt(third)
  return stage
}

async function allOf(runtime: Runtime): Promise<Record<string, unknown>> {
  const all: Record<string, unknown> = {}
  for (const [name, read] of Object.entries(ways)) all[name] = structuredClone(plain(await read(runtime)))
  return all
}

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

for (const kind of ['memory', 'sqlite'] as const) {
  const opened = (context: { after(close: () => void): void }): Store => {
    if (kind === 'memory') return memoryStore()
    const folder = mkdtempSync(join(tmpdir(), 'witan-values-'))
    context.after(() => rmSync(folder, { recursive: true }))
    return sqliteStore({ file: join(folder, 'witan.db') })
  }

  for (const [way, read] of Object.entries(ways))
    test(`${way}, ${kind}: a reader that changes it changes nothing that others get`, async (context) => {
      const { runtime } = await played(opened(context), false)
      const before = await allOf(runtime)
      spoil(await read(runtime))
      spoil(await read(runtime))
      assert.deepEqual(await allOf(runtime), before)
      await runtime.close()
    })

  test(`results and what a tool gets, ${kind}: who changes them changes nothing of the log, and no later request`, async (context) => {
    const [kept, changed] = [await played(opened(context), false), await played(opened(context), true)]
    for (const stage of [kept, changed]) {
      if (stage === changed) for (const read of Object.values(ways)) spoil(await read(stage.runtime))
      const [open] = (await stage.runtime.listInterruptions({ state: 'open' })).items
      await stage.run(id, { actionResponses: [{ id: open?.id, response: { rows: [] } }] })
      await stage.run(id, { prompt: 'once more' })
    }
    const said = (stage: typeof kept) => stage.requests.map(({ messages, tools }) => plain({ messages, tools }))
    assert.deepEqual(said(changed), said(kept))
    const told = async ({ runtime }: typeof kept) =>
      (await runtime.readEvents(id, { verbose: true })).events.map(({ type, kind: of, content }) => [
        type,
        of,
        shown(content),
      ])
    assert.deepEqual(await told(changed), await told(kept))
    for (const { runtime } of [kept, changed]) await runtime.close()
  })
}

/** Without ids, which differ between two conversations. */
function shown(content: unknown): unknown {
  return JSON.parse(JSON.stringify(content).replace(/"[a-z]+_[0-9a-z]{8,20}_\d+"/g, '"id"'))
}
