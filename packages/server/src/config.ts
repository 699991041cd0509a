/** Finds, reads and checks the configuration, and lets the environment override it. */
import { access, readFile, stat } from 'node:fs/promises'
import { dirname, extname, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { isWitanError, WitanError } from '@witan/protocol'
import { parseExact } from '@witan/protocol/digits'
import type { z } from 'zod'
import { type ConnectionConfig, type configSchema, parseConfig } from './config-schema.ts'
import { type LogLevel, logLevels } from './log.ts'
import { type McpConfig, mcpOfConfig } from './mcp-config.ts'

/** A configuration as `witan.config.ts` exports it by default. */
export type ConfigInput = z.input<typeof configSchema>

/** A checked configuration: defaults filled in, environment applied, paths absolute. */
export interface Config extends z.output<typeof configSchema> {
  /** Null where there is no file. */
  readonly file: string | null
  /** What `mcpServers` says, with the environment's values, and what the lock file beside it pins. */
  readonly mcp: McpConfig
  /** The folder against which relative paths were resolved. */
  readonly folder: string
  readonly logLevel: LogLevel
  /** How long a job is leased, in ms; null for the runtime's default. */
  readonly leaseMs: number | null
  /** The environment that keys of connections are read from. */
  readonly env: Environment
}

/** Variables by name; an empty one counts as unset. */
export type Environment = Readonly<Record<string, string | undefined>>

/** Where to look. `file` (or `WITAN_CONFIG`) must exist; without one, the file is looked for upwards from `cwd`. */
export interface ConfigLocation {
  readonly file?: string
  readonly cwd?: string
  readonly env?: Environment
}

/** The file names of a configuration; the first one that exists in a folder is used. */
export const configFileNames: readonly string[] = ['witan.config.ts', 'witan.config.json']

/** Types a configuration for the editor; returns it unchanged. */
export function defineConfig(config: ConfigInput): ConfigInput {
  return config
}

/** Loads the configuration; without any file, the defaults. Throws `CONFIG_INVALID` or `UNKNOWN_KEY` with the file and the key's path. */
export async function loadConfig(location: ConfigLocation = {}): Promise<Config> {
  const env = location.env ?? process.env
  const cwd = resolve(location.cwd ?? process.cwd())
  const named = location.file ?? readVariable(env, 'WITAN_CONFIG')
  const file = named === undefined ? await findUpwards(cwd) : resolve(cwd, named)
  const written = file === null ? {} : await readConfigFile(file)
  const folder = file === null ? cwd : dirname(file)
  try {
    const config = parseConfig(override(written, env))
    const mcp = await mcpOfConfig(config.mcpServers, { folder, env })
    return finish(config, { file, folder, env, mcp })
  } catch (error) {
    if (!isWitanError(error) || file === null) throw error
    const options = {
      ...(error.path === null ? {} : { path: error.path }),
      ...(error.hint === null ? {} : { hint: error.hint }),
    }
    throw new WitanError(error.code, `${file}: ${error.message}`, options)
  }
}

/** The key that a connection sends, from the environment; null where none is set. */
export function apiKeyOf(connection: ConnectionConfig, env: Environment): string | null {
  return connection.apiKeyEnv === undefined ? null : (readVariable(env, connection.apiKeyEnv) ?? null)
}

/**
 * The database of a PostgreSQL source, from the environment. Throws `CONFIG_INVALID`, naming the variable and never its
 * value, if it is not set or is not a PostgreSQL URL.
 */
export function sourceUrlOf(name: string, urlEnv: string, env: Environment): string {
  return urlIn(urlEnv, env, { what: `the source \`${name}\``, path: `sources.${name}.urlEnv` })
}

/** The address of a cluster of the store, from the environment. Throws `CONFIG_INVALID`. */
export function clusterUrlOf(name: string, urlEnv: string, env: Environment): string {
  return urlIn(urlEnv, env, { what: `the cluster \`${name}\``, path: `store.clusters.${name}.urlEnv` })
}

function urlIn(
  urlEnv: string,
  env: Environment,
  { what, path }: { readonly what: string; readonly path: string },
): string {
  const url = readVariable(env, urlEnv)
  const hint = `Set ${urlEnv} to postgres://user:password@host:port/database; special characters in the password as \`%\` and two digits.`
  if (url === undefined) throw invalid(`The environment variable ${urlEnv} of ${what} is not set.`, hint, path)
  if (isPostgres(url) && URL.canParse(url)) return url
  throw invalid(`The environment variable ${urlEnv} of ${what} holds no URL of PostgreSQL.`, hint, path)
}

/** The path of a `file:` store; null for any other. */
export function storeFile(config: { readonly store: { readonly url: string } }): string | null {
  const { url } = config.store
  return url.startsWith('file:') ? url.slice('file:'.length) : null
}

/** Whether the store is on a PostgreSQL server. The address may hold a password: nothing may show it. */
export function isPostgres(url: string): boolean {
  return /^postgres(ql)?:\/\//.test(url)
}

async function findUpwards(from: string): Promise<string | null> {
  for (let folder = from; ; folder = dirname(folder)) {
    for (const name of configFileNames) {
      const file = join(folder, name)
      const exists = await access(file).then(
        () => true,
        () => false,
      )
      if (exists) return file
    }
    if (dirname(folder) === folder) return null
  }
}

async function readConfigFile(file: string): Promise<unknown> {
  const found = await stat(file).catch(() => null)
  if (found === null)
    throw invalid(`${file} does not exist.`, 'Give the path of a witan.config.ts or witan.config.json.')
  if (extname(file) === '.json') return parseFile(file, await readFile(file, 'utf8'))
  if (!/\.[mc]?[jt]s$/.test(file)) throw invalid(`${file} is neither TypeScript nor JSON.`, 'Use a .ts or .json file.')
  const loaded: { readonly default?: unknown } = await import(`${pathToFileURL(file).href}?at=${found.mtimeMs}`)
  const { default: config } = loaded
  if (typeof config === 'object' && config !== null) return config
  throw invalid(`${file} exports no configuration.`, 'Write `export default defineConfig({ … })`.')
}

function parseFile(file: string, text: string): unknown {
  try {
    return parseExact(text)
  } catch (error) {
    const at = /position (\d+)/.exec(error instanceof Error ? error.message : '')?.[1]
    const before = text.slice(0, at === undefined ? text.length : Number(at)).split('\n')
    const place = `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`
    throw invalid(
      `${file} is not JSON: see ${place}.`,
      'JSON has no comments and no trailing commas; a .ts file may have both.',
    )
  }
}

/** The configuration with the environment's values, before the check. */
function override(written: unknown, env: Environment): unknown {
  const host = readVariable(env, 'WITAN_HOST')
  const port = readVariable(env, 'WITAN_PORT')
  const url = readVariable(env, 'WITAN_STORE_URL')
  const listenUrl = readVariable(env, 'WITAN_STORE_LISTEN_URL')
  const mode = readVariable(env, 'WITAN_AUTH_MODE')
  const depth = readVariable(env, 'MAX_SUB_AGENT_DEPTH')
  let config = written
  if (host !== undefined) config = put(config, ['server', 'host'], host)
  if (port !== undefined) config = put(config, ['server', 'port'], integer('WITAN_PORT', port, [0, 65_535]))
  if (url !== undefined) config = put(config, ['store', 'url'], url)
  if (listenUrl !== undefined) config = put(config, ['store', 'listenUrl'], listenUrl)
  if (mode !== undefined) config = put(config, ['auth', 'mode'], mode)
  if (depth !== undefined)
    config = put(config, ['limits', 'maxDepth'], integer('MAX_SUB_AGENT_DEPTH', depth, [1, 1000]))
  return config
}

function put(config: unknown, [group, key]: readonly [string, string], value: unknown): unknown {
  const outer = typeof config === 'object' && config !== null ? config : {}
  const inner: unknown = Reflect.get(outer, group)
  return { ...outer, [group]: { ...(typeof inner === 'object' ? inner : {}), [key]: value } }
}

/** Names the variable, so that the error does not blame a correct file. */
function integer(variable: string, text: string, [least, most]: readonly [number, number]): number {
  if (variable === 'MAX_SUB_AGENT_DEPTH' && text === 'Infinity') return Number.POSITIVE_INFINITY
  const given = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
  if (given >= least && given <= most) return given
  throw invalid(
    `The environment variable ${variable} must be a whole number from ${least} to ${most}.`,
    `Unset ${variable} or correct it.`,
  )
}

function finish(config: z.output<typeof configSchema>, found: Pick<Config, 'file' | 'folder' | 'env' | 'mcp'>): Config {
  const { folder, env } = found
  const sources = Object.fromEntries(
    Object.entries(config.sources).map(([name, source]) => [
      name,
      source.kind === 'sqlite' ? { ...source, file: resolve(folder, source.file) } : source,
    ]),
  )
  return {
    ...config,
    ...found,
    store: { ...config.store, url: storeUrl(config.store.url, folder) },
    sources,
    logLevel: logLevelOf(env),
    leaseMs: leaseOf(env),
  }
}

function storeUrl(url: string, folder: string): string {
  if (url === 'memory:' || isPostgres(url)) return url
  if (url.startsWith('file://')) return `file:${fileURLToPath(url)}`
  if (url.startsWith('file:') && url.length > 'file:'.length)
    return `file:${resolve(folder, url.slice('file:'.length))}`
  throw invalid(
    '`store.url` must be `file:` and a path, `postgres://` and a server, or `memory:`.',
    'Such as `file:./.witan/witan.db` or `postgres://user:password@host:5432/database`.',
    'store.url',
  )
}

function logLevelOf(env: Environment): LogLevel {
  const given = readVariable(env, 'WITAN_LOG_LEVEL') ?? 'info'
  const level = logLevels.find((one) => one === given)
  if (level !== undefined) return level
  throw invalid(
    `The environment variable WITAN_LOG_LEVEL must be one of ${logLevels.join(', ')}.`,
    'Unset it or correct it.',
  )
}

/** Below 100 ms a lease would lapse under its own heartbeats. */
function leaseOf(env: Environment): number | null {
  const given = readVariable(env, 'WITAN_LEASE_MS')
  if (given === undefined) return null
  return integer('WITAN_LEASE_MS', given, [100, 999_999_999])
}

function readVariable(env: Environment, name: string): string | undefined {
  return env[name] === '' ? undefined : env[name]
}

function invalid(detail: string, hint: string, path?: string): WitanError {
  return new WitanError('CONFIG_INVALID', detail, { hint, ...(path === undefined ? {} : { path }) })
}
