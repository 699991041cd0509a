/** What examples of several servers share: servers by their configurations, and commands that are shown as they would be typed. */
import { once } from 'node:events'
import type { Server } from 'node:http'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { processTerminal, runCommandLine } from '@witan/cli'
import { type Client, createClient } from '@witan/client'
import { loadConfig, startServer, type WitanServer } from '@witan/server'

const terminal = processTerminal()
/** Whether somebody sits at the terminal and answers. */
export const isPerson = process.stdin.isTTY === true && process.stdout.isTTY === true && !process.argv.includes('--yes')
const isColourful = process.stdout.isTTY === true && !process.env['NO_COLOR'] && process.env['TERM'] !== 'dumb'

export function say(...lines: readonly string[]): void {
  for (const line of lines) process.stdout.write(isColourful ? `\u001b[2m${line}\u001b[0m\n` : `${line}\n`)
}

/** Starts and asks the servers whose configurations stand beside this file, as `<name>.config.ts`. */
export function serversBeside(module: string) {
  const fileOf = (name: string) => fileURLToPath(new URL(`${name}.config.ts`, module))
  const start = async (name: string): Promise<WitanServer> =>
    startServer(await loadConfig({ file: fileOf(name), env: { WITAN_LOG_LEVEL: 'warn', ...process.env } }))
  return {
    /** Starts two servers, one after the other, and closes them and the program beside them once `work` has ended. */
    async serving(
      names: readonly [string, string],
      beside: Server,
      work: (first: WitanServer, second: WitanServer) => Promise<void>,
    ): Promise<void> {
      const servers: WitanServer[] = []
      try {
        const [one, other] = names
        const first = await start(one)
        servers.push(first)
        const second = await start(other)
        servers.push(second)
        await work(first, second)
      } finally {
        await Promise.all(servers.map((server) => server.close()))
        beside.close()
        beside.closeAllConnections()
      }
    },
    /** Runs a command of `witan`, which finds the running server by its configuration. */
    async witan(server: string, ...words: readonly string[]): Promise<number> {
      const all = [...words, '--config', relative(process.cwd(), fileOf(server))]
      say('', `$ npx witan ${all.map(quoted).join(' ')}`)
      return runCommandLine(all, terminal)
    },
  }
}

export function clientOf({ url, token }: WitanServer): Client {
  return createClient({ url, ...(token === null ? {} : { token }) })
}

/** The id of the conversation that began last. */
export async function newest(server: WitanServer): Promise<string> {
  const client = clientOf(server)
  const { items } = await client.conversations.list({ limit: 1 })
  client.close()
  return items[0]?.id ?? ''
}

export async function untilStopped(servers: Readonly<Record<string, WitanServer>>): Promise<void> {
  say('', 'The servers run until Ctrl+C. In the Studio:')
  for (const [name, { pageUrl }] of Object.entries(servers)) say(`  ${name.padEnd(8)}${pageUrl}`)
  await once(process, 'SIGINT')
}

function quoted(word: string): string {
  return /^[\w@:./=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}

/** Ends with the error, and with how to choose other ports where one is taken. */
export function failing(ports: string): (error: Error) => void {
  return (error) => {
    const hint = /in use/.test(error.message) ? ` ${ports} names other ports.` : ''
    process.stderr.write(`${error.message}${hint}\n`)
    process.exitCode = 1
  }
}
