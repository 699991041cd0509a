/** A client as careful as a good one is: it repeats what got no reply under the same key, reads on after the last event, and keeps its history. */
import { setTimeout as delay } from 'node:timers/promises'
import type { AgentInput, Conversation, AnyEvent, EventPage, Interruption } from '@witan/protocol'
import { createParser } from 'eventsource-parser'
import type { Acknowledged, Connection, History } from './history.ts'
import { patienceMs } from './patience.ts'
import { hiddenValue } from './world.ts'

/** A reply to a request; `code` is that of a problem. */
interface Reply {
  readonly status: number
  readonly code: string | null
  readonly body: unknown
}

/** One client of however many servers. */
export interface Client {
  readonly history: History
  /** What a server answers to a GET, as text; its status goes before it. */
  read(path: string): Promise<string>
  /** Saves agents. */
  saveAgents(agents: readonly AgentInput[]): Promise<void>
  /** Makes a conversation; a repeat finds it there. */
  open(id: string): Promise<void>
  /** Says something and has it acknowledged; gives the run. */
  say(id: string, text: string): Promise<string>
  answer(id: string, interruption: string, value: unknown): Promise<Reply>
  /** With its tasks, if told so. */
  cancel(id: string, run: string, tasks?: boolean): Promise<Reply>
  /** Says something and reads the run's own stream, which it cuts after so many events; gives how many it read. */
  sayAndRead(id: string, text: string, cut: StreamCut): Promise<number>
  look(id: string): Promise<Conversation>
  /** Looks until the conversation rests: idle, or waiting for somebody. */
  untilRest(id: string): Promise<Conversation>
  events(id: string): Promise<readonly AnyEvent[]>
  /** Reads along, over lost connections too, until it is told to stop; it cuts its own connections after so many events. */
  follow(id: string, cut?: Cut): () => Promise<void>
}

/** After how many events a connection is cut, how often, and whether the reader then stays away. */
interface Cut {
  readonly cutAfter?: number
  readonly times?: number
  readonly once?: boolean
  /** It has read up to here. */
  readonly from?: number
  /** Told of each event as it comes. */
  readonly onEvent?: (event: AnyEvent) => void
}

/** How the stream of a run is cut, and what the server then does with the run. */
interface StreamCut {
  readonly cutAfter: number
  readonly onDisconnect: 'continue' | 'cancel'
}

/** Where to go now; empty while there is no server. */
type Address = () => string

const replyWithinMs = 10_000
/** Between two tries: short at first, so that nothing waits for the client, then longer: asking costs a small machine what the servers need. */
const pauses = { firstMs: 8, growth: 1.3, longestMs: 120 }
/** How long `IN_PROGRESS` is believed after the death of a server, which can have taken the key with it: what it had sent is there or is not. */
const believedMs = 1_000

/** Whose a client is, and when a server last died. */
interface ClientTerms {
  readonly database?: string
  /** By this machine's clock; 0 while all of them live: then what is in progress is, however long it takes. */
  readonly lastDeathAt?: () => number
}

/** Makes a client of a database. What takes longer than its patience has gone wrong. */
export function createClient(
  address: Address,
  history: History,
  { database, lastDeathAt = () => 0 }: ClientTerms = {},
): Client {
  const whose = database === undefined ? {} : { authorization: `Bearer ${database}` }
  const door = new Door(address, { whose, lastDeathAt })
  const client: Client = {
    history,
    async read(path) {
      const { status, body } = await door.persist('GET', path, {})
      return `${status} ${JSON.stringify(body)}`
    },
    async saveAgents(agents) {
      const { status } = await door.insist('/api/v1/agents/batch', { agents })
      if (status > 201) throw new Error(`the agents were not saved: ${status}`)
    },
    async open(id) {
      const parameters = { userId: { value: hiddenValue, sendToModel: false } }
      const { status } = await door.insist('/api/v1/conversations', { agent: 'root', id, parameters })
      if (status > 201) throw new Error(`${id} was not made: ${status}`)
    },
    say: (id, text) => say(client, door, { id, text }),
    sayAndRead: (id, text, cut) => sayAndRead({ address, history, whose }, { id, text }, cut),
    async answer(id, interruption, value) {
      const path = `/api/v1/interruptions/${interruption}/answer`
      const done = { kind: 'answer', conversation: id, subject: interruption, value: JSON.stringify(value) } as const
      return record(history, done, await door.insist(path, { answer: value }))
    },
    async cancel(id, run, tasks = false) {
      const done = { kind: 'cancel', conversation: id, subject: run, value: run } as const
      return record(history, done, await door.insist(`/api/v1/runs/${run}/cancel`, { tasks }))
    },
    look: async (id) => (await door.persist('GET', pathOf(id), {})).body as Conversation,
    async untilRest(id) {
      const until = Date.now() + patienceMs
      for (const pause = pausing(); ; await pause()) {
        const found = await client.look(id)
        if (found.status === 'idle' || (found.status === 'waiting' && found.interruptions.length > 0)) return found
        if (Date.now() > until) throw new Error(`I9: ${id} does not come to rest; it is ${found.status}`)
      }
    },
    async events(id) {
      const events: AnyEvent[] = []
      for (;;) {
        const path = `${pathOf(id)}/events?verbose=true&limit=200&from=${events.length}`
        const page = (await door.persist('GET', path, {})).body as EventPage
        events.push(...page.events)
        if (!page.more) return events
      }
    },
    follow: (id, cut = {}) => follow({ address, history, whose }, id, cut),
  }
  return client
}

function pausing(): () => Promise<void> {
  let ms = pauses.firstMs
  return async () => {
    await delay(ms)
    ms = Math.min(pauses.longestMs, ms * pauses.growth)
  }
}

const pathOf = (id: string): string => `/api/v1/conversations/${encodeURIComponent(id)}`

/** Keeps what was acknowledged, and what lost against another answer. */
function record(history: History, done: Acknowledged, reply: Reply): Reply {
  history.intended += 1
  if (reply.status < 300) history.acknowledged.push(done)
  else if (reply.status === 409) history.conflicts.push(done)
  return reply
}

async function say(
  client: Client,
  door: Door,
  { id, text }: { readonly id: string; readonly text: string },
): Promise<string> {
  const { history } = client
  history.intended += 1
  const body = { prompt: text, wait: false }
  for (let tries = 0; tries < 5; tries += 1) {
    const reply = await door.persist('POST', `${pathOf(id)}/runs`, { body, mayBeLost: true })
    const done = { kind: 'message', conversation: id, subject: null, value: text } as const
    if (reply.status < 300) {
      history.acknowledged.push(done)
      return (reply.body as { readonly runId: string }).runId
    }
    // Nobody knows any more what became of it, but the log does.
    const stored = (await client.events(id)).find(({ type, content }) => type === 'message' && content['text'] === text)
    if (stored !== undefined) {
      history.acknowledged.push(done)
      return stored.rootCallId
    }
    if (reply.code !== 'IN_PROGRESS' && reply.status < 500)
      throw new Error(`${text} was refused: ${JSON.stringify(reply.body)}`)
  }
  throw new Error(`${text} was never accepted`)
}

interface Asking {
  readonly body?: unknown
  /** Whether the caller goes on where a dead server may have taken the key with it. */
  readonly mayBeLost?: boolean
}

/** The headers that say whose requests they are. */
type Whose = Readonly<Record<string, string>>

/** Where a reader reads, and as whom. */
interface Desk {
  readonly address: Address
  readonly history: History
  readonly whose: Whose
}

/** Sends requests until they get a reply; a repeat has the key of the first. */
class Door {
  readonly #address: Address
  readonly #terms: Required<Omit<ClientTerms, 'database'>> & { readonly whose: Whose }

  constructor(address: Address, terms: Required<Omit<ClientTerms, 'database'>> & { readonly whose: Whose }) {
    this.#address = address
    this.#terms = terms
  }

  async persist(method: string, path: string, { body, mayBeLost = false }: Asking): Promise<Reply> {
    const key = crypto.randomUUID()
    const from = Date.now()
    for (const pause = pausing(); ; await pause()) {
      const reply = await this.#once(method, path, { body, key })
      const isAtWork = reply?.code === 'IN_PROGRESS' && !(mayBeLost && this.#isLost(from))
      if (reply !== null && reply.status !== 503 && !isAtWork) return reply
      if (Date.now() > from + patienceMs)
        throw new Error(`I9: ${method} ${path} got no reply; last ${JSON.stringify(reply)}`)
    }
  }

  /** For what may be said twice: a key that a dead server took with it is given up, and another is tried. */
  async insist(path: string, body: unknown): Promise<Reply> {
    for (;;) {
      const reply = await this.persist('POST', path, { body, mayBeLost: true })
      if (reply.code !== 'IN_PROGRESS') return reply
    }
  }

  /** Whether a server died since then, so long ago that nothing of it is on its way any more. */
  #isLost(from: number): boolean {
    const diedAt = this.#terms.lastDeathAt()
    return diedAt >= from && Date.now() > diedAt + believedMs
  }

  /** Null where no reply came. */
  async #once(
    method: string,
    path: string,
    { body, key }: { readonly body: unknown; readonly key: string },
  ): Promise<Reply | null> {
    const address = this.#address()
    if (address === '') return null
    const json = { 'content-type': 'application/json', accept: 'application/json' }
    const headers = { ...json, ...this.#terms.whose, 'idempotency-key': key }
    try {
      const text = body === undefined ? {} : { body: JSON.stringify(body) }
      const response = await fetch(address + path, {
        method,
        headers,
        ...text,
        signal: AbortSignal.timeout(replyWithinMs),
      })
      const told: unknown = JSON.parse(await response.text())
      const code = response.ok ? null : String((told as { readonly code?: unknown }).code)
      return { status: response.status, code, body: told }
    } catch {
      return null
    }
  }
}

/** Reads a conversation's events; each connection goes on after the last event of the one before. */
function follow(
  { address, history, whose }: Desk,
  id: string,
  {
    cutAfter = Number.POSITIVE_INFINITY,
    times: cuts = Number.POSITIVE_INFINITY,
    once = false,
    from: first = 0,
    onEvent,
  }: Cut,
): () => Promise<void> {
  const stop = new AbortController()
  const reading = (async () => {
    let from = first
    let pause = pausing()
    for (let times = 0; !stop.signal.aborted && !(once && times > 0); times += 1) {
      const connection: Connection = { conversation: id, from, whole: true, frames: [], deltas: [] }
      history.connections.push(connection)
      const most = times < cuts ? cutAfter : Number.POSITIVE_INFINITY
      await readOnce({ address: address(), whose, cutAfter: most, onEvent }, connection, stop.signal).catch(() => {})
      from = connection.frames.at(-1)?.id ?? from
      if (connection.frames.length > 0) pause = pausing()
      await pause()
    }
  })()
  return async () => {
    stop.abort()
    await reading
  }
}

async function readOnce(
  {
    address,
    whose,
    cutAfter,
    onEvent,
  }: { readonly address: string; readonly whose: Whose; readonly cutAfter: number; readonly onEvent: Cut['onEvent'] },
  connection: Connection,
  outer: AbortSignal,
): Promise<void> {
  const cut = new AbortController()
  const signal = AbortSignal.any([outer, cut.signal])
  if (address === '') return
  const url = `${address}${pathOf(connection.conversation)}/events?verbose=true`
  const headers = { ...whose, accept: 'text/event-stream', 'last-event-id': String(connection.from) }
  await take(await fetch(url, { headers, signal }), connection, { cutAfter, cut, onEvent })
}

/** Takes frames until there are enough of them. */
async function take(
  response: Response,
  connection: Connection,
  {
    cutAfter,
    cut,
    onEvent,
  }: { readonly cutAfter: number; readonly cut: AbortController; readonly onEvent?: Cut['onEvent'] },
): Promise<void> {
  if (!response.ok || response.body === null) return
  const parser = createParser({
    onEvent: ({ id, event: name, data }) => {
      if (name === 'result') return
      const event = JSON.parse(data) as AnyEvent
      if (id !== undefined) onEvent?.(event)
      if (id === undefined) connection.deltas.push(event)
      else if (connection.frames.length < cutAfter) connection.frames.push({ id: Number(id), event })
      if (connection.frames.length >= cutAfter) cut.abort()
    },
  })
  for await (const part of response.body.pipeThrough(new TextDecoderStream())) parser.feed(part)
}

async function sayAndRead(
  { address, history, whose }: Desk,
  { id, text }: { readonly id: string; readonly text: string },
  { cutAfter, onDisconnect }: StreamCut,
): Promise<number> {
  const cut = new AbortController()
  // A stream of one run leaves out what came before it.
  const connection: Connection = { conversation: id, from: 0, whole: false, frames: [], deltas: [] }
  history.intended += 1
  history.connections.push(connection)
  const response = await fetch(`${address()}${pathOf(id)}/runs`, {
    method: 'POST',
    headers: { ...whose, 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify({ prompt: text, onDisconnect, verbose: true }),
    signal: AbortSignal.any([cut.signal, AbortSignal.timeout(patienceMs)]),
  })
  if (response.ok) history.acknowledged.push({ kind: 'message', conversation: id, subject: null, value: text })
  await take(response, connection, { cutAfter, cut }).catch(() => {})
  return connection.frames.length
}

/** Answers whatever is open, as its kind wants. */
export async function answerAll(client: Client, id: string, open: readonly Interruption[]): Promise<void> {
  for (const one of open) await client.answer(id, one.id, answerTo(one))
}

/** A good answer. Whoever asks for another one, by `which`, gets another one where there are several. */
export function answerTo({ kind }: Pick<Interruption, 'kind'>, which = 0): unknown {
  if (kind === 'question') return { which: { options: [which % 2 === 0 ? 'a' : 'b'] } }
  if (kind === 'approval') return { decision: 'approved', ...(which === 0 ? {} : { reason: `for the ${which}. time` }) }
  return { ok: which === 0 ? true : which }
}
