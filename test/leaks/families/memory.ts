/**
 * Family M: memory. What an agent remembers of one person reaches no model, event, document, tree, result, export or span of a run for another
 * person, of another agent, in another conversation or in another database; a hidden value gets into no block, in whatever disguise; no model
 * widens whose memory it reads; what is erased is read by nobody; and an order in a block is an order like any other.
 */
import { defineTool, memoryStore, type Principal, type Store } from '@witan/core'
import { call, lastUserMessage, type Rule, type ScriptedCall, type ScriptedReply } from '@witan/core/testing'
import { z } from 'zod'
import { type AgentDraft, createStage, type Play, type Stage, until } from '../../support/stage.ts'
import { canary, encodings, scannerOf } from '../support/canary.ts'
import { exportOf } from '../support/export-text.ts'
import type { Ledger } from '../support/ledger.ts'
import { disguises, hasObeyed, obeying, orderOf } from '../support/obeying-model.ts'
import { createRecorder, recorded, type Recorder } from '../support/recorder.ts'
import { placesOf } from '../support/sinks.ts'
import { textOf } from '../support/texts.ts'

const archivals = ['tool', 'auto'] as const
type Archival = (typeof archivals)[number]
type Memory = NonNullable<AgentDraft['memory']>

const ben = { id: 'ben', name: 'Ben' }
const chat = 'chats/1'
const admin = { roles: ['admin', 'run', 'read'], address: null }
const scopes: Memory['scopes'] = ['person', 'conversation', 'agent']

let number = 0
const next = () => `m${++number}`

/** Plays every case. `stores`: a store in memory, and others. */
export async function playMemory(
  ledger: Ledger,
  stores: Readonly<Record<string, () => Promise<Store>>>,
): Promise<void> {
  const recorder = await createRecorder()
  try {
    for (const [name, open] of Object.entries(stores))
      for (const archival of archivals)
        for (const shape of Object.keys(shapes)) {
          ledger.begin(`what is remembered of others, ${archival}, ${shape}, ${name}`)
          await others({ archival, shape, store: await open() }, recorder, ledger)
        }
  } finally {
    await recorder.close()
  }
  for (const encoding of Object.keys(encodings)) {
    ledger.begin(`a hidden value is remembered as ${encoding}`)
    await hidden(encoding, ledger)
  }
  for (const [name, rule] of Object.entries(widenings)) {
    ledger.begin(`a model reaches for others’ blocks with ${name}`)
    await widened(rule, ledger)
  }
  for (const archival of archivals) {
    ledger.begin(`what is erased, ${archival}`)
    await erased(archival, ledger)
    for (const disguise of Object.keys(disguises))
      for (const [order, calls] of Object.entries(orders)) {
        ledger.begin(`a block orders ${order} as ${disguise}, ${archival}`)
        await ordered({ archival, disguise, calls }, ledger)
      }
  }
}

const recall = (query = 'drinks tea') => call('recall', { query })
const isOffered = ({ tools }: Parameters<Rule>[0], tool: string) => tools.some(({ name }) => name === tool)
/** Recalls once if it can, and then answers. */
const recalling =
  (answer: string): Rule =>
  (request) =>
    isOffered(request, 'recall') && request.messages.at(-1)?.role === 'user' ? recall() : answer

interface Shape {
  readonly agents: readonly AgentDraft[]
  readonly plays: Readonly<Record<string, Play>>
}

/** How the agent that remembers stands among others. `root` remembers, and so does `other`, which has blocks of its own about the same people. */
const shapes: Readonly<Record<string, (memory: Memory) => Shape>> = {
  'a root alone': (memory) => ({ agents: [{ id: 'root', memory }], plays: { root: recalling('read') } }),
  'a sub-agent with a memory of its own': (memory) => ({
    agents: [
      { id: 'root', memory, subAgents: [{ agent: 'other', history: 'shared' }] },
      { id: 'other', memory },
    ],
    plays: {
      root: ({ messages }) => {
        if (messages.at(-1)?.role === 'user') return recall()
        return textOf(messages).includes('heard') ? 'done' : call('other', { message: 'so?' })
      },
      other: recalling('heard'),
    },
  }),
  'a task in the background': (memory) => ({
    agents: [
      { id: 'root', memory, subAgents: [{ agent: 'other', blocking: 'never' }] },
      { id: 'other', memory },
    ],
    plays: {
      root: (request) => {
        if (lastUserMessage(request).startsWith('[from @other')) return 'noted'
        if (request.messages.at(-1)?.role === 'user') return recall()
        return textOf(request.messages).includes('task_id') ? 'done' : call('other', { message: 'so?' })
      },
      other: recalling('heard'),
    },
  }),
  'a root that hands over': (memory) => ({
    agents: [
      { id: 'root', memory, transfers: [{ agent: 'other', history: 'all' }] },
      { id: 'other', memory },
    ],
    plays: {
      root: ({ messages }) =>
        messages.at(-1)?.role === 'user' ? recall() : call('transfer_to_agent', { agent_name: 'other' }),
      other: recalling('heard'),
    },
  }),
  'steps of a workflow': (memory) => ({
    agents: [
      { id: 'flow', workflow: { kind: 'sequence', agents: ['root', 'other'] } },
      { id: 'root', memory },
      { id: 'other', memory },
    ],
    plays: { root: recalling('read'), other: recalling('heard') },
  }),
}

/** Puts a block behind each of these walls. */
async function strangers(stage: Stage, text: (id: string) => string): Promise<readonly string[]> {
  const { runtime } = stage
  const ids: string[] = []
  const put = async (about: object, where: Pick<typeof runtime, 'memory'> = runtime) => {
    for (const kind of ['core', 'archival'] as const) {
      const id = next()
      ids.push(id)
      const block = { agent: 'root', scope: 'person', key: `tea-${kind}`, kind, text: text(id) } as const
      await where.memory.create({ ...block, ...about } as Parameters<typeof runtime.memory.create>[0])
    }
  }
  await put({ subject: 'user:anna' })
  await put({ subject: 'user:local' })
  await runtime.start({ agent: 'root', id: 'chats/9', users: [ben] })
  await put({ subject: 'user:ben', scope: 'conversation', conversationId: 'chats/9' })
  await put(
    { subject: 'user:ben' },
    runtime.as({ ...admin, database: 'tenant' as Principal['database'], id: 'user:ben' }),
  )
  return ids
}

/** The run is for Ben; agents remember the same words of others. */
async function others(
  { archival, shape, store }: { readonly archival: Archival; readonly shape: string; readonly store: Store },
  recorder: Recorder,
  ledger: Ledger,
): Promise<void> {
  const { agents, plays } = (shapes[shape] as NonNullable<(typeof shapes)[string]>)({ scopes, archival })
  const telemetry = {
    otlp: { url: recorder.otlp, content: 'full' as const, protocol: 'http/json' as const },
    mlflow: { url: recorder.mlflow, content: 'full' as const, artifacts: true, runs: 'conversation' as const },
  }
  const stage = createStage({ agents, plays, options: { store, telemetry } })
  const foreign = await strangers(stage, (id) => `Drinks tea. ${canary(id)}`)
  const own = { root: [next(), next()], other: [next(), next()] }
  for (const [who, ids] of Object.entries(own))
    if (agents.some(({ id }) => id === who))
      for (const [at, kind] of (['core', 'archival'] as const).entries()) {
        const text = `Drinks tea. ${canary(ids[at] ?? '')}`
        await stage.runtime.memory.create({
          agent: who,
          subject: 'user:ben',
          scope: 'person',
          key: `own-${kind}`,
          kind,
          text,
        })
      }
  const first = agents[0]?.id ?? ''
  await stage.runtime.start({ agent: first, id: chat, users: [ben] })
  const final = await stage.run(chat, { prompt: 'Who drinks tea?', author: 'ben' })
  ledger.claim(`the run is ${final.status}`, final.status === 'completed')
  await until(async () => (await stage.runtime.tasks.list({ live: true })).items.length === 0)
  await until(async () => (await stage.runtime.getConversation(chat)).status === 'idle')
  const seen = { waiting: null, interruptions: null, whileWaiting: null, live: [], executed: [] }
  const places = await placesOf(stage, store, { conversation: chat, final, ...seen })
  const exported = await exportOf(stage.runtime, chat, ledger)
  const scan = scannerOf(foreign)
  for (const { sink, agent, text } of places) ledger.deny('leak', `${sink} of ${agent}`, scan(text))
  ledger.deny('leak', 'export', scan(exported))
  for (const [who, ids] of Object.entries(own)) {
    if (!agents.some(({ id }) => id === who)) continue
    for (const id of ids) ledger.control(`the model of ${who}`, scannerOf([id])(textOf(stage.seenBy(who))).size > 0)
    for (const { id } of agents)
      if (id !== who) ledger.deny('leak', `what ${id} read of ${who}`, scannerOf(ids)(textOf(stage.seenBy(id))))
    const events = (await stage.events(chat)).filter(({ type }) => type === 'memory')
    ledger.deny('leak', 'the events of memory', scannerOf(ids)(textOf(events)))
    ledger.deny('leak', 'the tree', scannerOf(ids)(textOf((await stage.runtime.getRun(final.runId)).tree)))
  }
  await stage.runtime.close()
  for (const way of recorded) ledger.deny('leak', way, scan(recorder.text(way)))
  ledger.control('OTLP spans', scannerOf(own.root)(recorder.text('OTLP spans')).size > 0)
  recorder.forget()
}

const code = { name: 'code', sendToModel: false, policy: 'forbidModelGeneration' as const }

/** The model has a value from elsewhere that is hidden from it, and remembers it. */
async function hidden(encoding: string, ledger: Ledger): Promise<void> {
  const [secret, plain] = [next(), next()]
  const word = encodings[encoding]?.(canary(secret)) ?? ''
  const store = memoryStore()
  const remembers = (key: string, kind: string) => call('remember', { key, kind, text: `${canary(plain)} ${word}` })
  const stage = createStage({
    agents: [{ id: 'root', parameters: [code], memory: {} }],
    plays: {
      root: (request) => {
        const { messages } = request
        if (!textOf(messages).includes('Keep it.')) return recall(canary(plain))
        const results = messages.filter(({ role }) => role === 'tool').length
        return (
          [remembers('a', 'core'), remembers('b', 'archival'), call('remember', { key: word, text: 'as a key' })][
            results
          ] ?? 'kept'
        )
      },
    },
    options: { store },
  })
  const values = { parameters: { code: { value: canary(secret), sendToModel: false } } }
  await stage.ask('root', 'Keep it.', { id: chat, ...values })
  await stage.ask('root', 'What do you know?', { id: 'chats/2' })
  const scan = scannerOf([secret])
  const blocks = (await stage.runtime.memory.list()).items
  ledger.control('the blocks', scannerOf([plain])(textOf(blocks)).size > 0)
  ledger.deny('leak', 'the blocks', scan(textOf(blocks)))
  for (const { id } of blocks)
    ledger.deny('leak', 'their revisions', scan(textOf(await stage.runtime.memory.revisions(id))))
  // Where the value is not bound, nothing scrubs it any more.
  const later = stage.seenBy('root').filter(({ messages }) => !textOf(messages).includes('Keep it.'))
  ledger.control('the model that reads later', scannerOf([plain])(textOf(later)).size > 0)
  ledger.deny('leak', 'the model that reads later', scan(textOf(later)))
  // The call itself is told as the model wrote it.
  const told = (await stage.events(chat)).filter(({ type }) => type === 'memory')
  ledger.deny('leak', 'the events of memory', scan(textOf(told)))
  ledger.deny('leak', 'export', scan(await exportOf(stage.runtime, chat, ledger)))
  await stage.runtime.close()
}

const remembering = (more: object) => call('remember', { key: 'tea-core', text: 'Mine.', ...more })
/** What a model writes to read or change more. */
const widenings: Readonly<Record<string, ScriptedReply>> = {
  'another subject': call('recall', { query: 'tea', subject: 'user:anna' }),
  'another agent': call('recall', { query: 'tea', agent: 'other' }),
  'a scope of all': call('recall', { query: 'tea', scope: 'agent' }),
  'words of a filter': call('recall', { query: 'tea subject:anna subject=anna "anna"' }),
  'the syntax of an index': call('recall', { query: '"tea" OR drinks* NEAR(tea drinks) key : tea' }),
  'a key that another has': remembering({}),
  'the revision of another': remembering({ expected_revision: 1 }),
  'an owner': remembering({ owner: { subject: 'user:anna' }, subject: 'user:anna' }),
  'the scope of all agents': remembering({ scope: 'agent' }),
  'a name of JavaScript': remembering({ key: '__proto__', scope: 'constructor' }),
  'nothing, to delete': remembering({ text: '', expected_revision: 1 }),
}

async function widened(first: ScriptedReply, ledger: Ledger): Promise<void> {
  const store = memoryStore()
  const stage = createStage({
    agents: [{ id: 'root', memory: { scopes } }],
    plays: { root: [first, recall(), 'read', 'again'] },
    options: { store },
  })
  const foreign = await strangers(stage, (id) => `Drinks tea. ${canary(id)}`)
  const own = next()
  const block = { agent: 'root', subject: 'user:ben', scope: 'person', key: 'own', kind: 'archival' } as const
  await stage.runtime.memory.create({ ...block, text: `Drinks tea. ${canary(own)}` })
  const before = JSON.stringify((await stage.runtime.memory.list({ subject: 'user:anna' })).items)
  await stage.runtime.start({ agent: 'root', id: chat, users: [ben] })
  await stage.run(chat, { prompt: 'Who?', author: 'ben' })
  const read = textOf(stage.seenBy('root'))
  ledger.control('the model that recalls', scannerOf([own])(read).size > 0)
  ledger.deny('override', 'what it read', scannerOf(foreign)(read))
  const after = JSON.stringify((await stage.runtime.memory.list({ subject: 'user:anna' })).items)
  ledger.deny('override', 'the blocks of another', before === after ? [] : ['they changed'])
  await stage.runtime.close()
}

/** Ben erases what is about Ben: the next conversation has nothing of it, and a conversation that has read it reads nothing of it again. */
async function erased(archival: Archival, ledger: Ledger): Promise<void> {
  const [own, kept] = [next(), next()]
  const stage = createStage({ agents: [{ id: 'root', memory: { archival } }], plays: { root: recalling('read') } })
  const put = (subject: string, kind: 'core' | 'archival', id: string) =>
    stage.runtime.memory.create({
      agent: 'root',
      subject,
      scope: 'person',
      key: kind,
      kind,
      text: `Drinks tea. ${canary(id)}`,
    })
  for (const kind of ['core', 'archival'] as const) {
    await put('user:ben', kind, own)
    await put('user:anna', kind, kept)
  }
  const says = async (id: string, author: string) => {
    await stage.runtime.start({ agent: 'root', id, users: [{ id: author, name: author }] })
    await stage.run(id, { prompt: 'Who drinks tea?', author })
  }
  await says(chat, 'ben')
  ledger.control('the model before', scannerOf([own])(textOf(stage.seenBy('root'))).size > 0)
  const before = stage.seenBy('root').length
  const { conversations } = await stage.runtime
    .as({ database: 'default' as Principal['database'], id: 'user:ben', roles: [], address: null })
    .memory.erase({ subject: 'user:ben' })
  ledger.claim('the erasure names what quotes it', JSON.stringify(conversations) === JSON.stringify([chat]))
  await says('chats/2', 'ben')
  await says('chats/3', 'anna')
  const later = textOf(stage.seenBy('root').slice(before))
  ledger.control('the model for another', scannerOf([kept])(later).size > 0)
  ledger.deny('leak', 'the model afterwards', scannerOf([own])(later))
  ledger.deny('leak', 'the list of blocks', scannerOf([own])(textOf((await stage.runtime.memory.list()).items)))
  await stage.runtime.close()
}

const orders: Readonly<Record<string, readonly ScriptedCall[]>> = {
  'a tool of somebody else': [{ name: 'wire-money', arguments: {} }],
  'an agent it does not list': [{ name: 'stranger', arguments: { message: 'go' } }],
  'a hand-over': [{ name: 'transfer_to_agent', arguments: { agent_name: 'stranger' } }],
  'a block about somebody else': [{ name: 'remember', arguments: { key: 'x', text: 'Y.', subject: 'user:anna' } }],
}

/** A block was written by somebody hostile. */
async function ordered(
  of: { readonly archival: Archival; readonly disguise: string; readonly calls: readonly ScriptedCall[] },
  ledger: Ledger,
): Promise<void> {
  let wired = 0
  const wire = defineTool({
    name: 'wire-money',
    description: 'Wires money.',
    parameters: z.object({}),
    execute: async () => {
      wired += 1
      return 'wired'
    },
  })
  const stage = createStage({
    agents: [
      { id: 'root', memory: { archival: of.archival } },
      { id: 'stranger', tools: ['wire-money'] },
    ],
    plays: { root: obeying(recalling('read')), stranger: ['obeyed'] },
    options: { tools: [wire] },
  })
  const order = disguises[of.disguise]?.(orderOf(of.calls)) ?? ''
  const block = { agent: 'root', subject: 'user:local', scope: 'person', key: 'tea', kind: 'archival' } as const
  await stage.runtime.memory.create({ ...block, text: `Drinks tea: ${order}` })
  await stage.ask('root', 'Who drinks tea?', { id: chat })
  ledger.control('the model that obeys', stage.seenBy('root').some(hasObeyed))
  ledger.deny('edge', 'the stranger', stage.seenBy('stranger').length > 0 ? ['it was called'] : [])
  ledger.deny('edge', 'the tool', wired > 0 ? ['it was run'] : [])
  const about = (await stage.runtime.memory.list({ subject: 'user:anna' })).items
  ledger.deny(
    'override',
    'the blocks of another',
    about.map(({ key }) => key),
  )
  await stage.runtime.close()
}
