/** Every place that begins a connection, and who names where it leads. What others name goes through `safeFetch` alone [D21]. */
import type { SourceFile, Tree, Violation } from './source.ts'
import { isTest, withoutStrings } from './source.ts'

/** Who names the address. An operator may name one of his own network; what anybody else names must be public. */
const named = {
  others:
    'other servers, and whoever writes an agent: `safeFetch`, which checks each address and connects to what it has checked',
  operator:
    'the operator, in the configuration: a database, a model or a collector on a private network is the usual case',
  itself: 'this program: its own server, on this machine',
  user: 'who runs the client or the command: it goes where that person points it',
  page: 'nobody: a page of the Studio asks the server that it came from',
} as const

/** The files that may, and why. */
const places: Readonly<Record<string, keyof typeof named>> = {
  'packages/core/src/federation/connections.ts': 'others',
  'packages/core/src/federation/reach.ts': 'others',
  'packages/core/src/mcp/http-request.ts': 'operator',
  'packages/core/src/model/adapters/openai-compatible.ts': 'operator',
  'packages/core/src/model/adapters/openai-compatible-embedding.ts': 'operator',
  'packages/core/src/store/drivers/postgres.ts': 'operator',
  'packages/core/src/store/drivers/postgres-inspect.ts': 'operator',
  'packages/core/src/telemetry/mlflow-rest.ts': 'operator',
  'packages/core/src/telemetry/post.ts': 'operator',
  'packages/core/src/tool/kinds/postgres-source-session.ts': 'operator',
  'packages/server/src/issuer-keys.ts': 'operator',
  'packages/server/src/server-file.ts': 'itself',
  'packages/cli/src/doctor/connections.ts': 'operator',
  'packages/cli/src/listening.ts': 'itself',
  'packages/client/src/client.ts': 'user',
  'packages/client/src/transport.ts': 'user',
  'packages/studio/src/state/account.ts': 'page',
  'packages/studio/src/state/connection.ts': 'page',
}

/** Modules that connect, and those of their names that do not. */
const modules =
  /\b(?:from|import\s*\()\s*['"](node:(?:http|https|http2|net|tls|dgram|dns)(?:\/promises)?|(?:http|https|http2|net|tls|dgram|dns)|undici|ws|pg|axios|node-fetch)['"]/
const harmless = new Set(['isIP', 'isIPv4', 'isIPv6', 'createServer', 'STATUS_CODES'])
const globals =
  /\b(?:globalThis|global|window|self)\.fetch\b|(?:\?\?|\|\|)\s*fetch\b|\bnew (?:WebSocket|EventSource|XMLHttpRequest)\b|\bsendBeacon\b|\bcreateRemoteJWKSet\b/
const bareFetch = /(?<![.\w])fetch\s*\(/
/** A file whose `fetch` is one that it was handed, or one of its own. */
const ownFetch = /\b(?:function|const|let)\s+fetch\b|[{(,]\s*fetch\s*[,:})]/

/** Checks the sources of packages: connections begin at these places, and follow no redirect to another. */
export function checkOutgoing({ files }: Tree): Violation[] {
  return [...files.values()].flatMap((file) => {
    if (!/^packages\/[^/]+\/(?:src|bin)\//.test(file.path) || isTest(file.path) || isPublishedFake(file)) return []
    const way = wayOut(file)
    const who = places[file.path]
    if (way === null) return who === undefined ? [] : [needless(file)]
    return who === undefined ? [unlisted(file, way)] : redirects(file, who)
  })
}

/** Harnesses and fakes for tests of others. */
const isPublishedFake = ({ path }: SourceFile) => path.includes('/src/testing/')

/** How a file begins a connection; null if it begins none. */
function wayOut({ code }: SourceFile): string | null {
  for (const line of code
    .split(';')
    .join('\n')
    .split(/\n(?=\s*(?:import|export|const|}|\w))/)) {
    const module = modules.exec(line)?.[1]
    if (module !== undefined && namesIn(line).some((name) => !harmless.has(name))) return `imports \`${module}\``
  }
  const bare = withoutStrings(code)
  const global = globals.exec(bare)?.[0]
  if (global !== undefined) return `uses \`${global.trim()}\``
  return bareFetch.test(bare) && !ownFetch.test(bare) ? 'calls `fetch`' : null
}

/** The values that an import brings; of a dynamic one its module. */
function namesIn(line: string): readonly string[] {
  if (/\bimport\s*\(/.test(line)) return ['*']
  if (/^\s*(?:import|export)\s+type\b/.test(line)) return []
  const list = /\{([^}]*)\}/.exec(line)?.[1]
  if (list === undefined) return ['*']
  const written = list.split(',').map((name) => name.trim())
  return written.filter((name) => name !== '' && !name.startsWith('type ')).map((name) => name.split(/\s/)[0] ?? '')
}

/** Where it leads is checked once: a redirect would lead on to what nobody has named. */
function redirects(file: SourceFile, who: keyof typeof named): Violation[] {
  const calls = /(?<!\w)fetch\s*\(\s*(?:url|`)/.test(file.code)
  if (who === 'user' || who === 'page' || !calls || /\bredirect: '(?:manual|error)'/.test(file.code)) return []
  const fix = "write `redirect: 'manual'`"
  return [{ file: file.path, what: 'follows redirects', allowed: 'requests to what was named alone', fix }]
}

function unlisted({ path }: SourceFile, way: string): Violation {
  const allowed = 'the places of scripts/structure/outgoing.ts'
  const fix = 'take `safeFetch`; if its operator names where it leads, add it there with who does'
  return { file: path, what: `${way}, so it may begin a connection`, allowed, fix }
}

function needless({ path }: SourceFile): Violation {
  const fix = 'take it out of scripts/structure/outgoing.ts'
  return { file: path, what: 'is listed as beginning connections, and begins none', allowed: 'places that do', fix }
}
