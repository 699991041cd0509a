/** A small server that keeps the public contract for conversations, so that the client's tests speak real HTTP. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { AnyEvent, Prompt } from '@witan/protocol'
import { problem, WitanError } from '@witan/protocol'
import { answerAll, type Run, resting, type Script, startRun, type Talk } from './scripted-run.ts'

/** What goes wrong, one entry per matching request in order. `reply`: the work is done and its reply is lost; `request`: nothing arrives; `stop`: the server says 202 and goes on by itself; `mute`: no head ever comes; `overlap`: all events come again; a number: the stream is cut after so many frames. */
interface Faults {
  readonly post: ('reply' | 'request' | 'stop' | number | null)[]
  readonly events: (number | 'proxy' | 'mute' | 'overlap' | null)[]
}

/** One request as it came. */
interface Seen {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: unknown
}

/** A running server and what it saw. */
export interface WireServer {
  readonly url: string
  readonly seen: Seen[]
  readonly faults: Faults
  /** How many connections are open now. */
  connections(): number
  close(): Promise<void>
}

/** Starts a server whose runs follow `script`. */
export async function startWireServer(script: Script): Promise<WireServer> {
  const state: State = { talks: new Map(), replies: new Map(), faults: { post: [], events: [] }, seen: [], script }
  const server = createServer((request, response) => {
    serve(state, request, response).catch((error: unknown) => {
      if (error instanceof WitanError) refuse(response, error)
      else response.destroy(error instanceof Error ? error : undefined)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  let open = 0
  server.on('connection', (socket) => {
    open += 1
    socket.on('close', () => {
      open -= 1
    })
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen: state.seen,
    faults: state.faults,
    connections: () => open,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

interface State {
  readonly talks: Map<string, Talk>
  readonly replies: Map<string, { text: string; done: boolean }>
  readonly faults: Faults
  readonly seen: Seen[]
  readonly script: Script
}

async function serve(state: State, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://local')
  let text = ''
  for await (const piece of request) text += piece
  const method = request.method ?? 'GET'
  const body = text === '' ? {} : (JSON.parse(text) as Record<string, unknown>)
  state.seen.push({ method, url: `${url.pathname}${url.search}`, headers: request.headers, body })
  const parts = url.pathname
    .split('/')
    .slice(3)
    .map((part) => decodeURIComponent(part).replace(':', '/'))
  if (url.pathname === '/healthz') return json(response, { status: 'ok' })
  if (parts[0] === 'runs' && parts[1]) return json(response, runState(findRun(state, parts[1])))
  if (parts[0] !== 'conversations') throw new WitanError('NOT_FOUND', `There is no ${url.pathname}.`, { hint: 'Look.' })
  if (method === 'POST') return await post(state, { request, response, parts, body })
  const talk = findTalk(state, parts[1] ?? '')
  if (method === 'DELETE') {
    state.talks.delete(talk.id)
    for (const listener of talk.listeners) listener(null)
    response.writeHead(204).end()
    return
  }
  if (parts[2] === 'events') return readEvents(state, talk, { request, response, url })
  json(response, conversation(talk))
}

interface Post {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly parts: readonly string[]
  readonly body: Record<string, unknown>
}

/** Keeps the reply under its key, and plays the next fault. */
async function post(state: State, { request, response, parts, body }: Post): Promise<void> {
  const key = String(request.headers['idempotency-key'])
  const earlier = state.replies.get(key)
  if (earlier && !earlier.done) throw new WitanError('IN_PROGRESS', 'The first request is under way.')
  if (earlier) {
    json(response, JSON.parse(earlier.text))
    return
  }
  const fault = parts[2] === 'runs' ? (state.faults.post.shift() ?? null) : null
  if (fault === 'request') {
    response.destroy()
    return
  }
  if (fault === 'stop') {
    const talk = findTalk(state, parts[1] ?? '')
    void postRun(state, { talk, body, streamed: false, write: () => {} })
    response.writeHead(202, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ runId: talk.runs.at(-1)?.runId }))
    return
  }
  const streamed = request.headers.accept === 'text/event-stream'
  const reply = { text: '', done: false }
  const type = streamed ? 'text/event-stream' : 'application/json'
  state.replies.set(key, reply)
  let frames = 0
  const write = (frame: string) => {
    // A stream's replay is its result alone.
    if (!streamed) reply.text = frame
    else if (frame.startsWith('event: result')) reply.text = frame.split('data: ')[1] ?? ''
    if (fault === 'reply' || response.destroyed) return response.destroy()
    if (!response.headersSent) response.writeHead(200, { 'content-type': type })
    frames += 1
    if (fault !== null && frames > fault) return cut(response)
    return response.write(frame)
  }
  try {
    if (parts[2] === 'runs') await postRun(state, { talk: findTalk(state, parts[1] ?? ''), body, streamed, write })
    else write(JSON.stringify(startTalk(state, body)))
  } catch (error) {
    state.replies.delete(key)
    throw error
  }
  reply.done = true
  if (fault === 'reply') response.destroy()
  else response.end()
}

function startTalk(state: State, body: Record<string, unknown>): unknown {
  const asked = String(body.id ?? 'chats/')
  const id = asked.endsWith('/') ? `${asked}${state.talks.size + 1}` : asked
  const talk = state.talks.get(id) ?? { id, agent: String(body.agent), events: [], runs: [], listeners: new Set() }
  if (talk.agent !== body.agent) throw new WitanError('CONVERSATION_AGENT_MISMATCH', `It belongs to ${talk.agent}.`)
  state.talks.set(id, talk)
  return { id, agent: talk.agent, run: null }
}

interface RunPost {
  readonly talk: Talk
  readonly body: Record<string, unknown>
  readonly streamed: boolean
  readonly write: (frame: string) => void
}

async function postRun(state: State, { talk, body, streamed, write }: RunPost): Promise<void> {
  const listener = (event: AnyEvent | null) => event && streamed && write(frameOf(event))
  talk.listeners.add(listener)
  const responses = (body.actionResponses ?? []) as { id: string; response: unknown }[]
  const run = responses.length > 0 ? answerAll(talk, responses) : startRun(state.script, talk, body.prompt as Prompt)
  await resting(talk, run)
  talk.listeners.delete(listener)
  write(streamed ? `event: result\ndata: ${JSON.stringify(run.result)}\n\n` : JSON.stringify(run.result))
}

function readEvents(
  state: State,
  talk: Talk,
  at: { request: IncomingMessage; response: ServerResponse; url: URL },
): void {
  const { request, response, url } = at
  const from = Number(request.headers['last-event-id'] ?? url.searchParams.get('from') ?? 0)
  const stored = talk.events.filter((event) => (event.seq ?? 0) > from)
  if (request.headers.accept !== 'text/event-stream') {
    json(response, { events: stored, lastSeq: talk.events.length, more: false })
    return
  }
  const fault = state.faults.events.shift() ?? null
  if (fault === 'mute') return
  if (fault === 'proxy') {
    response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>')
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write(': ping\n\n')
  let frames = 0
  const listener = (event: AnyEvent | null) => {
    if (event === null) {
      if (!state.talks.has(talk.id)) response.end()
      return
    }
    frames += 1
    if (typeof fault === 'number' && frames > fault) cut(response)
    else response.write(frameOf(event))
  }
  for (const event of fault === 'overlap' ? talk.events : stored) listener(event)
  talk.listeners.add(listener)
  response.on('close', () => talk.listeners.delete(listener))
}

/** What was written still arrives; the end of the reply does not. */
function cut(response: ServerResponse): void {
  response.socket?.destroySoon()
}

function frameOf(event: AnyEvent): string {
  const id = event.seq === undefined ? '' : `id: ${event.seq}\n`
  return `${id}event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
}

function findTalk(state: State, id: string): Talk {
  const talk = state.talks.get(id)
  if (!talk) throw new WitanError('NOT_FOUND', `There is no conversation "${id}".`, { hint: 'List them.' })
  return talk
}

function findRun(state: State, runId: string): Run {
  const run = [...state.talks.values()].flatMap((talk) => talk.runs).find((one) => one.runId === runId)
  if (!run) throw new WitanError('NOT_FOUND', `There is no run "${runId}".`)
  return run
}

function runState(run: Run): unknown {
  const status = run.result?.status ?? 'running'
  return {
    runId: run.runId,
    conversationId: run.conversationId,
    status,
    startedAt: '',
    endedAt: null,
    result: run.result,
  }
}

function conversation(talk: Talk): unknown {
  const runs = talk.runs.map(({ runId, result }) => ({
    runId,
    status: result?.status ?? 'running',
    hidden: false,
    startedAt: runId,
  }))
  const active = runs.find(({ status }) => status === 'running' || status === 'waiting')
  const interruptions = talk.runs.flatMap((run) => run.interruptions).filter((one) => one.state === 'open')
  return {
    id: talk.id,
    agent: talk.agent,
    lastSeq: talk.events.length,
    activeRunId: active?.runId ?? null,
    interruptions,
    runs,
    runCount: runs.length,
    tasks: [],
  }
}

function json(response: ServerResponse, body: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

function refuse(response: ServerResponse, error: WitanError): void {
  const status: Record<string, number> = { NOT_FOUND: 404, ACTION_NOT_FOUND: 404 }
  const headers = { 'content-type': 'application/problem+json', 'retry-after': '1' }
  const body = { ...problem(error.code, error.message, { hint: error.hint, path: error.path }), requestId: 'req_1' }
  response.writeHead(status[error.code] ?? 409, headers).end(JSON.stringify(body))
}
