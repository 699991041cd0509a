/** Processes that host the servers of tests, one at a time each and one after the other, so that an empty server costs no process of its own. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import type { Asked, Replied } from './host-process.ts'
import { hostScript } from './program.ts'

/** Those that host no server now. */
const idle: ChildProcess[] = []

/** A server of the host. `process` ends with SIGKILL as that of any server; the next one then gets another. */
interface Hosted {
  readonly process: ChildProcess
  readonly url: string
  stop(): Promise<void>
}

/** Starts a server on this configuration. `told` takes what its process prints. */
export async function startHosted(file: string, env: NodeJS.ProcessEnv, told: (text: string) => void): Promise<Hosted> {
  const child = takeIdle() ?? forked(env)
  const { stdout, stderr } = child
  const take = (data: unknown) => told(String(data))
  for (const stream of [stdout, stderr]) stream?.on('data', take)
  const { url } = (await ask(child, { start: file })) as { url: string }
  return {
    process: child,
    url,
    stop: async () => {
      await ask(child, { stop: true })
      for (const stream of [stdout, stderr]) stream?.off('data', take)
      idle.push(child)
    },
  }
}

function takeIdle(): ChildProcess | undefined {
  for (let child = idle.pop(); child !== undefined; child = idle.pop())
    if (child.exitCode === null && child.signalCode === null) return child
  return undefined
}

function forked(env: NodeJS.ProcessEnv): ChildProcess {
  const child = fork(hostScript, [], {
    execArgv: ['--no-warnings', '--conditions=witan-source'],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env,
  })
  for (const stream of [child.stdout, child.stderr] as (Socket | null)[]) {
    stream?.on('data', () => {}) // with no listener, a full pipe would stop the process
    stream?.unref()
  }
  // The host ends with this process, which must not wait for it.
  child.unref()
  child.channel?.unref()
  return child
}

async function ask(child: ChildProcess, asked: Asked): Promise<Replied> {
  const gone = new AbortController()
  const leave = () => gone.abort()
  child.once('exit', leave)
  child.channel?.ref()
  const replied = once(child, 'message', { signal: gone.signal })
  child.send(asked)
  const [reply] = (await replied) as [Replied]
  child.channel?.unref()
  child.off('exit', leave)
  if ('error' in reply) throw new Error(reply.error)
  return reply
}
