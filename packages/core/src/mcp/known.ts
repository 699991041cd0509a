/** What all connections to one MCP server share: its tokens, its log, and what no message may show. */
import type { Clock } from '../identity/clock.ts'
import type { McpSession, McpSettings } from '../tool/mcp/mcp.ts'
import type { Known } from './connect.ts'
import type { HttpPools } from './http-request.ts'
import { createServerLog } from './lines-log.ts'
import { createTokens } from './token.ts'
import { hiding } from './trouble.ts'

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
  const hide = (text: string) => hideNow(text)
  const learned = (token: string) => {
    values.push(token)
    // The last few tokens: an old one is no secret for long.
    hideNow = hiding([...values.slice(0, values.length - 1).slice(-64), token])
  }
  const auth = transport.type === 'http' ? transport.auth : null
  return {
    isLegacy: false,
    tokens: auth === null ? null : createTokens(auth, { clock: of.clock, pools: of.pools, learned }),
    hide,
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
    log: (text) => known.log(own(text)),
  }
}
