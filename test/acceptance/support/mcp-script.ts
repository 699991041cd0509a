/** What a played MCP server of the 2025 era does: a script that a test writes, and the answers to messages that follow from it. */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A tool as a server lists it. The schema takes anything unless it is given. */
export interface PlayedTool {
  name: string
  description?: string
  inputSchema?: Record<string, unknown>
  outputSchema?: Record<string, unknown>
  annotations?: Record<string, unknown>
}

/** What happens at a call. The first answer that is given counts. */
export interface Doing {
  /** The result as it is. */
  result?: Record<string, unknown>
  /** A result with this text. */
  text?: string
  /** A result with this of the call as JSON. */
  say?: 'arguments' | 'meta' | 'environment'
  /** A message to the client, whose whole answer is the text of the result. */
  ask?: { method: string; params: Record<string, unknown> }
  /** Nothing is answered. */
  hangs?: boolean
  /** The process ends without an answer. */
  dies?: boolean
  /** Lines as they are, with the id of the call for `$ID`. */
  raw?: string[]
  /** A line of so many bytes. */
  lineOf?: number
  /** A result nested so deep. */
  depth?: number
  /** Notifications of progress, so many, with this time between them, before anything else. */
  progress?: { count: number; everyMs: number }
  /** So many messages that nobody asked for, before anything else. */
  flood?: { count: number; line: string }
  /** A result of so many parts. */
  parts?: { count: number; part: object }
  /** A result with an object of so many properties. */
  keys?: number
  /** A line for its log, before anything else; `$ARGUMENTS` stands for those of the call. */
  writes?: string
  /** Bytes without an end of line, until the process is ended. */
  endless?: boolean
  /** New tools, and a notification of it, before an answer. */
  change?: PlayedTool[]
  delayMs?: number
}

export interface Script {
  /** The protocol of 2026-07-28. */
  isModern?: boolean
  tools?: PlayedTool[]
  /** By tool: the same for each call, or one after the other, the last again and again. Else the arguments are said. */
  calls?: Record<string, Doing | Doing[]>
  /** `forever`: each page has a next one. */
  lists?: 'forever' | 'never' | 'deep' | 'large'
  /** So many tools more, each with so many properties. */
  crowd?: { count: number; properties: number }
  starts?: 'never' | 'fails'
  /** Instead of an answer to anything (HTTP): this status, and the headers of the request as its text. */
  refuses?: number
  /** It stays when its input ends and when it is asked to end. */
  stays?: boolean
  /** No request without this in `Authorization` is let in (HTTP). */
  needs?: string
  /** The sessions of the past are unknown (HTTP). */
  forgets?: boolean
}

export interface Message {
  id?: number | string
  method?: string
  params?: Record<string, unknown>
  result?: unknown
  error?: unknown
}

/** One line of what a server heard. */
export interface Heard {
  pid: number
  at: number
  headers?: Record<string, string | string[] | undefined>
  message: Message
}

/** A played server's files: what it does, and what it heard. */
export interface Files {
  read(): Script
  write(script: Script): void
  note(heard: Omit<Heard, 'pid' | 'at'>): void
  heard(): Heard[]
}

export function filesOf(folder: string, name: string): Files {
  const script = join(folder, `${name}.script.json`)
  const log = join(folder, `${name}.heard.jsonl`)
  return {
    read: () => JSON.parse(readFileSync(script, 'utf8')) as Script,
    write: (value) => writeFileSync(script, JSON.stringify(value)),
    note: (heard) => appendFileSync(log, `${JSON.stringify({ pid: process.pid, at: Date.now(), ...heard })}\n`),
    heard: () =>
      existsSync(log)
        ? readFileSync(log, 'utf8')
            .split('\n')
            .filter((line) => line !== '')
            .map((line) => JSON.parse(line) as Heard)
        : [],
  }
}

const framed = (value: Record<string, unknown>) => JSON.stringify({ jsonrpc: '2.0', ...value })
const textResult = (text: string) => ({ content: [{ type: 'text', text }] })
export const resultLine = (id: unknown, result: unknown): string => framed({ id, result })
export const errorLine = (id: unknown, code: number, message: string): string =>
  framed({ id, error: { code, message } })
export const notificationLine = (method: string, params = {}): string => framed({ method, params })

/** The lines that answer what asks for no tool; undefined for a call of one, null for nothing. */
export function answerOf({ id, method, params = {} }: Message, script: Script): string | null | undefined {
  if (id === undefined || method === undefined) return null
  if (method === 'tools/call') return undefined
  if (method === 'tools/list') return listLine(id, params, script)
  if (method === 'ping') return resultLine(id, {})
  if (method === 'server/discover' && script.isModern === true)
    return resultLine(id, { supportedVersions: ['2026-07-28'], capabilities: { tools: {} } })
  if (method !== 'initialize') return errorLine(id, -32601, 'Method not found')
  if (script.starts === 'never') return null
  return resultLine(id, {
    protocolVersion: '2025-11-25',
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: 'played', version: '7.0.0' },
  })
}

function crowdOf({ crowd = { count: 0, properties: 0 } }: Script): PlayedTool[] {
  const names = Array.from({ length: crowd.properties }, (_, at) => `property${at}`)
  const properties = Object.fromEntries(
    names.map((name) => [name, { type: 'string', pattern: `^${name}[a-z]{1,20}$` }]),
  )
  return Array.from({ length: crowd.count }, (_, at) => ({
    name: `t${at}`,
    inputSchema: { type: 'object', properties },
  }))
}

function listLine(id: unknown, params: Record<string, unknown>, script: Script): string | null {
  const { tools = [], lists } = script
  const all = [...tools, ...crowdOf(script)].map((tool) => ({ inputSchema: { type: 'object' }, ...tool }))
  if (lists === 'never') return null
  if (lists === 'forever') return resultLine(id, { tools: all, nextCursor: String(Number(params['cursor'] ?? 0) + 1) })
  if (lists === 'large')
    return resultLine(id, {
      tools: [{ name: 'a', inputSchema: { type: 'object', description: 'x'.repeat(20_000_000) } }],
    })
  if (lists !== 'deep') return resultLine(id, { tools: all })
  const schema = `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"tools":[{"name":"deep","inputSchema":${schema}}]}}`
}

/** A line as a server of 2026-07-28 writes it. */
export function modernLine(line: string): string {
  if (line.includes('"resultType":')) return line
  return line
    .replace('"result":{', '"result":{"resultType":"complete","ttlMs":0,"cacheScope":"private",')
    .replaceAll(',}', '}')
}

/** What a call does now: the nth call of a tool counts over all processes of a server. */
export function doingOf(name: string, script: Script, heard: readonly Heard[]): Doing {
  const { calls = {} } = script
  const given = (Object.hasOwn(calls, name) ? calls[name] : undefined) ?? { say: 'arguments' }
  if (!Array.isArray(given)) return given
  const nth = heard.filter(({ message }) => message.method === 'tools/call' && message.params?.['name'] === name).length
  return given[Math.min(nth, given.length) - 1] ?? {}
}

/** The lines that a call is answered with at once, where it is answered by lines. */
export function callLines({ id, params = {} }: Message, doing: Doing): string[] {
  const { result, text, say, raw, lineOf, depth, parts, keys } = doing
  if (parts !== undefined) return [resultLine(id, { content: Array.from({ length: parts.count }, () => parts.part) })]
  if (keys !== undefined) {
    const structuredContent = Object.fromEntries(Array.from({ length: keys }, (_, at) => [`k${at}`, at]))
    return [resultLine(id, { content: [], structuredContent })]
  }
  if (result !== undefined) return [resultLine(id, result)]
  if (text !== undefined) return [resultLine(id, textResult(text))]
  if (raw !== undefined) return raw.map((line) => line.replaceAll('$ID', JSON.stringify(id)))
  if (lineOf !== undefined) return [resultLine(id, textResult('x'.repeat(lineOf)))]
  if (depth !== undefined)
    return [
      `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"content":[],"structuredContent":{"a":${'['.repeat(depth)}${']'.repeat(depth)}}}}`,
    ]
  const of = { arguments: params['arguments'] ?? {}, meta: params['_meta'] ?? {}, environment: process.env }
  return [resultLine(id, textResult(JSON.stringify(of[say ?? 'arguments'])))]
}
