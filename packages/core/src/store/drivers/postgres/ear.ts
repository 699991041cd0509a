/** The connection that listens: made again when it is lost, ever more slowly, and asked now and then whether it lives. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client, ClientConfig } from 'pg'

/** Where to listen, and how to connect. */
export interface Listening {
  readonly channel: string
  readonly connect: () => Promise<Client>
}

const pingMs = 15_000
const pauseMs = { first: 50, last: 5_000 } as const

/** Calls `hear` with every text of the channel until the returned function is called; while the connection is away nothing is heard. */
export function listenOn(at: Listening, hear: (payload: string) => void): () => void {
  const state = { isClosed: false, client: null as Client | null }
  const keep = async () => {
    for (let pause: number = pauseMs.first; !state.isClosed; pause = Math.min(pause * 2, pauseMs.last)) {
      const since = await listenOnce(at, state, hear).catch(() => false)
      if (since) pause = pauseMs.first
      if (!state.isClosed) await sleep(pause, undefined, { ref: false })
    }
  }
  keep().catch(() => {}) // it only ends when it is closed
  return () => {
    state.isClosed = true
    state.client?.end().catch(() => {})
  }
}

/** Until the connection is lost; true where there was one. */
async function listenOnce(
  { channel, connect }: Listening,
  state: { isClosed: boolean; client: Client | null },
  hear: (payload: string) => void,
): Promise<boolean> {
  const client = await connect()
  state.client = client
  const lost = new Promise<void>((resolve) => {
    client.on('error', () => resolve())
    client.on('end', () => resolve())
  })
  client.on('notification', ({ payload }) => hear(payload ?? ''))
  const ping = setInterval(() => {
    client.query('select 1').catch(() => {}) // its time-out ends a connection that only seems to live
  }, pingMs)
  ping.unref()
  try {
    if (state.isClosed) return true
    await client.query(`listen "${channel}"`)
    ;(client as Client & { unref(): void }).unref()
    await lost
    return true
  } finally {
    clearInterval(ping)
    state.client = null
    client.end().catch(() => {})
  }
}

/** How a connection to listen on differs from the others. */
export function listeningConfig(config: ClientConfig): ClientConfig {
  return { ...config, application_name: 'witan listener', query_timeout: 10_000 }
}
