/**
 * Stands between an MCP server and the protocol's library. The library sees small messages alone: results of tools are kept here, and a number stands
 * for them. It drops what answers no open request, and answers what a server must not ask.
 */
import type { JSONRPCMessage } from '@modelcontextprotocol/client'
import type { ServerLog } from './lines-log.ts'
import type { Arrived } from './read-message.ts'
import { brokenCode, McpError } from './trouble.ts'

type Fields = Readonly<Record<string, unknown>>
type Id = string | number

/** What the two sides of a connection share. */
export interface Inbox {
  /** Notes a message on its way to the server; returns what is to be sent instead. */
  sending(message: JSONRPCMessage): JSONRPCMessage
  /** What the library may see of a message that came; null for nothing. Throws for what ends the connection. */
  arrived(message: Arrived): JSONRPCMessage | null
  /** Whether a request has no answer yet. */
  isOpen(id: Id): boolean
  /** The answer to a request whose connection broke; null if it has one. */
  broken(id: Id): JSONRPCMessage | null
  /** The result that stands behind what the library returned, once. */
  take(result: unknown): Fields | null
}

/** What an inbox tells of what it keeps from the library. */
interface InboxEvents {
  readonly log: ServerLog
  /** The list of tools is no longer as it was. */
  listChanged(): void
  /** Answers a request of the server. */
  answer(message: JSONRPCMessage): void
}

/** Results that are kept here. */
const kept = new Set(['tools/call', 'tools/list'])
const ticketKey = 'io.witan/kept'
/** What a message other than those may measure, in characters. */
const longestResult = 1024 * 1024
const longestOther = 65_536
/** The most requests of a server that are answered at a time. */
const mostAnswering = 32

/** Creates the inbox of one connection. */
export function createInbox(events: InboxEvents): Inbox {
  const open = new Map<Id, string>()
  const results = new Map<number, Fields>()
  const answering = new Set<Id>()
  let next = 1
  const keep = (result: Fields): number => {
    results.set(next, result)
    return next++
  }
  return {
    sending(message) {
      if ('method' in message && 'id' in message) {
        open.set(message.id, message.method)
        if (message.method === 'initialize') return withoutAsking(message)
      } else if ('id' in message && message.id !== undefined) answering.delete(message.id)
      else if ('method' in message && message.method === 'notifications/cancelled')
        open.delete((message.params as { requestId?: Id } | undefined)?.requestId ?? '')
      return message
    },
    arrived({ value, length }) {
      if (!isFields(value) || value['jsonrpc'] !== '2.0') return null
      const { id, method } = value as { id?: unknown; method?: unknown }
      if (typeof method === 'string' && (typeof id === 'string' || typeof id === 'number'))
        return request({ id, method, value, length }, { answering, events })
      if (typeof method === 'string' && id === undefined) return notification(method, { value, length }, events)
      if (typeof id !== 'string' && typeof id !== 'number') return null
      const asked = open.get(id)
      if (asked === undefined) return null
      open.delete(id)
      if (isFields(value['error'])) return errorMessage(id, value['error'], length)
      if (!isFields(value['result'])) throw new McpError('protocol', 'sent an answer without a result.')
      if (kept.has(asked)) return { jsonrpc: '2.0', id, result: ticketOf(asked, value['result'], keep) }
      if (length > longestResult) throw new McpError('protocol', `sent too long an answer to \`${asked}\`.`)
      return value as unknown as JSONRPCMessage
    },
    isOpen: (id) => open.has(id),
    broken(id) {
      if (!open.delete(id)) return null
      return { jsonrpc: '2.0', id, error: { code: brokenCode, message: 'The connection broke.' } }
    },
    take(result) {
      const ticket = isFields(result) && isFields(result['_meta']) ? result['_meta'][ticketKey] : undefined
      if (typeof ticket !== 'number') return null
      const found = results.get(ticket) ?? null
      results.delete(ticket)
      return found
    },
  }
}

/** A server of 2025 could ask at any time, and nobody could answer: it is not told that people can be asked. */
function withoutAsking(message: Extract<JSONRPCMessage, { method: string }>): JSONRPCMessage {
  const { capabilities, ...params } = (message.params ?? {}) as { capabilities?: Fields }
  const { elicitation: _, ...others } = capabilities ?? {}
  return { ...message, params: { ...params, capabilities: others } } as JSONRPCMessage
}

/** What stands for a result: it passes the library's checks, which cost much for a long one. */
function ticketOf(method: string, result: Fields, keep: (result: Fields) => number): Fields {
  const { resultType } = result
  const head = { ...(resultType === undefined ? {} : { resultType }), _meta: { [ticketKey]: keep(result) } }
  if (resultType === 'input_required') return { ...head, inputRequests: {}, requestState: '' }
  return method === 'tools/call' ? { ...head, content: [] } : { ...head, tools: [], ttlMs: 0, cacheScope: 'private' }
}

function errorMessage(id: Id, { code, message, data }: Fields, length: number): JSONRPCMessage {
  const short = typeof message === 'string' ? message.slice(0, 4_096) : ''
  const error = { code: typeof code === 'number' && Number.isSafeInteger(code) ? code : -32_603, message: short }
  return { jsonrpc: '2.0', id, error: length > longestOther || data === undefined ? error : { ...error, data } }
}

interface Asked {
  readonly id: Id
  readonly method: string
  readonly value: Fields
  readonly length: number
}

function request(
  { id, method, value, length }: Asked,
  { answering, events }: { readonly answering: Set<Id>; readonly events: InboxEvents },
): JSONRPCMessage | null {
  if (length > longestOther || answering.size >= mostAnswering || answering.has(id)) {
    events.log(`A request \`${method}\` of the server was dropped.`)
    return null
  }
  answering.add(id)
  if (method !== 'elicitation/create') return value as unknown as JSONRPCMessage
  events.answer({ jsonrpc: '2.0', id, result: { action: 'cancel' } })
  return null
}

/** What the library needs of the many things that servers tell. */
const passed = new Set([
  'notifications/progress',
  'notifications/cancelled',
  'notifications/subscriptions/acknowledged',
])

function notification(method: string, { value, length }: Arrived, events: InboxEvents): JSONRPCMessage | null {
  if (method === 'notifications/tools/list_changed') events.listChanged()
  else if (method === 'notifications/message') events.log(logLine((value as Fields)['params'], length))
  else if (length <= longestOther && passed.has(method)) return value as JSONRPCMessage
  return null
}

function logLine(params: unknown, length: number): string {
  if (length > longestOther || !isFields(params)) return 'A log message of the server was too long.'
  const { level, logger, data } = params
  const text = typeof data === 'string' ? data : (JSON.stringify(data) ?? '')
  const head = [level, logger].filter((each) => typeof each === 'string').join(' ')
  return head === '' ? text : `${head}: ${text}`
}

/** Whether a value is an object with fields. */
export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
