/** A reader who takes nothing from a stream, or next to nothing, until it is told to read on. */
import { get, type IncomingMessage } from 'node:http'
import { createParser } from 'eventsource-parser'
import type { AnyEvent } from '@witan/protocol'
import type { Connection, History } from './history.ts'

/** One that sits on a stream. */
export interface Sitter {
  readonly connection: Connection
  /** What the server calls its request. */
  readonly requestId: string
  /** Reads all there is, to the end of the stream or for so long. */
  readOn(withinMs: number): Promise<LastRead>
}

/** How the reading of a stream ended. */
interface LastRead {
  readonly comments: readonly string[]
  /** How long nothing had come when the connection was cut off, in ms; null where the stream ended in order. */
  readonly silentMs: number | null
}

/** What a slow one takes each second. */
const slowBytes = 1_000

/** Opens a conversation's stream and takes nothing from it, or with `slow` a kilobyte a second. */
export async function sit(
  history: History,
  { address, id, slow }: { readonly address: string; readonly id: string; readonly slow: boolean },
): Promise<Sitter> {
  const connection: Connection = { conversation: id, from: 0, whole: true, frames: [], deltas: [] }
  history.connections.push(connection)
  const url = `${address}/api/v1/conversations/${encodeURIComponent(id)}/events?verbose=true`
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(url, { agent: false, headers: { accept: 'text/event-stream' } }, resolve).on('error', reject)
  })
  response.on('error', () => {})
  response.pause()
  const taken: Buffer[] = []
  const take = (): void => {
    const part = slow ? (response.read(slowBytes) as Buffer | null) : null
    if (part !== null) taken.push(part)
  }
  if (slow) response.on('readable', () => {})
  const timer = setInterval(take, 1_000)
  return {
    connection,
    requestId: String(response.headers['x-request-id']),
    async readOn(withinMs) {
      clearInterval(timer)
      response.setTimeout(withinMs, () => response.destroy())
      let [heardAt, silentMs] = [performance.now(), null as number | null]
      try {
        for await (const part of response) {
          taken.push(part as Buffer)
          heardAt = performance.now()
        }
      } catch {
        silentMs = performance.now() - heardAt
      }
      // The last word is kept for it for some seconds: nothing is looked at before all of it is here.
      const comments: string[] = []
      const parser = createParser({
        onComment: (comment) => comments.push(comment.trim()),
        onEvent: ({ id: seq, data }) => {
          const event = JSON.parse(data) as AnyEvent
          if (seq === undefined) connection.deltas.push(event)
          else connection.frames.push({ id: Number(seq), event })
        },
      })
      const decoder = new TextDecoder()
      for (const part of taken) parser.feed(decoder.decode(part, { stream: true }))
      return { comments, silentMs }
    },
  }
}
