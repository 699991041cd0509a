/** Bearer tokens by the client credentials grant of OAuth 2: kept until shortly before they expire, and asked for one at a time. */
import type { Clock } from '../identity/clock.ts'
import type { McpClientCredentials } from '../tool/mcp/mcp.ts'
import { type HttpPools, sendHttp, textOf } from './http-request.ts'
import { isFields } from './inbox.ts'
import { McpError } from './trouble.ts'

/** Tokens for one server. */
export interface Tokens {
  /** A token that holds for a while. Rejects with an `McpError`. */
  get(): Promise<string>
  /** Forgets a token that was refused. */
  refused(token: string): void
}

const mostBytes = 65_536
const timeoutMs = 10_000
/** Without a word of how long it holds, and how long before its end it is renewed at most. */
const usualMs = 300_000
const beforeMs = 60_000

/** Creates the source of tokens of one server. `learned` is told each, so that no message shows it. */
export function createTokens(
  credentials: McpClientCredentials,
  of: { readonly clock: Clock; readonly pools: HttpPools; learned(token: string): void },
): Tokens {
  let token: { readonly text: string; readonly until: number } | null = null
  let asking: Promise<string> | null = null
  const ask = async (): Promise<string> => {
    const limit = new AbortController()
    const cancel = of.clock.after(timeoutMs, () => limit.abort(refusal('did not answer')), { background: true })
    try {
      const { text, ms } = await askFor(credentials, of.pools, limit.signal)
      of.learned(text)
      token = { text, until: of.clock.now() + ms - Math.min(beforeMs, ms / 10) }
      return text
    } finally {
      cancel()
    }
  }
  return {
    async get() {
      if (token !== null && of.clock.now() < token.until) return token.text
      asking ??= ask().finally(() => {
        asking = null
      })
      return asking
    },
    refused(text) {
      if (token?.text === text) token = null
    },
  }
}

async function askFor(
  { tokenUrl, clientId, clientSecret, scope }: McpClientCredentials,
  pools: HttpPools,
  signal: AbortSignal,
): Promise<{ readonly text: string; readonly ms: number }> {
  const pair = `${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`
  const body = new URLSearchParams({ grant_type: 'client_credentials', ...(scope === null ? {} : { scope }) })
  const headers = {
    authorization: `Basic ${Buffer.from(pair).toString('base64')}`,
    'content-type': 'application/x-www-form-urlencoded',
    accept: 'application/json',
  }
  const reply = await sendHttp(new URL(tokenUrl), { method: 'POST', headers, body: String(body), signal }, pools).catch(
    (error: unknown): never => {
      throw error instanceof McpError && error.reason !== 'unavailable' ? error : refusal('cannot be reached')
    },
  )
  const text = (await textOf(reply, mostBytes)).toString('utf8')
  if (reply.statusCode !== 200) throw refusal(`answered with HTTP ${reply.statusCode}`)
  const { access_token: found, expires_in: expires } = fieldsOf(text)
  if (typeof found !== 'string' || !/^[\x21-\x7e]{1,16384}$/.test(found)) throw refusal('answered without a token')
  const holds = Number(expires)
  return { text: found, ms: Number.isFinite(holds) && holds > 0 ? Math.min(holds, 86_400) * 1000 : usualMs }
}

function fieldsOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    return isFields(value) ? value : {}
  } catch {
    return {}
  }
}

function refusal(what: string): McpError {
  return new McpError('unavailable', `has no token: its token server ${what}.`, true)
}
