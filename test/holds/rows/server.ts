/** What clients send to a server, and what collectors answer to one. */
import { createRuntime } from '@witan/core'
import { loadConfig, startServer } from '@witan/server'
import type { Play, Row } from '../support/row.ts'
import { saying, type Script as Says } from '../support/said.ts'

const done: Says = () => ({ text: 'Done.' })

/** A server in memory without a login, closed after the play. */
export async function serve(play: Play, says: Says = done): Promise<string> {
  const config = await loadConfig({ cwd: '/', env: { WITAN_LOG_LEVEL: 'silent', WITAN_STORE_URL: 'memory:' } })
  const agents = [{ id: 'root', model: 'play/root', instructions: 'You do it.' }]
  const models = { 'play/root': saying('play/root', says) }
  const bare = { ...config, auth: { mode: 'none' }, models, agents, server: { ...config.server, port: 0 } } as const
  const server = await startServer(bare)
  play.after(() => server.close())
  return server.url
}

const megabyte = 1_000_000

const keys = (count: number) => Array.from({ length: count }, (_, at) => `"k${at}":0`).join()

/** Bodies that the server must refuse or take, by what they are: with the status of its answer. */
const bodies: Readonly<Record<string, readonly [status: number, body: string]>> = {
  'a body of 1 MB of brackets': [400, '['.repeat(megabyte)],
  'a body of 1 MB of empty lists': [413, `[${'[],'.repeat(megabyte / 3)}0]`],
  'a body of 1 MB of keys': [413, `{${keys(90_000)}}`],
  'a body of 9,900 keys': [422, `{${keys(9_900)}}`],
  'a body of 9,900 keys within one': [422, `{"agent":{${keys(9_900)}}}`],
  'a body of 99,000 objects': [422, `[${'{},'.repeat(99_000)}0]`],
  'a body of 1 MB of quotes': [400, '"\\"'.repeat(megabyte / 3)],
  'a body of 1 MB of infinite numbers': [413, `[${'1e400,'.repeat(megabyte / 6)}0]`],
  'a body of 99,000 infinite numbers': [422, `[${'1e400,'.repeat(99_000)}0]`],
  'a body of 1 MB of numbers with long exponents': [413, `[${'1e100,'.repeat(megabyte / 6)}1e400]`],
  'a body of 1 MB of numbers of 301 digits': [422, `[${`1${'0'.repeat(299)}1,`.repeat(megabyte / 302)}0]`],
  'a prompt of 1 MB of escapes': [201, JSON.stringify({ agent: 'root', prompt: `And${'\n'.repeat(480_000)}` })],
}

function posting(
  name: string,
  [status, body]: readonly [status: number, body: string],
  path = '/api/v1/conversations',
): Row {
  return {
    name: `a client sends ${name}`,
    setUp: async (play) => {
      const url = await serve(play)
      return () => play.outside.send({ url: `${url}${path}`, status, method: 'POST', body })
    },
  }
}

/** Collectors of traces by what they answer to everything. */
const collectors = [
  { name: '900,000 brackets', script: { piece: '[', times: 900_000 } },
  { name: '60,000 brackets', script: { piece: '[', times: 60_000 } },
  { name: '300,000 empty lists', script: { head: '{"experiment":[', piece: '[],', times: 300_000, tail: '0]}' } },
  { name: '60 MB of blanks', script: { piece: ' ', times: 60_000_000 } },
  {
    name: '65,000 bytes that are no message',
    script: { type: 'application/x-protobuf', piece: '\x08\x01', times: 32_000 },
  },
]

function tracing(name: string, script: object, kind: 'otlp' | 'mlflow'): Row {
  return {
    name: `a collector of ${kind} answers with ${name}`,
    setUp: async (play) => {
      const url = await play.outside.serve({ '*': script })
      const telemetry =
        kind === 'otlp' ? { otlp: { url: `${url}/v1/traces` } } : { mlflow: { url, runs: 'conversation' as const } }
      const runtime = createRuntime({
        models: { 'play/root': saying('play/root', done) },
        agents: [{ id: 'root', model: 'play/root', instructions: 'You do it.' }],
        report: () => undefined,
        telemetry,
      })
      await runtime.ready
      return async () => {
        for (let at = 0; at < 3; at += 1) await (await runtime.start({ agent: 'root', prompt: 'Go.' })).run?.result
        await runtime.close()
      }
    },
  }
}

/** Prompts of 0.9 MB of JSON each. */
const prompts: Readonly<Record<string, string>> = {
  'characters of one byte': 'A "line" of it.\n'.repeat(45_000),
  'characters of three bytes': '語'.repeat(300_000),
  'escapes of six': '\u0001'.repeat(150_000),
}

const conversations = '/api/v1/conversations'

/** Makes the empty conversation `chats/long`. */
function begin(play: Play, url: string): Promise<void> {
  const body = JSON.stringify({ agent: 'root', id: 'chats/long' })
  return play.outside.send({ url: `${url}${conversations}`, status: 201, method: 'POST', body })
}

/** A run of it, to its end. */
function ask(play: Play, url: string, prompt: string): Promise<void> {
  const body = JSON.stringify({ prompt, wait: true })
  return play.outside.send({ url: `${url}${conversations}/chats:long/runs`, status: 200, method: 'POST', body })
}

/** What clients read of a conversation. */
const readings: Readonly<Record<string, string>> = {
  'a page of the document': '/api/v1/documents/chats/long?limit=200&detail=full',
  'a page of the events': '/api/v1/conversations/chats:long/events?verbose=true&from=0',
  'an export': '/api/v1/conversations/chats:long/export',
}

function reading(what: string, path: string): readonly Row[] {
  return Object.entries(prompts).map(([of, prompt]) => ({
    name: `4 × a client reads ${what} of long prompts with ${of}`,
    setUp: async (play) => {
      const url = await serve(play)
      await begin(play, url)
      for (let at = 0; at < 6; at += 1) await ask(play, url, prompt)
      return () =>
        play.outside.send({ url: `${url}${path}`, status: 200, headers: { accept: 'application/json' }, times: 4 })
    },
  }))
}

/** Rows of servers. */
export const servers: readonly Row[] = [
  ...Object.entries(bodies).map(([name, asked]) => posting(name, asked)),
  {
    name: '500 readers of 200 kB',
    setUp: async (play) => {
      const last = 'and no more.'
      const url = await serve(play, () => ({ text: `${'a b '.repeat(50_000)}${last}` }))
      await begin(play, url)
      await ask(play, url, 'Go.')
      const path = `${conversations}/chats:long/events?from=0`
      const headers = { accept: 'text/event-stream' }
      return () => play.outside.send({ url: `${url}${path}`, status: 200, headers, times: 500, until: last })
    },
  },
  ...Object.entries(readings).flatMap(([what, path]) => reading(what, path)),
  ...collectors.flatMap(({ name, script }) => [tracing(name, script, 'otlp'), tracing(name, script, 'mlflow')]),
]
