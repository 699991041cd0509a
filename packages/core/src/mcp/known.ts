/** What all connections to one MCP server share: its tokens, its log, and what no message may show. */
import type { Clock } from '../identity/clock.ts'
import type { McpSession, McpSettings } from '../tool/mcp/mcp.ts'
import type { Known } from './connect.ts'
import type { HttpPools } from './http-request.ts'
import { createServerLog } from './lines-log.ts'
import { createTokens } from './token.ts'
import { type Hide, hiding } from './trouble.ts'

/** Values of the last calls that a server may repeat. */
const mostBound = 256
/** The last tokens: an old one is no secret for long. */
const mostTokens = 64

/** Creates it from the settings. */
export function knownOf(
  settings: McpSettings,
  of: { readonly clock: Clock; readonly pools: HttpPools; log(line: string): void },
): Known {
  const { transport, name } = settings
  const values =
    transport.type === 'stdio'
      ? Object.values(transport.env)
      : [...Object.values(transport.headers), transport.auth?.clientSecret ?? '', ...inUrl(transport.url)]
  let hideNow = hiding(values)
  const bound = new Map<string, true>()
  let hideBound: Hide = (text) => text
  const hide = (text: string) => hideBound(hideNow(text))
  let tokens: readonly string[] = []
  const learned = (token: string) => {
    tokens = [...tokens, token].slice(-mostTokens)
    hideNow = hiding([...values, ...tokens])
  }
  const auth = transport.type === 'http' ? transport.auth : null
  return {
    isLegacy: false,
    tokens: auth === null ? null : createTokens(auth, { clock: of.clock, pools: of.pools, learned }),
    hide,
    learn(given) {
      const news = given.filter((value) => !bound.has(value))
      for (const value of news) bound.set(value, true)
      for (const [oldest] of bound) {
        if (bound.size <= mostBound) break
        bound.delete(oldest)
      }
      if (news.length > 0) hideBound = hiding(bound.keys())
    },
    log: createServerLog({ server: name, clock: of.clock, hide, log: of.log }),
  }
}

/** What a URL may hold that nobody should read. */
function inUrl(text: string): readonly string[] {
  const url = URL.parse(text)
  if (url === null) return []
  return [url.username, url.password, ...url.searchParams.values()].filter((each) => each !== '')
}

/** The same server, whose messages do not show the headers of a session either. It shares what is learned. */
export function withHeaders(known: Known, { headers }: McpSession): Known {
  const values = Object.values(headers)
  if (values.length === 0) return known
  const own = hiding(values)
  return {
    get isLegacy() {
      return known.isLegacy
    },
    set isLegacy(is) {
      known.isLegacy = is
    },
    tokens: known.tokens,
    hide: (text) => own(known.hide(text)),
    learn: known.learn,
    log: (text) => known.log(own(text)),
  }
}
