/** Processes of benchmarks: each says one message once it is ready, and answers each order with one. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

export type Subprocess = Awaited<ReturnType<typeof open>>

/** How a process is started. `under` is a program that starts it, with its arguments. */
interface Started {
  readonly flags?: readonly string[]
  readonly under?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

/** Starts a file of this folder. */
export async function open(file: string, args: readonly string[], { flags = [], under = [], env = {} }: Started = {}) {
  const [execPath = '', ...execArgv] = [
    ...under,
    process.execPath,
    '--no-warnings',
    '--conditions=witan-source',
    ...flags,
  ]
  const child = fork(join(import.meta.dirname, file), args, {
    execPath,
    execArgv,
    env: { ...process.env, NODE_ENV: 'production', ...env },
  })
  const answer = async () => ((await once(child, 'message')) as [Record<string, number>])[0]
  const first = await answer()
  return {
    first,
    ask(order: string) {
      child.send(order)
      return answer()
    },
    async close() {
      child.send('end')
      await once(child, 'exit')
    },
    async kill() {
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}
