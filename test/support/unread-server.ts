/** A server in a process of its own, and what its memory does while clients read nothing of what they asked for. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createRuntime, memoryStore, sqliteStore } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'
import { loadConfig, startServer } from '@witan/server'
import { lengthened } from './long-log.ts'

/** What is asked for, and by how many clients that read nothing. */
export interface Unread {
  readonly path: string
  readonly accept: string
  readonly clients: number
  readonly forMs: number
}

/** The status of the answer, and how many bytes the process has more than before: at most, and at the end without what nobody refers to any more. */
export interface Grown {
  readonly status: number
  readonly mostRss: number
  readonly heldAtEnd: number
}

const model = () => scriptedModel(() => 'Done.', { id: 'play/root' })
const agents = [{ id: 'root', model: 'play/root', instructions: 'You do it.' }]

async function fill(file: string): Promise<void> {
  const from = memoryStore()
  const runtime = createRuntime({ store: from, models: { 'play/root': model() }, agents, report: () => undefined })
  await (await runtime.start({ agent: 'root', id: 'chats/short', prompt: 'Go.' })).run?.result
  const short = await from.readSnapshot('default', 'chats/short')
  await runtime.close()
  if (short === null) throw new Error('the conversation is lost')
  const store = sqliteStore({ file, synchronous: 'normal' })
  await store.open()
  await store.putSnapshot('default', lengthened(short, { id: 'chats/long', runs: 40, characters: 900_000 }))
  await store.close()
}

function ask(port: number, { path, accept }: Pick<Unread, 'path' | 'accept'>): Socket {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAccept: ${accept}\r\n\r\n`)
  return socket
}

/** The status of an answer whose reader then leaves. */
async function statusOf(socket: Socket): Promise<number> {
  const [begun] = (await once(socket, 'data')) as [Buffer]
  socket.destroy()
  return Number(begun.toString('latin1').split(' ')[1])
}

/** Serves a conversation of 36 MB to one client that leaves, then to clients that read nothing, and measures. */
export async function grow({ clients, forMs, ...what }: Unread): Promise<Grown> {
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc') as () => void
  const folder = await mkdtemp(join(tmpdir(), 'witan-unread-'))
  const file = join(folder, 'store.db')
  await fill(file)
  const config = await loadConfig({ cwd: folder, env: { WITAN_LOG_LEVEL: 'silent', WITAN_STORE_URL: `file:${file}` } })
  const bare = { ...config, auth: { mode: 'none' }, models: { 'play/root': model() }, agents } as const
  const server = await startServer({ ...bare, server: { ...config.server, port: 0 } })
  try {
    const status = await statusOf(ask(server.port, what))
    await sleep(500)
    gc()
    const held = () => {
      const { heapUsed, external } = process.memoryUsage()
      return heapUsed + external
    }
    const [rss, before] = [process.memoryUsage.rss(), held()]
    const sockets = Array.from({ length: clients }, () => ask(server.port, what))
    let mostRss = 0
    for (const end = performance.now() + forMs; performance.now() < end; ) {
      await sleep(20)
      mostRss = Math.max(mostRss, process.memoryUsage.rss() - rss)
    }
    gc()
    const heldAtEnd = held() - before
    for (const socket of sockets) socket.destroy()
    return { status, mostRss, heldAtEnd }
  } finally {
    await server.close()
    await rm(folder, { recursive: true })
  }
}
