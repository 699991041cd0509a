/** An MCP server as a child process: one JSON message a line, over its standard input and output. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import type { JSONRPCMessage } from '@modelcontextprotocol/client'
import type { Clock } from '../identity/clock.ts'
import { bytesText } from '../identity/json-pieces.ts'
import { isTurnSpent, nextTurn } from '../identity/turn.ts'
import type { McpTransport } from '../tool/mcp/mcp.ts'
import { createInbox } from './inbox.ts'
import { endGroup, type Ledger } from './ledger.ts'
import type { ServerLog } from './lines-log.ts'
import { createLines, readMessages } from './read-message.ts'
import { McpError } from './trouble.ts'
import { disconnected, type Wire, type WireOf, within } from './wire.ts'

/** A wire to a child process. The library takes one with `pid` and `stderr` for a process. */
interface StdioWire extends Wire {
  readonly pid: number | null
  readonly stderr: null
}

const inherited = ['PATH', 'HOME', 'USER', 'SHELL', 'LANG', 'TERM', 'TMPDIR']
const graceMs = 2_000
const lastWordsMs = 200
/** What a server that does not read may have waiting, in bytes. */
const mostWaiting = 32 * 1024 * 1024

/** Processes that are ended with this one. */
const running = new Set<number>()
let isWatching = false

function endWithUs(pid: number): void {
  running.add(pid)
  if (isWatching) return
  isWatching = true
  process.on('exit', () => {
    for (const each of running) endGroup(each, 'SIGKILL')
  })
}

/** The server's process, and what was learned of its end. */
interface Child {
  readonly process: ChildProcessWithoutNullStreams
  readonly pid: number
  /** Resolves when it has ended. */
  readonly gone: Promise<void>
}

/** Creates a wire that starts its process when it is started itself. */
export function createStdioWire(
  command: Extract<McpTransport, { type: 'stdio' }>,
  of: WireOf & { readonly ledger: Ledger },
): StdioWire {
  let child: Child | null = null
  let ended: McpError | null = null
  let closing: Promise<void> | null = null
  const finish = (reason: McpError): void => {
    if (ended !== null) return
    ended = reason
    closing ??= child === null ? Promise.resolve() : stop(child, of)
    wire.onclose?.()
  }
  const send = async (message: JSONRPCMessage): Promise<void> => {
    if (child === null || ended !== null) throw new McpError('unavailable', 'is not running.', true)
    const { stdin } = child.process
    if (stdin.writableLength > mostWaiting) throw new McpError('protocol', 'does not read what it is sent.')
    stdin.write(`${JSON.stringify(wire.inbox.sending(message))}\n`)
  }
  const wire: StdioWire = {
    stderr: null,
    inbox: createInbox({
      log: of.log,
      listChanged: of.listChanged,
      answer: (message) => void send(message).catch(() => {}),
    }),
    get pid() {
      return child?.pid ?? null
    },
    get ended() {
      return ended
    },
    async start() {
      child = await begin(command, of)
      const { process: started, gone } = child
      started.stdin.on('error', () => {})
      readErrors(started, of.log)
      const ending = read(started.stdout, wire, of.log).catch((error: unknown) => {
        if (error instanceof McpError) finish(error)
      })
      // Its last words count, and how it ended; what it has started may keep its output open.
      const end = async (first: Promise<void>, second: Promise<void>) => {
        await first
        await within(of.clock, lastWordsMs, second)
        finish(endOf(started))
      }
      for (const each of [end(gone, ending), end(ending, gone)]) each.catch(() => {})
    },
    send,
    end: finish,
    async close() {
      finish(disconnected)
      await closing
    },
  }
  return wire
}

/** Why a program does not run. */
function notStarted(code: string | undefined, command: string): string {
  if (code === 'ENOENT')
    return `could not be started: there is no program \`${command.slice(0, 200)}\`, or no folder to run it in.`
  if (code === 'EACCES') return `could not be started: \`${command.slice(0, 200)}\` is no program that may be run.`
  return `could not be started (${code ?? 'unknown error'}).`
}

async function begin(
  { command, args, cwd, env }: Extract<McpTransport, { type: 'stdio' }>,
  { ledger }: { readonly ledger: Ledger },
): Promise<Child> {
  await ledger.begin()
  const base = inherited.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]))
  const started = spawn(command, [...args], {
    ...(cwd === null ? {} : { cwd }),
    env: { ...Object.fromEntries(base), ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: process.platform !== 'win32',
    windowsHide: true,
  })
  await new Promise<void>((resolve, reject) => {
    started.once('spawn', resolve)
    started.once('error', (error: NodeJS.ErrnoException) =>
      reject(new McpError('unavailable', notStarted(error.code, command), true)),
    )
  })
  const pid = started.pid as number
  started.on('error', () => {})
  endWithUs(pid)
  const gone = new Promise<void>((resolve) => {
    if (started.exitCode !== null || started.signalCode !== null) resolve()
    else started.once('exit', () => resolve())
  })
  gone.then(() => ledger.remove(pid)).catch(() => {})
  await ledger.add(pid)
  if (started.exitCode !== null || started.signalCode !== null) ledger.remove(pid)
  return { process: started, pid, gone }
}

function endOf({ exitCode, signalCode }: ChildProcessWithoutNullStreams): McpError {
  if (exitCode === null && signalCode === null) return new McpError('lost', 'closed its output.')
  return new McpError('lost', `ended (${signalCode ?? `exit code ${exitCode}`}).`)
}

/** Reads messages one after the other, and gives way to other work between them: a server that writes for ever holds up nobody. */
async function read(output: NodeJS.ReadableStream, wire: Wire, log: ServerLog): Promise<void> {
  const lines = createLines()
  for await (const chunk of output as AsyncIterable<Buffer>)
    for (const line of lines(chunk)) {
      if (isTurnSpent()) await nextTurn()
      if (wire.ended !== null) return
      const messages = await readMessages(line.length > 65_536 ? await bytesText(line) : line.toString('utf8'))
      if (messages === null && line.length > 0) log('A line of its output is no JSON.')
      for (const message of messages ?? []) {
        const passed = wire.inbox.arrived(message)
        if (passed !== null) wire.onmessage?.(passed)
      }
    }
}

/** Everything is read, so that the server never waits; the log takes what it takes. */
function readErrors({ stderr }: ChildProcessWithoutNullStreams, log: ServerLog): void {
  let rest = ''
  stderr.on('data', (chunk: Buffer) => {
    const lines = (rest + chunk.toString('utf8', 0, 16_384)).split('\n')
    rest = (lines.pop() ?? '').slice(0, 2_000)
    for (const line of lines.slice(0, 100)) log(line)
  })
  stderr.on('end', () => log(rest))
  stderr.on('error', () => {})
}

/** Closes its input; after 2 s asks the group of its process to end, and after 2 s more ends it. */
async function stop(child: Child, { clock }: { readonly clock: Clock }): Promise<void> {
  const { process: started, pid, gone } = child
  started.stdin.end()
  await within(clock, graceMs, gone)
  // What it has started may outlive it.
  if (endGroup(pid, 'SIGTERM')) {
    const until = clock.now() + graceMs
    while (clock.now() < until && endGroup(pid, 0)) await within(clock, 20, new Promise(() => {}))
    if (endGroup(pid, 'SIGKILL')) await within(clock, graceMs, gone)
  }
  running.delete(pid)
  for (const stream of [started.stdin, started.stdout, started.stderr]) stream.destroy()
}
