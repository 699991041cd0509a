/** What went wrong with an MCP server, and the words for it. No message holds a header, a variable of the environment or a token. */
import type { McpFailure } from '../tool/mcp/mcp.ts'

/** A server's answer if it needs what a client does not announce, such as to ask its model. */
const lacksCapability = -32_021

/** The code of an error that this side makes up for a request whose connection broke. */
export const brokenCode = -31_999

/** Why a server did not do what it was asked for. The message lacks the server's name, which `failureOf` puts before it. */
export class McpError extends Error {
  readonly reason: McpFailure['reason']
  /** Whether the server cannot have done anything: a new connection may try the same once more. */
  readonly isUnsent: boolean

  constructor(reason: McpFailure['reason'], message: string, isUnsent = false) {
    super(message)
    this.name = 'McpError'
    this.reason = reason
    this.isUnsent = isUnsent
  }
}

/** Replaces what must not be seen in a text. */
export type Hide = (text: string) => string

/** Shorter values are words such as `info`, and are not hidden. */
const shortestHidden = 4
const longestSaid = 300

/** Hides values, and the part behind the first space of each, such as the token of `Bearer …`. */
export function hiding(values: Iterable<string>): Hide {
  const hidden = new Set<string>()
  for (const value of values)
    for (const part of [value, value.slice(value.indexOf(' ') + 1)]) if (part.length >= shortestHidden) hidden.add(part)
  const longestFirst = [...hidden].sort((one, other) => other.length - one.length)
  return (text) => longestFirst.reduce((rest, value) => rest.replaceAll(value, '[hidden]'), text)
}

/** What a server said, on one line: without control characters, without hidden values, and at most 300 characters. */
export function said(text: string, hide: Hide, most = longestSaid): string {
  // Cut before and after: a hidden value may be longer than what stands for it.
  const line = hide(text.slice(0, 16 * most))
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
  return line.length > most ? `${line.slice(0, most - 1)}…` : line
}

/** The failure that an error means, as callers read it. */
export function failureOf(server: string, error: McpError): McpFailure {
  return { kind: 'failed', reason: error.reason, detail: `\`${server}\` ${error.message}` }
}

/** How long something took, in words. */
export function seconds(ms: number): string {
  return ms % 1000 === 0 || ms >= 10_000 ? `${Math.round(ms / 1000)} s` : `${ms} ms`
}

/** Reads an error of the protocol's library. `hasSession`: whether a status that denies a session can be meant. */
export function errorOf(error: unknown, hide: Hide, hasSession = false): McpError {
  const own = findOwn(error)
  if (own !== null) return own
  const { code, message = '', data } = (error ?? {}) as { code?: unknown; message?: string; data?: unknown }
  const { status, text } = (data ?? {}) as { status?: unknown; text?: unknown }
  if (typeof code === 'string' && typeof status === 'number') {
    const words = typeof text === 'string' ? text : ''
    return statusError({ status, words, hasSession }, hide)
  }
  if (code === brokenCode) return new McpError('lost', 'broke the connection before it answered.')
  if (code === lacksCapability)
    return new McpError('refused', `asked for something that is not offered here: ${said(message, hide)}`)
  if (typeof code === 'number') return new McpError('failed', `answered with an error: ${said(message, hide)}`)
  if (code === 'CONNECTION_CLOSED') return new McpError('lost', 'ended the connection.')
  if (code === 'NOT_CONNECTED' || message === 'Not connected')
    return new McpError('unavailable', 'is not connected.', true)
  if (code === 'REQUEST_TIMEOUT') return new McpError('timeout', 'did not answer in time.')
  if (code === 'UNSUPPORTED_RESULT_TYPE') return new McpError('protocol', 'answered with a result of an unknown type.')
  return new McpError('protocol', 'gave an answer that breaks the protocol.')
}

/** Our own error inside one of the library. */
function findOwn(error: unknown): McpError | null {
  let at: unknown = error
  for (let depth = 0; depth < 8 && typeof at === 'object' && at !== null; depth++) {
    if (at instanceof McpError) return at
    const { cause, data } = at as { cause?: unknown; data?: { cause?: unknown } }
    at = cause ?? data?.cause
  }
  return null
}

interface Refused {
  readonly status: number
  readonly words: string
  readonly hasSession: boolean
}

function statusError({ status, words, hasSession }: Refused, hide: Hide): McpError {
  if (hasSession && (status === 404 || (status === 400 && /session/i.test(words))))
    return new McpError('unavailable', 'ended its session.', true)
  const what = `answered with HTTP ${status}${words === '' ? '.' : `: ${said(words, hide)}`}`
  if (status === 502 || status === 504) return new McpError('lost', what)
  const isRefusal = [401, 403, 404, 405, 429, 503].includes(status)
  return new McpError(isRefusal ? 'unavailable' : 'failed', what)
}
