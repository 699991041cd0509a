/** A stage whose server has played MCP servers, and what tests look at: what a server heard, what a model was offered, what stands in events. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Seen } from './exchange.ts'
import { createHttpPlayed, type HttpPlayed } from './mcp-http.ts'
import { filesOf, type Heard, type Message, type PlayedTool, type Script } from './mcp-script.ts'
import { agent, type AgentJson, createStage, type Stage, until } from './stage.ts'
import { toolContents } from './transcript.ts'
import type { RunResult, WitanEvent } from './wire.ts'
import type { WitanOptions } from './witan.ts'

type Settings = Record<string, unknown>
const program = (file: string) => fileURLToPath(new URL(file, import.meta.url))
const packages = fileURLToPath(new URL('../../../node_modules/', import.meta.url))

/** Played MCP servers of one test file. */
export interface Played {
  /** The settings of a server that plays this script on stdio. */
  stdio(name: string, script: Script, more?: Settings): Settings
  /** The same over HTTP. */
  http(name: string, script: Script, more?: Settings): Promise<Settings>
  /** The settings of the server of the 2026 era. */
  modern(name: string, more?: Settings): Settings
  play(name: string, script: Script): void
  heard(name: string): Heard[]
  /** The calls of tools that a server has heard, with their arguments. */
  calls(name: string): { tool: string; args: unknown; message: Message }[]
  /** Waits until a server has heard a message. */
  untilHeard(name: string, method: string): Promise<Heard>
  close(): Promise<void>
}

export async function createPlayed(): Promise<Played> {
  const folder = await mkdtemp(join(tmpdir(), 'witan-played-'))
  const servers: HttpPlayed[] = []
  const run = (file: string, name: string) => ({
    command: process.execPath,
    args: ['--no-warnings', program(file), folder, name],
  })
  const heard = (name: string) => filesOf(folder, name).heard()
  return {
    stdio(name, script, more = {}) {
      filesOf(folder, name).write(script)
      return { ...run('mcp-stdio.ts', name), ...more }
    },
    async http(name, script, more = {}) {
      filesOf(folder, name).write(script)
      const server = await createHttpPlayed(filesOf(folder, name))
      servers.push(server)
      return { url: server.url, ...more }
    },
    modern: (name, more = {}) => ({ ...run('mcp-modern.ts', name), ...more }),
    play: (name, script) => filesOf(folder, name).write(script),
    heard,
    calls: (name) =>
      heard(name)
        .filter(({ message }) => message.method === 'tools/call')
        .map(({ message }) => ({
          tool: String(message.params?.['name']),
          args: message.params?.['arguments'],
          message,
        })),
    async untilHeard(name, method) {
      const find = () => heard(name).find(({ message }) => message.method === method)
      return (await until(
        async () => find(),
        (found) => found !== undefined,
      )) as Heard
    },
    async close() {
      await Promise.all(servers.map((server) => server.close()))
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** The settings of a server of the official examples. */
export function official(name: string, args: string[] = [], more: Settings = {}): Settings {
  return {
    command: process.execPath,
    args: [`${packages}@modelcontextprotocol/${name}/dist/index.js`, ...args],
    ...more,
  }
}

/** A stage with these servers. `close` ends all. */
export async function createMcpStage(
  servers: Record<string, Settings>,
  options: Omit<WitanOptions, 'modelUrl' | 'prepare'> = {},
): Promise<Stage> {
  return createStage({ ...options, prepare: () => ({ mcpServers: servers }) })
}

/** An agent that uses a server; no approval unless it is said. */
export function user(id: string, server: string, { use = {}, ...more }: { use?: Settings } & Settings = {}): AgentJson {
  return agent(id, { mcp: [{ server, approval: 'none', ...use }], ...more })
}

/** Saves an agent whose model makes these calls one after the other, then ends; gives its run. */
export async function callTools(
  stage: Stage,
  one: AgentJson,
  calls: [name: string, args?: object][],
): Promise<RunResult> {
  await stage.save(one)
  const replies = calls.map(([name, args = {}]) => ({ calls: [{ name, args }] }))
  stage.model.script(one.id, ...replies, { text: 'done' })
  return stage.ask(one.id, 'go')
}

/** The results that the model read by its last request. */
export function readBy(stage: Stage, id: string): string[] {
  return toolContents(stage.model.of(id).at(-1))
}

/** The tools of a request as they stand in it. */
export function toolsOf(
  seen: Seen | undefined,
): { name: string; description: string; parameters: Record<string, unknown> }[] {
  assert.ok(seen, 'the model was asked')
  return (seen.body.tools ?? []).map(({ function: tool }) => ({
    name: tool.name,
    description: tool.description ?? '',
    parameters: (tool.parameters ?? {}) as Record<string, unknown>,
  }))
}

export function namesOf(seen: Seen | undefined): string[] {
  return toolsOf(seen).map(({ name }) => name)
}

/** The codes of failed calls of tools, in order. */
export function toolErrors(events: WitanEvent[]): string[] {
  return events.flatMap(({ type, kind, content }) =>
    type === 'error' && kind === 'tool' ? [String(content['code'])] : [],
  )
}

/** The servers that a call of an agent was given, in its start or right behind it, with the type of that event. */
export function listedIn(events: WitanEvent[], runId: string): { type: string; mcp: Listed[] } {
  const [found] = events.filter(
    ({ callId, type, content }) =>
      callId === runId && (type === 'start' || type === 'tools') && content['mcp'] !== undefined,
  )
  assert.ok(found, 'the start of an agent, or an event behind it, says what it was given')
  return { type: found.type, mcp: found.content['mcp'] as Listed[] }
}

export interface Listed {
  server: string
  tools: unknown[]
  digest: string
}

/** Everything that a reader of a conversation gets, and all that models read. */
export async function everything(stage: Stage, { conversationId }: RunResult): Promise<string> {
  const events = await stage.events(conversationId)
  const paths = new Set([conversationId, ...events.map(({ document }) => document)])
  const documents = await Promise.all([...paths].map((path) => stage.document(path)))
  return JSON.stringify({ events, documents }) + stage.model.seen.map(({ raw }) => raw).join('\n')
}

/** Whether a process works. One that has ended and that nobody has collected does not. */
export function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0)
    const stat = process.platform === 'linux' ? readFileSync(`/proc/${pid}/stat`, 'utf8') : ''
    return stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3) !== 'Z'
  } catch {
    return false
  }
}

export const text = (name: string, more: Partial<PlayedTool> = {}): PlayedTool => ({
  name,
  description: `Does ${name}.`,
  ...more,
})

/** A schema of an object with these texts, some of them required. */
export function texts(names: string[], required: string[] = []): Record<string, unknown> {
  return { type: 'object', properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])), required }
}
