/** A road to a server with holes in it: replies to commits get lost, requests never arrive, everything falls silent. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/**
 * What becomes of a commit: `loseReply` lets it happen and cuts the line, `loseRequest` cuts the line before. With `hold` everything
 * falls silent, the commit on its way: it arrives when the silence ends, even if its sender has hung up meanwhile.
 */
type CommitFate = 'pass' | 'loseReply' | 'loseRequest' | 'hold'

/** A proxy in front of a server. */
export interface Proxy {
  readonly url: string
  /** So many commits were sent so far. */
  readonly commits: number
  /** So many lines were cut because of a commit's fate. */
  readonly cuts: number
  /** Asked for every commit with its number, from 1, and what is sent with it; all pass by default. */
  fate: (number: number, sent: Buffer) => CommitFate
  /** From now on nothing is let through, and nobody is told; `false` lets all through that waited. */
  silence(isSilent: boolean): void
  /** So many bytes a second pass on each line, each way; null lets all through, with what has waited. */
  throttle(bytesPerSecond: number | null): void
  /** Those that are open fall silent for ever; new ones work. */
  strand(): void
  /** Ends every connection at once. */
  cut(): void
  close(): Promise<void>
}

/** A simple query `commit`, as it stands on the line. */
const commit = Buffer.from([0x51, 0, 0, 0, 11, ...Buffer.from('commit\0')])

/** One way of a line: what comes is passed on at once, or so many bytes a second. */
class Way {
  readonly #to: Socket
  #waiting: Buffer = Buffer.alloc(0)

  constructor(to: Socket) {
    this.#to = to
  }

  send(chunk: Buffer, isSlow: boolean): void {
    if (isSlow || this.#waiting.length > 0) this.#waiting = Buffer.concat([this.#waiting, chunk])
    else this.#to.write(chunk)
  }

  pass(bytes = this.#waiting.length): void {
    if (this.#waiting.length > 0) this.#to.write(this.#waiting.subarray(0, bytes))
    this.#waiting = this.#waiting.subarray(bytes)
  }
}

interface Line {
  readonly client: Socket
  readonly server: Socket
  readonly ways: readonly Way[]
}

function pass(lines: Iterable<Line>, bytes?: number): void {
  for (const { ways } of lines) for (const way of ways) way.pass(bytes)
}

function cut(lines: Iterable<Line>): void {
  for (const { client, server } of lines) {
    server.destroy()
    client.destroy()
  }
}

/** Opens a proxy to the server of this address. */
export async function openProxy(url: string): Promise<Proxy> {
  const target = new URL(url)
  const lines = new Set<Line>()
  let trickle: ReturnType<typeof setInterval> | null = null
  const state = { commits: 0, cuts: 0, isSilent: false, fate: (() => 'pass') as Proxy['fate'] }
  const silence = (isSilent: boolean) => {
    state.isSilent = isSilent
    if (!isSilent && trickle === null) pass(lines)
    for (const { client, server } of lines) for (const one of [client, server]) isSilent ? one.pause() : one.resume()
  }
  const listener = createServer((client) => {
    const server = connect(Number(target.port), target.hostname)
    const [there, back] = [new Way(server), new Way(client)]
    const line = { client, server, ways: [there, back] }
    lines.add(line)
    let isHeld = false
    const end = () => {
      client.destroy()
      if (isHeld && !server.destroyed) return // what is on its way still arrives
      server.destroy()
      lines.delete(line)
    }
    for (const socket of [client, server]) socket.setNoDelay(true).on('error', end).on('close', end)
    if (state.isSilent) for (const socket of [client, server]) socket.pause()
    let tail: Buffer = Buffer.alloc(0)
    let isDeaf = false
    client.on('data', (chunk) => {
      const seen = Buffer.concat([tail, chunk])
      tail = seen.subarray(Math.max(0, seen.length - commit.length + 1))
      const found = seen.includes(commit)
      const fate = found ? state.fate(++state.commits, chunk) : 'pass'
      if (fate === 'hold') {
        isHeld = true
        there.send(chunk, true)
        return silence(true)
      }
      if (fate !== 'pass') state.cuts += 1
      if (fate === 'loseRequest') return end()
      if (fate === 'loseReply') isDeaf = true
      there.send(chunk, trickle !== null)
    })
    server.on('data', (chunk) => {
      if (client.destroyed) return
      if (!isDeaf) back.send(chunk, trickle !== null)
      else if (chunk.includes('COMMIT\0')) end() // it has happened, and nobody will hear of it
    })
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const { port } = listener.address() as AddressInfo
  const at = new URL(url)
  at.port = String(port)
  return {
    url: at.href,
    get commits() {
      return state.commits
    },
    get cuts() {
      return state.cuts
    },
    get fate() {
      return state.fate
    },
    set fate(fate) {
      state.fate = fate
    },
    silence,
    throttle(bytesPerSecond) {
      if (trickle !== null) clearInterval(trickle)
      trickle = null
      if (bytesPerSecond === null) pass(lines)
      else trickle = setInterval(() => pass(lines, bytesPerSecond), 1_000)
    },
    strand() {
      for (const { client, server } of lines) for (const socket of [client, server]) socket.pause()
    },
    cut: () => cut(lines),
    async close() {
      if (trickle !== null) clearInterval(trickle)
      cut(lines)
      listener.close()
      await once(listener, 'close')
    },
  }
}
