/** MCP servers for a test: started, called and closed. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Clock } from '../../identity/clock.ts'
import { mcpServers } from '../servers.ts'
import type { McpAnswer, McpCall, McpServers, McpSettings } from '../../tool/mcp/mcp.ts'
import { pathOf, sessionOf } from './settings.ts'

/** Servers, and what they wrote. */
interface Opened {
  readonly servers: McpServers
  readonly lines: string[]
  readonly reported: unknown[]
  call(server: string, tool: string, others?: Partial<McpCall>): Promise<McpAnswer>
  /** Waits for a line that has a text. */
  line(text: string): Promise<string>
}

/** What a test may set. */
interface With {
  readonly clock?: Clock
}

/** Opens servers for a test, and closes them behind it. */
export async function withServers(
  settings: readonly McpSettings[],
  test: (opened: Opened) => Promise<void>,
  others: With = {},
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'witan-mcp-test-'))
  const lines: string[] = []
  const reported: unknown[] = []
  const servers = mcpServers(new Map(settings.map((each) => [each.name, each])), {
    ...others,
    folder,
    report: (error) => reported.push(error),
    log: (line) => lines.push(line),
  })
  const opened: Opened = {
    servers,
    lines,
    reported,
    call: (server, tool, others = {}) => servers.call(callOf(server, tool, others)),
    async line(text) {
      for (;;) {
        const found = lines.find((each) => each.includes(text))
        if (found !== undefined) return found
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
    },
  }
  try {
    await test(opened)
  } finally {
    await servers.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A call with what most calls have. */
export function callOf(server: string, tool: string, others: Partial<McpCall> = {}): McpCall {
  const signal = new AbortController().signal
  const session = sessionOf(server)
  return { session, tool, arguments: {}, meta: {}, hidden: [], signal, given: null, onProgress: () => {}, ...others }
}

/** What a call said, if it is one text. */
export function textOf(answer: McpAnswer): string {
  return answer.kind === 'result' ? String(answer.content[0]?.['text']) : JSON.stringify(answer)
}

/** A process of its own that prints its port and its errors. */
export interface Peer {
  readonly url: string
  readonly pid: number
  readonly errors: string[]
  close(): Promise<void>
}

/** Starts a server over HTTP. */
export async function startPeer(
  file: string,
  { args = [], env = {}, port }: { args?: readonly string[]; env?: Record<string, string>; port?: number } = {},
): Promise<Peer> {
  const flags = file.endsWith('.ts') ? ['--no-warnings', '--conditions=witan-source'] : []
  const child = spawn(process.execPath, [...flags, pathOf(file), ...args], { env: { ...process.env, ...env } })
  const errors: string[] = []
  createInterface({ input: child.stderr }).on('line', (line) => errors.push(line))
  const said = await new Promise<string>((resolve) => {
    if (port === undefined) createInterface({ input: child.stdout }).once('line', resolve)
    else
      createInterface({ input: child.stderr }).on(
        'line',
        (line) => line.includes(String(port)) && resolve(String(port)),
      )
  })
  child.stdout.resume()
  const gone = new Promise((resolve) => child.once('exit', resolve))
  return {
    url: `http://127.0.0.1:${said}`,
    pid: child.pid as number,
    errors,
    async close() {
      child.kill('SIGKILL')
      await gone
    },
  }
}

/** Whether a process is there. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** Waits until something holds, for 5 s at most. */
export async function until(holds: () => boolean): Promise<boolean> {
  for (let round = 0; round < 500; round++) {
    if (holds()) return true
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  return false
}
