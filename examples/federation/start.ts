/** `npm run federation`: starts the servers of this example, asks the desk one question, and shows what happened on both sides. */
import { once } from 'node:events'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { processTerminal, runCommandLine } from '@witan/cli'
import { createClient } from '@witan/client'
import type { Interruption } from '@witan/protocol'
import { loadConfig, startServer, type WitanServer } from '@witan/server'
import { startHotel } from './hotel.ts'
import { ports } from './places.ts'

const question = 'I must be in Vienna on Thursday by noon, and stay for a night.'
const terminal = processTerminal()
const isPerson = process.stdin.isTTY === true && process.stdout.isTTY === true && !process.argv.includes('--yes')
const isColourful = process.stdout.isTTY === true && !process.env['NO_COLOR'] && process.env['TERM'] !== 'dumb'

/** What the example answers where nobody sits at a terminal. */
const answers: Partial<Record<Interruption['kind'], readonly string[]>> = {
  question: ['--choose', 'class=second'],
  policy: ['--approve'],
}

async function main(): Promise<void> {
  const hotel = await startHotel(ports.hotel)
  const servers: WitanServer[] = []
  try {
    const travel = await start('travel')
    servers.push(travel)
    const office = await start('office')
    servers.push(office)
    introduce()
    await ask(office)
    say('', 'What the agency has of it, in a log of its own:')
    await witan('travel', 'conversations', 'show', await newest(travel))
    if (isPerson) await untilStopped({ office, travel })
  } finally {
    await Promise.all(servers.map((server) => server.close()))
    hotel.close()
    hotel.closeAllConnections()
  }
}

async function start(name: string): Promise<WitanServer> {
  return startServer(await loadConfig({ file: fileOf(name), env: { WITAN_LOG_LEVEL: 'warn', ...process.env } }))
}

function introduce(): void {
  say(
    '',
    'office.test         a Witan server: the desk, whom you ask',
    'travel.test         a Witan server: @trains@travel.test, which asks back',
    'hotel.travel.test   an agent of the official A2A SDK, which has a price',
  )
}

/** A person answers at the terminal; without one the commands that answer are run as they would be typed. */
async function ask(office: WitanServer): Promise<void> {
  process.exitCode = await witan('office', 'run', 'desk', question)
  if (isPerson) return
  const client = clientOf(office)
  const id = await newest(office)
  const { interruptions } = await client.conversations.get(id)
  for (const open of interruptions)
    await witan('office', 'interruptions', 'answer', open.id, ...(answers[open.kind] ?? []))
  const ended = await client.conversation('desk', { id }).resume()
  await witan('office', 'conversations', 'show', id)
  process.exitCode = ended.status === 'completed' ? 0 : 1
  client.close()
}

/** Runs a command of `witan`, which finds the running server by its configuration. */
async function witan(server: string, ...words: readonly string[]): Promise<number> {
  const all = [...words, '--config', relative(process.cwd(), fileOf(server))]
  say('', `$ npx witan ${all.map(quoted).join(' ')}`)
  return runCommandLine(all, terminal)
}

async function newest(server: WitanServer): Promise<string> {
  const client = clientOf(server)
  const { items } = await client.conversations.list({ limit: 1 })
  client.close()
  return items[0]?.id ?? ''
}

function clientOf({ url, token }: WitanServer) {
  return createClient({ url, ...(token === null ? {} : { token }) })
}

async function untilStopped(servers: Readonly<Record<string, WitanServer>>): Promise<void> {
  say('', 'The servers run until Ctrl+C. In the Studio:')
  for (const [name, { pageUrl }] of Object.entries(servers)) say(`  ${name.padEnd(8)}${pageUrl}`)
  await once(process, 'SIGINT')
}

function say(...lines: readonly string[]): void {
  for (const line of lines) process.stdout.write(isColourful ? `\u001b[2m${line}\u001b[0m\n` : `${line}\n`)
}

function quoted(word: string): string {
  return /^[\w@:./=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}

function fileOf(name: string): string {
  return fileURLToPath(new URL(`${name}.config.ts`, import.meta.url))
}

await main().catch((error: Error) => {
  const hint = /in use/.test(error.message) ? ' FEDERATION_PORTS=5801,5802,5803 names other ports.' : ''
  process.stderr.write(`${error.message}${hint}\n`)
  process.exitCode = 1
})
