/** The listening connection: reopened with growing pauses when it is lost, and checked regularly. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client, ClientConfig } from 'pg'

/** Options of the listener. */
interface ListenerSettings {
  readonly channel: string
  readonly connect: () => Promise<Client>
  /** Called when the connection listens. If it throws, the connection is closed and counts as failed. */
  connected(client: Client): Promise<void>
  /** A text that was sent on the channel. */
  received(payload: string): void
  /** A connection failed. It is tried again after a pause of up to five seconds. */
  failed(error: unknown): void
}

const pingMs = 15_000
const pauseMs = { first: 50, last: 5_000 } as const

interface State {
  isClosed: boolean
  client: Client | null
}

/** Listens until the returned function is called. */
export function startListener(settings: ListenerSettings): () => void {
  const state: State = { isClosed: false, client: null }
  const keep = async () => {
    for (let pause: number = pauseMs.first; !state.isClosed; pause = Math.min(pause * 2, pauseMs.last)) {
      try {
        await listenOnce(settings, state)
        pause = pauseMs.first
      } catch (error) {
        if (!state.isClosed) settings.failed(error)
      }
      if (!state.isClosed) await sleep(pause, undefined, { ref: false })
    }
  }
  keep().catch(() => {}) // ends only when closed
  return () => {
    state.isClosed = true
    state.client?.end().catch(() => {})
  }
}

/** Listens until the connection is lost. Throws if it could not connect. */
async function listenOnce({ channel, connect, connected, received }: ListenerSettings, state: State): Promise<void> {
  const client = await connect()
  state.client = client
  const lost = new Promise<void>((resolve) => {
    client.on('error', () => resolve())
    client.on('end', () => resolve())
  })
  client.on('notification', ({ payload }) => received(payload ?? ''))
  const ping = setInterval(() => {
    client.query('select 1').catch(() => {}) // its time-out ends a dead connection
  }, pingMs)
  ping.unref()
  try {
    if (state.isClosed) return
    await client.query(`listen "${channel}"`)
    await connected(client)
    ;(client as Client & { unref(): void }).unref()
    await lost
  } finally {
    clearInterval(ping)
    state.client = null
    client.end().catch(() => {})
  }
}

/** The configuration that only the listening connection has. */
export function listeningConfig(config: ClientConfig): ClientConfig {
  return { ...config, application_name: 'witan listener', query_timeout: 10_000 }
}
