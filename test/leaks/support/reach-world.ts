/** Databases that hold the same things under the same ids, each with its own mark in every text, behind one application. */
import { createHash } from 'node:crypto'
import { fakeMcp, toolWith } from '../../support/fake-mcp.ts'
import { createRuntime, defineTool, type Principal, type Runtime, type Store } from '@witan/core'
import { call, scriptedModel } from '@witan/core/testing'
import type { DatabaseId, Prompt } from '@witan/protocol'
import { type App, createApp, createAuth, createLog, noFederation } from '@witan/server'
import { z } from 'zod'
import { agent, playerOf, until } from '../../support/stage.ts'
import { canary } from './canary.ts'
import type { Caller, Ids } from './reach-table.ts'

/** Ids of nothing. */
export const missing: Ids = {
  ...{
    conversation: 'chats:9',
    run: 'c_nothing',
    task: 'c_nothing',
    artifact: 'a_nothing',
    modelCall: '9999',
    digest: 'sha256:nothing',
  },
  ...{ action: 'i_nothing', message: 'i_nothing', question: 'i_nothing' },
  ...{ agent: 'nothing', protocol: 'nothing', key: 'nothing' },
  ...{ base: 'nothing', knowledgeDocument: 'nothing', ingest: 'nothing' },
  ...{ block: 'm_nothing', subject: 'user:nothing' },
}

const note = defineTool({
  name: 'note',
  description: 'Notes.',
  parameters: z.object({}),
  effect: 'none',
  execute: () => 'noted',
})

const first = canary('reachfirst')
const bound = canary('reachbound')
const file = Buffer.from('A note.')

const model = scriptedModel((request, turn) => {
  if (playerOf(request) === 'clerk') return turn === 0 ? call('Look', { what: first }) : 'seen'
  if (playerOf(request) !== 'root') return 'fine'
  if (turn > 0) return 'done'
  const question = { id: 'q', text: first, options: [{ id: 'a', label: 'A' }] }
  const calls: readonly (readonly [name: string, args: object])[] = [
    ['clerk', { message: first }],
    ['save_artifact', { name: `${first}.txt`, media_type: 'text/plain', text: 'x' }],
    ['Ask', { what: first }],
    ['ask_user', { user: 'bob', message: first }],
    ['ask_question', { questions: [question] }],
  ]
  return { text: first, toolCalls: calls.map(([name, args]) => ({ name, arguments: { ...args } })) }
})

const agents = [
  {
    ...agent('root', { tools: ['note'] }),
    parameters: [{ name: 'secret', sendToModel: false }],
    actions: [{ name: 'Ask', parametersSample: { what: 'x' } }],
    ...{ users: 'participants' as const, questions: true, artifacts: true },
    subAgents: [{ agent: 'clerk', blocking: 'never' as const }],
  },
  { ...agent('clerk'), actions: [{ name: 'Look', parametersSample: { what: 'x' } }] },
]

/** One database. Only the ids of keys differ from those of the others. */
export interface World {
  readonly database: string
  readonly ids: Ids
}

/** The worlds, and the application before them. */
export interface Worlds {
  readonly runtime: Runtime
  /** A database of its own with everything in it, in which `mark` stands everywhere. */
  create(mark: string): Promise<World>
  /** What a database holds of the conversation. */
  snapshot(database: string): Promise<string>
  fetch(who: Principal, request: Sent): Promise<Response>
  close(): Promise<void>
}

/** A request. */
interface Sent {
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** The principal of a caller. */
export function principalOf({ tie, roles }: Caller, database: string): Principal {
  return { database: database as DatabaseId, id: `user:${tie}`, roles, address: null }
}

export async function createWorlds(store: Store): Promise<Worlds> {
  const runtime = createRuntime({
    store,
    models: { 'play/model': model },
    tools: [note],
    mcpServers: fakeMcp({ box: { tools: [toolWith('go')] } }),
    domains: { 'reach.example': 'default' },
    agents: [...agents, { ...agent('front'), address: 'front' }],
    report: () => undefined,
  })
  const found = await play(runtime)
  const snapshot = await store.readSnapshot('default', 'chats/1')
  if (snapshot === null) throw new Error('there is no first conversation')
  const { contents, ...rest } = snapshot
  let made = 0
  let caller: Principal | null = null
  const app = appOf(runtime, () => caller)
  return {
    runtime,
    async create(mark) {
      made += 1
      const database = `${mark}-${made}`
      const text = JSON.stringify(rest)
        .replaceAll(first, canary(`reach${mark}`))
        .replaceAll('"default"', `"${database}"`)
      await store.putSnapshot(database, { ...JSON.parse(text), ...(contents === undefined ? {} : { contents }) })
      return { database, ids: { ...found, ...(await define(runtime, database, mark)) } }
    },
    async snapshot(database) {
      const { contents: _, ...kept } = (await store.readSnapshot(database, 'chats/1')) ?? {}
      const admin = runtime.as(principalOf({ tie: 'eve', roles: ['admin'] }, database))
      const { agents: all, protocols, knowledge, memory } = admin
      const documents = await knowledge.documents.list('manual')
      const lists = [await all.list(), await protocols.list(), await knowledge.list(), await memory.list()]
      return JSON.stringify([kept, ...lists, documents])
    },
    async fetch(who, { method, path, body, headers = {} }) {
      caller = who
      const type: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' }
      const init = { method, headers: { accept: 'application/json', ...type, ...headers } }
      const sent = body === undefined ? init : { ...init, body: JSON.stringify(body) }
      return app.fetch(new Request(`http://127.0.0.1:4747${path}`, sent))
    },
    close: () => runtime.close(),
  }
}

/** One conversation that waits for everything that one can wait for. */
async function play(runtime: Runtime): Promise<Omit<Ids, keyof Defined>> {
  const maker = runtime.as(principalOf({ tie: 'maker', roles: ['run'] }, 'default'))
  const users = ['bob', 'carl', 'fred'].map((id) => ({ id }))
  const attached = { type: 'file' as const, mediaType: 'text/plain', name: 'note.txt', data: file.toString('base64') }
  const prompt: Prompt = [{ type: 'text', text: first }, attached]
  const opened = await maker.start({ agent: 'root', id: 'chats/1', users, parameters: { secret: bound }, prompt })
  await opened.run?.result
  await until(async () => (await runtime.listInterruptions()).items.length === 4)
  await runtime.removeParticipant('chats/1', 'carl')
  const { tasks, runs, interruptions } = await runtime.getConversation('chats/1')
  const [artifact] = (await runtime.artifacts.list('chats/1')).items
  const [modelCall] = (await runtime.modelCalls.list('chats/1')).items
  const one = (path: string) => interruptions.find((open) => open.path === path)?.id ?? ''
  return {
    ...{
      conversation: 'chats:1',
      run: runs[0]?.runId ?? '',
      task: tasks[0]?.taskId ?? '',
      artifact: artifact?.id ?? '',
      modelCall: modelCall?.id ?? '',
    },
    digest: `sha256:${createHash('sha256').update(file).digest('hex')}`,
    ...{ action: one('Ask'), message: one('ask_user'), question: one('ask_question') },
    ...{ agent: 'root', protocol: 'stock' },
  }
}

type Defined = Pick<Ids, 'key' | 'base' | 'knowledgeDocument' | 'ingest' | 'block' | 'subject'>

/** Definitions with the mark of their database, a key, a document and what is remembered about bob. */
async function define(runtime: Runtime, database: string, mark: string): Promise<Defined> {
  const admin = runtime.as(principalOf({ tie: 'eve', roles: ['admin'] }, database))
  const text = canary(`reach${mark}`)
  await admin.knowledge.save({ id: 'manual', description: text })
  await admin.agents.save({ ...agent('desk'), description: text, knowledgeBases: ['manual'], memory: {} })
  await admin.protocols.save({ name: 'stock', purpose: text, messages: [{ name: 'ask', from: 'initiator' }] })
  const { keyId } = await admin.keys.create({ name: text.slice(0, 60) })
  const document = { key: 'words.txt', title: text, text: `Words of ${text}.` }
  const ingest = await admin.knowledge.documents.ingest('manual', { documents: [document] })
  const subject = 'user:bob'
  const block = await admin.memory.create({ agent: 'desk', subject, key: 'about', text })
  const known = { base: 'manual', knowledgeDocument: document.key, ingest: ingest.id }
  return { key: keyId, ...known, block: block.id, subject }
}

function appOf(runtime: Runtime, caller: () => Principal | null): App {
  const never = new AbortController().signal
  return createApp({
    runtime,
    auth: { ...createAuth('none', () => 4747), check: async () => caller() ?? runtime.principal },
    hosts: { port: () => 4747, allowed: [], origins: [] },
    log: createLog('error', () => undefined),
    stop: { streams: never, waits: never },
    federation: { ...noFederation, domain: 'reach.example', domains: ['reach.example'] },
    studio: new URL('./nothing-built/', import.meta.url),
  })
}
