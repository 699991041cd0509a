/** Every way out of a running server, on each store: what HTTP, streams, command line, log, notices, tables and files give away. */
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { runCommandLine } from '@witan/cli'
import { apiRoutes, loadConfig, startServer } from '@witan/server'
import { usageDimensions } from '@witan/protocol/schemas'
import { canary, scannerOf } from '../support/canary.ts'
import { child } from '../support/desk.config.ts'
import type { Ledger } from '../support/ledger.ts'
import { inMemory, inPostgres, inSqlite, type Place } from '../support/places.ts'
import { fillShelf, shelf } from '../support/shelf.ts'
import { textOf } from '../support/texts.ts'

const file = fileURLToPath(new URL('../support/desk.config.ts', import.meta.url))
const conversation = (store: string): string => `chats/${canary(`in${store}`)}`

/** What came out where. `place` is a sink, and `says` what of it is allowed there. */
interface Found {
  readonly sink: string
  readonly text: string
}

/** Where the values themselves may stand: for whoever may answer, for whoever works with them, and where they are kept. */
const mayHold = {
  'export of the store': 'always',
  'table conversations.parameters': 'always',
  'table interruptions.bound': 'always',
  'table replies.body': 'always',
  'route getConversation': 'while it asks',
  'route getRun': 'while it asks',
  'route listInterruptions': 'while it asks',
  'reply to a start': 'while it asks',
  'reply to a repeat': 'while it asks',
  'witan interruptions list': 'while it asks',
} as const satisfies Record<string, 'always' | 'while it asks'>

/** Sinks that speak of neither conversation nor child: what shows instead that something was read. */
const provedBy: Readonly<Record<string, RegExp>> = {
  'trial of a tool': /"status":"failed".*no such user/,
  'route listRuns': /"runId"/,
  'route listAgentRevisions': /"revision":1/,
  'route listProtocolRevisions': /"revision":1/,
  'route getProtocolRevision': /"name":"stock"/,
  'route listKnowledgeRevisions': /"revision":1/,
  'route getIngest': /"(added|unchanged)":1/,
  'route getPrincipal': /"user:local"/,
  'route listMcpServers': /"desk-tools"/,
  metrics: /gen_ai_request_model="scripted\/desk"/,
  notices: /\S{40}/,
}

const hidden = ['byAuthor', 'byCaller', 'asSecret'] as const

/** Plays the desk on every store. */
export async function playExits(ledger: Ledger): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'witan-exits-'))
  try {
    for (const open of [inMemory, () => inSqlite(join(folder, 'desk.db')), inPostgres]) {
      const place = await open()
      try {
        await playDesk(place, ledger)
      } finally {
        await place.close()
      }
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function playDesk(place: Place, ledger: Ledger): Promise<void> {
  const told: Found[] = []
  const errors = keepErrors()
  try {
    const environment = { WITAN_STORE_URL: place.url, WITAN_LOG_LEVEL: 'debug' }
    const at = { file, cwd: '/', env: environment }
    let server = await startServer(await loadConfig(at))
    const values = Object.fromEntries([...hidden, 'open'].map((name) => [name, canary(`${place.name}${name}`)]))
    const asked = await ask({ url: server.url, place, values })
    judge([...asked, ...(await readAll(server.url, place, environment))], { place, phase: 'while it asks' }, ledger)
    if (place.name !== 'memory') {
      await server.close()
      judge(await columnsOf(place), { place, phase: 'while it asks' }, ledger)
      server = await startServer(await loadConfig(at))
    }
    const answered = await answer(server.url, place)
    judge([...answered, ...(await readAll(server.url, place, environment))], { place, phase: 'at the end' }, ledger)
    await server.close()
    told.push(...(await columnsOf(place)))
    if (place.name !== 'memory') {
      told.push({ sink: 'export of the store', text: await witan(['export'], environment) })
    }
  } finally {
    errors.give()
  }
  const notices = place.notices()
  if (notices !== null) told.push({ sink: 'notices', text: notices })
  told.push({ sink: 'standard error', text: errors.text() })
  judge(told, { place, phase: 'at the end' }, ledger)
}

/** Nothing that a value is in may tell it, and everything that is read must be able to tell: each speaks of the conversation or of the child. */
function judge(
  found: readonly Found[],
  { place, phase }: { readonly place: Place; readonly phase: 'while it asks' | 'at the end' },
  ledger: Ledger,
): void {
  const marks = scannerOf(['child', 'worker', `in${place.name}`, `${place.name}open`])
  for (const { sink, text } of found) {
    ledger.begin(`${sink} on ${place.name}, ${phase}`)
    ledger.control(sink, provedBy[sink]?.test(text) ?? marks(text).size > 0)
    const rule: string = (mayHold as Readonly<Record<string, string>>)[sink] ?? 'never'
    for (const name of hidden) {
      const seen = scannerOf([`${place.name}${name}`])(text)
      if (rule === 'always' || rule === phase) ledger.control(`${sink}, ${name}`, seen.size > 0)
      else ledger.deny('leak', sink, seen)
    }
  }
}

/** A file that comes with the message. */
const note = Buffer.from(`A note about ${child}.`)
const noteDigest = `sha256:${createHash('sha256').update(note).digest('hex')}`

interface Asking {
  readonly url: string
  readonly place: Place
  readonly values: Readonly<Record<string, string | undefined>>
}

/** Starts the conversation, repeats that under its key, and is refused once. */
async function ask({ url, place, values }: Asking): Promise<readonly Found[]> {
  await fillShelf(url, child)
  const { byCaller, ...rest } = values
  const body = {
    agent: 'root',
    id: conversation(place.name),
    prompt: [
      { type: 'text', text: 'go' },
      { type: 'file', mediaType: 'text/plain', name: 'note.txt', data: note.toString('base64') },
    ],
    parameters: { ...rest, byCaller: { value: byCaller, sendToModel: false } },
  }
  const start = () => post(`${url}/api/v1/conversations`, body, { 'idempotency-key': 'start' })
  const first = await start()
  const repeat = await start()
  // A name may be told back, a value never.
  const parameters = { ...body.parameters, [child]: values }
  const refused = await post(`${url}/api/v1/conversations`, { ...body, parameters })
  const given = body.parameters
  const agent = `${url}/api/v1/agents/${child}`
  return [
    { sink: 'preview', text: await post(`${agent}/preview`, { parameters: given }) },
    { sink: 'trial of a tool', text: await post(`${agent}/tools/break/try`, { parameters: given }) },
    { sink: 'reply to a start', text: first },
    { sink: 'reply to a repeat', text: repeat },
    { sink: 'problem', text: refused },
  ]
}

/** Answers what it asks, over a stream, and repeats that too. */
async function answer(url: string, { name }: Place): Promise<readonly Found[]> {
  const { items } = (await (await fetch(`${url}/api/v1/interruptions`)).json()) as { items: { id: string }[] }
  const body = { actionResponses: items.map(({ id }) => ({ id, response: 'ok' })), verbose: true }
  const run = (accept: string) => post(`${url}${pathOf(name)}/runs`, body, { 'idempotency-key': 'answer', accept })
  const stream = await run('text/event-stream')
  const repeat = await run('application/json')
  return [
    { sink: 'stream of a run', text: stream },
    { sink: 'reply to an answer', text: repeat },
  ]
}

const asJson = { headers: { accept: 'application/json' } }
const pathOf = (name: string): string => `/api/v1/conversations/${conversation(name).replace('/', ':')}`

async function post(url: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<string> {
  const sent = { 'content-type': 'application/json', ...headers }
  const response = await fetch(url, { method: 'POST', body: JSON.stringify(body), headers: sent })
  return `${textOf(Object.fromEntries(response.headers))}\n${await response.text()}`
}

/** Every route that can be read, whatever it is, the streams, and what the command line prints of them. */
async function readAll(
  url: string,
  { name }: Place,
  environment: Readonly<Record<string, string>>,
): Promise<readonly Found[]> {
  const id = conversation(name)
  const [tasks, runs] = await Promise.all([list(`${url}/api/v1/tasks`, 'taskId'), runsOf(url, name)])
  const artifacts = await list(`${url}${pathOf(name)}/artifacts`, 'id')
  const [ingest, blocks] = [await fillShelf(url, child), await list(`${url}/api/v1/memory`, 'id')]
  const [modelCall = ''] = await list(`${url}${pathOf(name)}/model-calls`, 'id')
  const segments: Readonly<Record<string, readonly string[]>> = {
    conversations: [id.replace('/', ':')],
    documents: [id, `${id}/${child}`],
    runs,
    tasks,
    artifacts,
    agents: ['root', child],
    protocols: ['stock'],
    knowledge: [shelf.id],
    memory: blocks,
  }
  const found: Found[] = []
  for (const route of apiRoutes) {
    if (route.method !== 'GET') continue
    const ids = segments[route.path.split('/')[3] ?? ''] ?? []
    const paths = route.path.includes('{')
      ? ids.map(
          (one) =>
            `${withIds(route.path, one, { modelCall, ingest })}${route.path.endsWith('/readers') ? '?seq=1' : ''}`,
        )
      : route.path.endsWith('/usage')
        ? usageDimensions.map((by) => `${route.path}?by=${by}`)
        : [route.path.endsWith('/memory/conversations') ? `${route.path}?subject=user:local` : route.path]
    const read = paths.map(async (path) => (await fetch(url + path, asJson)).text())
    const sink = `route ${route.name}`
    // What two agents are asked for is one place: only one of them has the child.
    const text = (await Promise.all(read)).join('\n')
    if (!isEmptyList(text)) found.push({ sink, text })
  }
  found.push({ sink: 'metrics', text: await (await fetch(`${url}/metrics`)).text() })
  for (const verbose of [true, false])
    found.push({
      sink: `stream, verbose ${verbose}`,
      text: await streamOf(`${url}${pathOf(name)}/events?verbose=${verbose}`),
    })
  const commands = [
    ['check'],
    ['agents', 'list'],
    ['agents', 'show', child],
    ['agents', 'export'],
    ['protocols', 'list'],
    ['protocols', 'show', 'stock'],
    ['knowledge', 'list'],
    ['knowledge', 'show', shelf.id],
    ['memory', 'list'],
    ['memory', 'show', ...blocks.slice(0, 1), '--revisions'],
    ['conversations', 'list'],
    ['conversations', 'show', id],
    ['conversations', 'diagram', id, '--run', runs[0] ?? ''],
    ['conversations', 'export', id],
    ['conversations', 'prompts', id],
    ['conversations', 'prompts', id, modelCall],
    ['usage', '--by', 'conversation'],
    ['interruptions', 'list'],
    ...tasks.map((task) => ['tasks', 'show', task]),
  ]
  for (const words of commands) {
    const text = await witan([...words, '--url', url], environment)
    if (words[0] === 'interruptions' && !text.includes('Ask')) continue
    found.push({ sink: `witan ${words.slice(0, 2).join(' ')}`, text })
  }
  return found
}

function withIds(path: string, id: string, { modelCall, ingest }: Readonly<Record<'modelCall' | 'ingest', string>>) {
  return path
    .replace(/\{[^}]+\}/, id)
    .replace('{digest}', noteDigest)
    .replace('{callNumber}', modelCall)
    .replace('{key}', shelf.key)
    .replace('{ingestId}', ingest)
    .replace('{n}', '1')
}

/** Nothing waits any more: there is nothing that could tell. */
const isEmptyList = (text: string): boolean => text === '{"items":[],"nextCursor":null}'

async function witan(words: readonly string[], environment: Readonly<Record<string, string>>): Promise<string> {
  let text = ''
  const write = (more: string): void => {
    text += more
  }
  const terminal = { input: Readable.from(['']), output: { write }, errors: { write }, environment, folder: '/' }
  await runCommandLine([...words, '--config', file], terminal)
  return text
}

async function list(url: string, key: string): Promise<readonly string[]> {
  const { items } = (await (await fetch(url)).json()) as { items: Record<string, string>[] }
  return items.map((item) => String(item[key]))
}

async function runsOf(url: string, name: string): Promise<readonly string[]> {
  const { runs } = (await (await fetch(url + pathOf(name))).json()) as { runs: { runId: string }[] }
  return runs.map(({ runId }) => runId)
}

/** The bytes of a stream until it has told what is stored and then nothing for a while. On a busy machine its first event comes late. */
async function streamOf(url: string): Promise<string> {
  const stop = new AbortController()
  const response = await fetch(url, { headers: { accept: 'text/event-stream' }, signal: stop.signal })
  let text = ''
  let timer: NodeJS.Timeout | undefined
  try {
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk).toString()
      clearTimeout(timer)
      if (text.includes('data:')) timer = setTimeout(() => stop.abort(), 150)
    }
  } catch (error) {
    if (!stop.signal.aborted) throw error
  }
  clearTimeout(timer)
  return text
}

async function columnsOf(place: Place): Promise<readonly Found[]> {
  const columns = (await place.columns()) ?? new Map<string, string>()
  // Only a column that holds texts of this conversation or of the child can tell anything of them.
  const marks = scannerOf(['child', 'worker', `in${place.name}`, ...hidden.map((name) => `${place.name}${name}`)])
  return [...columns].flatMap(([name, text]) => (marks(text).size > 0 ? [{ sink: `table ${name}`, text }] : []))
}

function keepErrors() {
  const { write } = process.stderr
  let text = ''
  process.stderr.write = (chunk: string | Uint8Array) => {
    text += String(chunk)
    return true
  }
  return {
    text: () => text,
    give: () => {
      process.stderr.write = write
    },
  }
}
