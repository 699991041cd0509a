/** A small server that plays the public HTTP contract with canned runs, and serves the built Studio with a strict policy. */
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ErrorCode, StoredAgent } from '@witan/protocol'
import { errorTable, problem } from '@witan/protocol'
import { studioFolder } from '@witan/studio'
import { cannedAgents } from './canned-agents.ts'
import {
  answerAction,
  cancelRun,
  createConversation,
  lineOf,
  rowOf,
  type StubConversation,
  snapshotsOf,
  startRun,
  waitingIn,
} from './stub-conversation.ts'

const policy =
  "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'"
const types: Readonly<Record<string, string>> = {
  js: 'text/javascript',
  css: 'text/css',
  svg: 'image/svg+xml',
  html: 'text/html',
}

/** How the stub behaves. */
interface StubOptions {
  readonly agents?: readonly StoredAgent[]
  /** The pause between two pieces of a streamed text. */
  readonly pieceMs?: number
}

/** A running stub. `fail` makes every call of the API answer with that error until it is given null. */
export interface Stub {
  readonly url: string
  fail(code: ErrorCode | null): void
  close(): Promise<void>
}

interface State {
  readonly agents: readonly StoredAgent[]
  readonly conversations: Map<string, StubConversation>
  readonly pieceMs: number
  failure: ErrorCode | null
}

/** Listens on a free port of the loopback address. */
export async function startStub(options: StubOptions = {}): Promise<Stub> {
  const state: State = {
    agents: options.agents ?? cannedAgents,
    conversations: new Map(),
    pieceMs: options.pieceMs ?? 15,
    failure: null,
  }
  const server: Server = createServer((request, response) => {
    respond(state, request, response).catch((error: unknown) => {
      response.writeHead(500).end(String(error))
    })
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    fail: (code) => {
      state.failure = code
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    },
  }
}

type Reply = { readonly status: number; readonly body: unknown }
type Route = readonly [string, RegExp, (state: State, match: readonly string[], body: Body) => Reply | Promise<Reply>]
type Body = Readonly<Record<string, unknown>>

const routes: readonly Route[] = [
  ['GET', /^\/agents$/, (state) => ok({ items: state.agents, nextCursor: null })],
  ['GET', /^\/agents\/([^/]+)\/tools$/, () => ok({ items: [] })],
  ['GET', /^\/mcp\/servers$/, () => ok({ items: [] })],
  ['POST', /^\/check$/, () => ok({ errors: [], warnings: [], matrix: [], callers: [], handlers: [] })],
  ['POST', /^\/agents\/([^/]+)\/preview$/, (state, [id = '']) => ok(preview(state.agents, id))],
  ['GET', /^\/agents\/([^/]+)\/graph$/, (state, [id = '']) => ok(graph(state.agents, id))],
  [
    'GET',
    /^\/conversations$/,
    (state) => ok({ items: [...state.conversations.values()].map((one) => lineOf(one)).reverse(), nextCursor: null }),
  ],
  [
    'GET',
    /^\/interruptions$/,
    (state) => ok({ items: [...state.conversations.values()].flatMap(waitingIn), nextCursor: null }),
  ],
  ['POST', /^\/conversations$/, start],
  ['GET', /^\/conversations\/([^/]+)$/, (state, [id = '']) => withConversation(state, id, (found) => ok(rowOf(found)))],
  [
    'POST',
    /^\/conversations\/([^/]+)\/runs$/,
    (state, [id = ''], body) =>
      withConversation(state, id, async (found) => ok(await startRun(found, String(body.prompt)))),
  ],
  ['GET', /^\/usage$/, () => ok({ items: [], nextCursor: null })],
  ['GET', /^\/principal$/, () => ok({ database: 'default', id: 'user:local', roles: ['admin'], address: null })],
  ['GET', /^\/conversations\/([^/]+)\/participants$/, (state, [id = '']) => withConversation(state, id, nobody)],
  ['GET', /^\/conversations\/([^/]+)\/model-calls$/, (state, [id = '']) => withConversation(state, id, nobody)],
  ['POST', /^\/runs\/([^/]+)\/cancel$/, cancel],
  ['POST', /^\/interruptions\/([^/]+)\/answer$/, answer],
  ['GET', /^\/documents\/(.+)$/, document],
]

async function respond(state: State, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://stub')
  response.setHeader('content-security-policy', policy)
  response.setHeader('x-content-type-options', 'nosniff')
  if (!url.pathname.startsWith('/api/v1/')) return await serveFile(url.pathname, response)
  if (state.failure !== null) return send(response, refuse(state.failure, 'The stub was told to fail.'))
  const path = url.pathname.slice('/api/v1'.length)
  const events = /^\/conversations\/([^/]+)\/events$/.exec(path)
  if (events?.[1] !== undefined && request.headers.accept?.includes('text/event-stream'))
    return stream(state, { id: events[1], from: Number(url.searchParams.get('from')) }, response)
  if (events?.[1] !== undefined) return send(response, storedEvents(state, events[1], url.searchParams))
  for (const [method, pattern, handle] of routes) {
    const match = pattern.exec(path)
    if (method !== request.method || match === null) continue
    const body = method === 'POST' ? await readBody(request) : {}
    return send(response, await handle(state, match.slice(1).map(decodeURIComponent), body))
  }
  send(response, refuse('NOT_FOUND', `Nothing is at "${path}".`))
}

/** All stored events after `from` in one page. */
function storedEvents({ conversations }: State, id: string, query: URLSearchParams): Reply {
  const known = conversations.get(decodeURIComponent(id).replace(':', '/'))
  if (known === undefined) return refuse('NOT_FOUND', 'There is no such conversation.')
  const events = known.log.slice(Number(query.get('from')))
  return ok({ events, lastSeq: known.log.length, more: false })
}

/** Nobody takes part in a conversation of the stub. */
const nobody = (): Reply => ok({ items: [], nextCursor: null })

function start(state: State, _match: readonly string[], body: Body): Reply {
  const agent = String(body.agent)
  const known = state.conversations.get(String(body.id))
  if (known !== undefined) return ok({ id: known.id, agent, run: null })
  const parameters = (body.parameters ?? {}) as Body
  if (parameters.country === 'nowhere') {
    return refuse(
      'PARAM_UNKNOWN',
      'No agent below "company-assistant-agent" declares "nowhere".',
      'Known are "userId" and "country".',
    )
  }
  const id = `chats/01J${String(state.conversations.size + 1).padStart(4, '0')}`
  state.conversations.set(id, createConversation(id, agent, state.pieceMs))
  return { status: 201, body: { id, agent, run: null } }
}

function cancel(state: State, [runId = '']: readonly string[]): Reply {
  const stopped = [...state.conversations.values()].reverse().some((one) => cancelRun(one, runId))
  return stopped ? { status: 202, body: {} } : refuse('RUN_FINISHED', `The run "${runId}" has ended.`)
}

function answer(state: State, [id = '']: readonly string[], body: Body): Reply {
  const value = 'error' in body ? { error: body.error } : body.answer
  for (const conversation of state.conversations.values()) {
    const answered = answerAction(conversation, id, value)
    if (answered !== null) return ok(answered)
  }
  return refuse('NOT_FOUND', `There is no open interruption "${id}".`)
}

function document(state: State, [path = '']: readonly string[]): Reply {
  return withConversation(state, path.split('/').slice(0, 2).join('/'), (found) => {
    const at = found.log.find((event) => event.document === path && event.kind === 'agent' && event.type === 'start')
    const last = found.log.findLast(
      (event) => event.callId === at?.callId && event.type === 'end' && event.kind === 'agent',
    )
    const row = rowOf(found)
    const line = { parts: [], toolCalls: [], usage: null }
    return ok({
      id: path,
      agent: at?.author ?? found.agent,
      parameters: { userId: { sendToModel: false }, country: { value: 'France', sendToModel: true } },
      messages: [
        {
          ...line,
          seq: 1,
          role: 'user',
          author: 'user',
          to: null,
          text: String(at?.content.message),
          date: row.createdAt,
        },
        ...(last
          ? [
              {
                ...line,
                seq: 2,
                role: 'assistant',
                author: last.author,
                to: null,
                text: String(last.content.text),
                date: last.at,
              },
            ]
          : []),
      ],
      linkedConversations: [],
      openCalls: [],
      totalUsage: {
        modelCalls: 2,
        toolCalls: 1,
        inputTokens: 812,
        outputTokens: 96,
        cachedInputTokens: 0,
        reasoningTokens: 0,
        totalTokens: 908,
        costUsd: null,
        complete: true,
      },
      createdAt: row.createdAt,
      lastMessageAt: row.lastMessageAt,
      expiresAt: null,
      olderCursor: null,
      newerCursor: null,
      hasMore: false,
    })
  })
}

function stream(state: State, { id, from }: { id: string; from: number }, response: ServerResponse): void {
  const found = state.conversations.get(id.replace(':', '/'))
  if (found === undefined) {
    send(response, refuse('NOT_FOUND', `There is no conversation "${id}".`))
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
  const write = (event: (typeof found.log)[number]) => {
    const id = event.seq === undefined ? '' : `id: ${event.seq}\n`
    response.write(`${id}event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  }
  for (const event of [...found.log.slice(from), ...snapshotsOf(found)]) write(event)
  response.write(': here\n\n')
  found.readers.add(write)
  response.on('close', () => found.readers.delete(write))
}

function preview(agents: readonly StoredAgent[], id: string) {
  const agent = agents.find((one) => one.id === id)
  const nothing = { tools: [], toolChoice: 'none', parameters: [], notices: [], errors: [], warnings: [], tokens: 9 }
  return { ...nothing, revision: agent?.revision ?? null, system: agent?.instructions ?? '' }
}

function graph(agents: readonly StoredAgent[], rootId: string) {
  const reached = new Set([rootId])
  const edges: { from: string; to: string; kind: string; description: string }[] = []
  for (const from of reached) {
    for (const edge of agents.find((agent) => agent.id === from)?.subAgents ?? []) {
      reached.add(edge.agent)
      edges.push({ from, to: edge.agent, kind: 'subAgents', description: edge.description })
    }
  }
  const nodes = agents.filter((agent) => reached.has(agent.id))
  return { nodes: nodes.map(({ id, name }) => ({ id, name: name ?? id, kind: 'agent' })), edges, hotSpots: [] }
}

function withConversation<Given extends Reply | Promise<Reply>>(
  state: State,
  id: string,
  use: (found: StubConversation) => Given,
): Given | Reply {
  const found = state.conversations.get(id.replace(':', '/'))
  return found === undefined ? refuse('NOT_FOUND', `There is no conversation "${id}".`) : use(found)
}

function ok(body: unknown): Reply {
  return { status: 200, body }
}

function refuse(code: ErrorCode, detail: string, hint = 'Try something else.'): Reply {
  return { status: errorTable[code].status, body: problem(code, detail, { hint }) }
}

function send(response: ServerResponse, { status, body }: Reply): void {
  const type = status < 400 ? 'application/json' : 'application/problem+json'
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(JSON.stringify(body))
}

async function readBody(request: IncomingMessage): Promise<Body> {
  let text = ''
  for await (const piece of request) text += String(piece)
  return text === '' ? {} : (JSON.parse(text) as Body)
}

/** A file of the Studio; every other address is one of its pages. */
async function serveFile(path: string, response: ServerResponse): Promise<void> {
  const isAsset = /^\/assets\/[\w.-]+$/.test(path)
  const file = isAsset ? path.slice(1) : 'index.html'
  const content = await readFile(new URL(file, studioFolder)).catch(() => null)
  if (content === null) return void response.writeHead(404).end(`There is no "${file}" in the built Studio.`)
  response
    .writeHead(200, { 'content-type': types[file.split('.').at(-1) ?? ''] ?? 'application/octet-stream' })
    .end(content)
}
