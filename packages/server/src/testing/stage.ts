/** What the tests of the application share: a runtime in memory behind `app.fetch`, and a client of a few lines. */
import { createRuntime, defineTool, type Runtime } from '@witan/core'
import { call, lastUserMessage, type Rule, scriptedModel } from '@witan/core/testing'
import type { Problem } from '@witan/protocol'
import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { z } from 'zod'
import { createApp } from '../app.ts'
import type { App } from '../app-options.ts'
import { type Auth, createAuth, type OwnMode } from '../auth.ts'
import { createLog } from '../log.ts'

export const base = 'http://127.0.0.1:4747'

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The JSON of the answer, whatever it claims to be. */
  readonly body: Record<string, unknown> & Partial<Problem>
}

export interface Stage {
  readonly runtime: Runtime
  readonly app: App
  readonly token: string | null
  readonly log: string[]
  readonly streams: AbortController
  readonly waits: AbortController
  fetch(method: string, path: string, options?: CallOptions): Promise<Response>
  call(method: string, path: string, options?: CallOptions): Promise<Answer>
  close(): Promise<void>
}

export interface CallOptions {
  readonly body?: unknown
  readonly raw?: string | Uint8Array<ArrayBuffer>
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

/** A few turns of the event loop, as a real model takes. */
async function aWhile(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/** Says `echo: …`, a little later when told to take its time; asks for `ChangeName` when told to rename; never ends when told to hang. */
const rule: Rule = async (request, turn) => {
  const said = lastUserMessage(request)
  if (said.includes('hang')) return { text: 'so far', hang: true }
  if (said.includes('rename') && turn === 0) return call('ChangeName', { name: 'Anna' })
  if (said.includes('take your time')) await aWhile()
  return { deltas: ['echo: ', said], text: `echo: ${said}` }
}

/** One agent `clerk` with an action, its boss, and a conversation's worth of parameters. */
export const clerk = {
  id: 'clerk',
  model: 'play/model',
  instructions: 'You echo.',
  parameters: [{ name: 'userId', sendToModel: false }, { name: 'country' }],
  actions: [{ name: 'ChangeName', description: 'Renames.', parametersSample: { name: 'x' } }],
}
export const boss = { id: 'boss', model: 'play/model', instructions: 'You lead.', subAgents: [{ agent: 'clerk' }] }

/** A tool that agents may be given. */
const findEntry = defineTool({
  name: 'find_entry',
  description: 'Looks up.',
  parameters: z.object({}),
  effect: 'none',
  execute: () => 'found',
})

export async function createStage(
  mode: OwnMode | ((runtime: Runtime) => Auth) = 'none',
  origins: readonly string[] = [],
): Promise<Stage> {
  const model = scriptedModel(rule, { id: 'play/model' })
  const runtime = createRuntime({
    models: { 'play/model': model },
    tools: [findEntry],
    agents: [boss, clerk],
    report: () => undefined,
  })
  await runtime.ready
  const [streams, waits] = [new AbortController(), new AbortController()]
  const log: string[] = []
  const auth = typeof mode === 'function' ? mode(runtime) : createAuth(mode, () => 4747)
  const app = createApp({
    runtime,
    auth,
    hosts: { port: () => 4747, allowed: ['proxy.example.com'], origins },
    log: createLog('warn', (line) => log.push(line)),
    stop: { streams: streams.signal, waits: waits.signal },
    studio: new URL('./nothing-built/', import.meta.url),
  })
  const fetch = async (method: string, path: string, options: CallOptions = {}): Promise<Response> =>
    app.fetch(toRequest(method, path, options))
  return {
    ...{ runtime, app, log, streams, waits, fetch, token: auth.token },
    call: async (method, path, options) => read(await fetch(method, path, options)),
    async close() {
      streams.abort()
      waits.abort()
      await runtime.close()
    },
  }
}

function toRequest(method: string, path: string, options: CallOptions): Request {
  const body = options.raw ?? (options.body === undefined ? undefined : JSON.stringify(options.body))
  const type: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' }
  const headers = { ...type, ...options.headers }
  const signal = options.signal === undefined ? {} : { signal: options.signal }
  return new Request(base + path, { method, headers, ...signal, ...(body === undefined ? {} : { body }) })
}

async function read(response: Response): Promise<Answer> {
  const text = await response.text()
  const json = /json/.test(response.headers.get('content-type') ?? '')
  return { status: response.status, headers: response.headers, text, body: json && text !== '' ? JSON.parse(text) : {} }
}

/** Reads server-sent events until the stream ends or `enough` returns true, then stops. May include later events of that chunk. */
export async function readFrames(
  response: Response,
  enough: (frame: EventSourceMessage) => boolean = () => false,
): Promise<EventSourceMessage[]> {
  const frames: EventSourceMessage[] = []
  const parser = createParser({ onEvent: (frame) => frames.push(frame) })
  const decoder = new TextDecoder()
  for await (const bytes of response.body ?? []) {
    const before = frames.length
    parser.feed(decoder.decode(bytes, { stream: true }))
    if (frames.slice(before).some(enough)) break
  }
  return frames
}
