/** Reads the MCP servers of a configuration: what is left out, what the environment holds, and what is wrong, without a value. */
import { WitanError } from '@witan/protocol'
import { shownName } from '@witan/protocol/names'
import { nearest } from '../../identity/nearest.ts'
import { filledIn } from './fill-in.ts'
import { inlineSecretsOf } from './inline-secrets.ts'
import type { McpClientCredentials, McpSettings, McpTransport } from './mcp.ts'
import { serverNamePattern } from './names.ts'
import { authKeys, hintFor, saysNothing, serverKeys, serverSchema, type ServerOutput } from './settings-schema.ts'

export type { McpServerInput } from './settings-schema.ts'

/** Variables by name; an empty one counts as not set. */
type Environment = Readonly<Record<string, string | undefined>>

const top = 'mcpServers'
const mostServers = 200

/**
 * The servers of a configuration by name, with defaults and with the environment's values for `${NAME}`. Throws `CONFIG_INVALID` or `UNKNOWN_KEY` with the
 * path, such as `mcpServers.files.env.TOKEN`, and never with a value.
 */
export function mcpSettingsOf(input: unknown, env: Environment): ReadonlyMap<string, McpSettings> {
  if (!isRecord(input))
    throw invalid(top, 'must be an object with the servers by name', 'Write `{ "files": { "command": "…" } }`.')
  const names = Object.keys(input)
  if (names.length > mostServers) throw invalid(top, `must have at most ${mostServers} servers`, 'Remove some.')
  return new Map(names.map((name) => [name, settingsOf(name, input[name], env)]))
}

function settingsOf(name: string, input: unknown, env: Environment): McpSettings {
  const path = `${top}.${shown(name)}`
  if (!serverNamePattern.test(name)) throw misnamed(path, name)
  const server = parsed(input, path)
  const inlineSecrets = inlineSecretsOf(server)
  const { trusted, readOnly, effects, onChange, roots, ask, scope } = server
  const { timeoutMs, maxTotalMs, connectTimeoutMs, maxResultCharacters, maxTools, required } = server
  return {
    name,
    transport: transportOf(server, { path, env }),
    ...{ trusted, readOnly, effects, onChange, roots, ask, scope },
    ...{ timeoutMs, maxTotalMs, connectTimeoutMs, maxResultCharacters, maxTools, required },
    ...(inlineSecrets.length === 0 ? {} : { inlineSecrets }),
  }
}

function misnamed(path: string, name: string): WitanError {
  const better = name
    .slice(0, 200)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 32)
  const hint = better === '' ? 'Choose another name.' : `Call it \`${better}\`.`
  return invalid(path, 'must have a name of a-z, 0-9 and `-`, at most 32 characters', hint)
}

/** The server by its schema. Keys of other clients that say nothing are passed over. */
function parsed(input: unknown, path: string): ServerOutput {
  if (!isRecord(input)) throw invalid(path, 'must be an object with `command` or `url`', 'Write `{ "command": "…" }`.')
  if (input['type'] === 'sse')
    throw invalid(
      `${path}.type`,
      'is `sse`, which is not supported',
      'Use the streamable HTTP address of the server: `"type": "http"`.',
    )
  const known: Record<string, unknown> = {}
  for (const key of Object.keys(input)) {
    if (serverKeys.includes(key)) known[key] = input[key]
    else if (!saysNothing(key, input[key])) throw unknownKey(path, key, serverKeys)
  }
  const { auth } = input
  if (isRecord(auth))
    for (const key of Object.keys(auth)) if (!authKeys.includes(key)) throw unknownKey(`${path}.auth`, key, authKeys)
  const read = serverSchema.safeParse(known)
  if (read.success) return read.data
  const [issue] = read.error.issues
  const place = [path, ...(issue?.path ?? []).map((step) => shown(String(step)))].join('.')
  throw invalid(place, issue?.message ?? 'is not valid', 'Correct it in the configuration.')
}

function unknownKey(path: string, key: string, known: readonly string[]): WitanError {
  const place = `${path}.${shown(key)}`
  if (key === 'disabled')
    return unknown(place, path, 'Remove the server, or name it in no agent: then nothing of it is started.')
  const elsewhere = known === serverKeys ? hintFor(key) : null
  if (elsewhere !== null) return unknown(place, path, elsewhere)
  const near = key.length > 100 ? null : nearest(key, known)
  return unknown(place, path, near === null ? `Known: ${known.join(', ')}.` : `Did you mean \`${near}\`?`)
}

function unknown(place: string, path: string, hint: string): WitanError {
  return new WitanError('UNKNOWN_KEY', `\`${place}\` is not a known key of \`${path}\`.`, { path: place, hint })
}

interface Place {
  readonly path: string
  readonly env: Environment
}

function transportOf(server: ServerOutput, place: Place): McpTransport {
  const { type, command, url } = server
  const { path } = place
  if (command !== undefined && url !== undefined)
    throw invalid(path, 'has both `command` and `url`', 'Leave one of them out: a server is a process, or an address.')
  if (command === undefined && url === undefined)
    throw invalid(path, 'has neither `command` nor `url`', 'Write the command that starts the server, or its address.')
  const isStdio = command !== undefined
  if (type !== undefined && (type === 'stdio') !== isStdio)
    throw invalid(
      `${path}.type`,
      `does not fit \`${isStdio ? 'command' : 'url'}\``,
      `Write \`${isStdio ? 'stdio' : 'http'}\`, or leave it out.`,
    )
  const other = (isStdio ? (['headers', 'auth'] as const) : (['args', 'cwd', 'env'] as const)).find(
    (key) => server[key] !== undefined && server[key] !== null,
  )
  if (other !== undefined)
    throw invalid(`${path}.${other}`, `belongs to a server with \`${isStdio ? 'url' : 'command'}\``, 'Leave it out.')
  return isStdio ? processOf(command, server, place) : addressOf(url ?? '', server, place)
}

function processOf(command: string, { args = [], cwd = null, env = {} }: ServerOutput, place: Place): McpTransport {
  const { path } = place
  for (const [key, text] of Object.entries({ command, cwd: cwd ?? '' }))
    if (text.includes('${'))
      throw invalid(
        `${path}.${key}`,
        'cannot have a variable',
        'It is filled in in `args`, `env`, `headers` and `url`.',
      )
  for (const [key, text] of Object.entries({ command, cwd: cwd ?? '' })) noNul(text, `${path}.${key}`)
  return {
    type: 'stdio',
    command,
    args: args.map((text, at) => noNul(filledIn(text, `${path}.args.${at}`, place.env), `${path}.args.${at}`)),
    cwd,
    env: mapped(env, (text, name) => noNul(filledIn(text, `${path}.env.${name}`, place.env), `${path}.env.${name}`)),
  }
}

function addressOf(url: string, { headers = {}, auth = null }: ServerOutput, place: Place): McpTransport {
  const { path, env } = place
  const names = Object.keys(headers).map((name) => name.toLowerCase())
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  if (twice !== undefined) throw invalid(`${path}.headers`, `has \`${twice}\` twice`, 'Leave one of them out.')
  const own = names.find((name) => protocolHeaders.has(name))
  if (own !== undefined)
    throw invalid(`${path}.headers.${own}`, 'is a header that the protocol writes', 'Leave it out.')
  if (auth !== null && names.includes('authorization'))
    throw invalid(`${path}.auth`, 'cannot stand beside the header `Authorization`', 'Leave one of them out.')
  return {
    type: 'http',
    url: webAddress(filledIn(url, `${path}.url`, env), `${path}.url`),
    headers: mapped(headers, (text, name) => {
      const filled = filledIn(text, `${path}.headers.${name}`, env).trim()
      if (/^[\t\x20-\x7e\x80-\xff]*$/.test(filled)) return filled
      throw invalid(`${path}.headers.${name}`, 'must be one line of plain text', 'Look at the variables that it names.')
    }),
    auth: auth === null ? null : credentialsOf(auth, { path: `${path}.auth`, env }),
  }
}

/** Headers that the protocol or the connection writes. */
const protocolHeaders: ReadonlySet<string> = new Set([
  ...['accept', 'connection', 'content-length', 'content-type', 'host', 'last-event-id', 'transfer-encoding'],
  ...['mcp-method', 'mcp-name', 'mcp-protocol-version', 'mcp-session-id'],
])

function credentialsOf(
  { kind, tokenUrl, clientId, clientSecretEnv, scope }: NonNullable<ServerOutput['auth']>,
  { path, env }: Place,
): McpClientCredentials {
  const clientSecret = env[clientSecretEnv] ?? ''
  if (clientSecret === '')
    throw invalid(
      `${path}.clientSecretEnv`,
      `names the variable ${clientSecretEnv}, which is not set`,
      `Set ${clientSecretEnv}.`,
    )
  return { kind, tokenUrl: webAddress(tokenUrl, `${path}.tokenUrl`), clientId, clientSecret, scope }
}

/** An address of the web. A password in it would stand in logs and errors. */
function webAddress(text: string, path: string): string {
  const at = URL.parse(text)
  if (at === null || !/^https?:$/.test(at.protocol))
    throw invalid(path, 'must be an http or https URL', 'Such as `https://crm.example/mcp`.')
  if (at.username !== '' || at.password !== '')
    throw invalid(
      path,
      'must not hold a user or a password',
      'Write them into `headers`, with a variable of the environment.',
    )
  return at.href
}

function mapped(
  record: Readonly<Record<string, string>>,
  make: (text: string, name: string) => string,
): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(record).map(([name, text]) => [name, make(text, name)]))
}

function noNul(text: string, path: string): string {
  if (text.includes('\0')) throw invalid(path, 'must not have the character U+0000', 'Remove it.')
  return text
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function shown(name: string): string {
  return name.length > 64 ? `${shownName(name.slice(0, 64).toWellFormed())}…` : shownName(name)
}

function invalid(path: string, what: string, hint: string): WitanError {
  return new WitanError('CONFIG_INVALID', `\`${path}\` ${what}.`, { path, hint })
}
