/** What a configuration says about other servers: our own names, and how far calls go. */
import { readDomain, readLocal } from '@witan/protocol/names'
import { databaseNamePattern } from '@witan/protocol/keys'
import { WitanError } from '@witan/protocol'
import { z } from 'zod'
import { issuersSchema, trustSchema } from './trust-config.ts'

/** A domain in any case and alphabet, kept in canonical form. */
const domain = z
  .string()
  .max(400)
  .transform((text, context) => {
    const read = readDomain(text)
    if (read.problem === null) return read.value
    context.addIssue({ code: 'custom', message: `must be a domain such as \`bots.example.com\`: ${read.problem}` })
    return z.NEVER
  })

/** Only an origin: cards and keys stand at fixed paths below it. */
const origin = z
  .string()
  .max(300)
  .transform((text, context) => {
    const url = URL.canParse(text) ? new URL(text) : null
    const isPlain = url !== null && /^https?:$/.test(url.protocol) && url.pathname === '/' && url.username === ''
    if (isPlain && url.search === '' && url.hash === '' && url.password === '') return url.origin
    context.addIssue({
      code: 'custom',
      message: 'must be `https://` or `http://` and a host, such as `https://bots.example.com`, without a path',
    })
    return z.NEVER
  })

/** The keys of `server` that name it to others. */
export const ownNames = {
  /** Where others reach this server. Default: `http://` with host and port. Its host is an allowed Host. */
  publicUrl: origin.exactOptional(),
  /** The domain of the addresses of the database `default`. Without it nothing is published. */
  domain: domain.exactOptional(),
  /** Further domains, each with the database whose agents have addresses there. */
  domains: z.record(z.string(), z.string().regex(databaseNamePattern)).exactOptional(),
}

const resolved = z
  .string()
  .max(300)
  .refine(
    (text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) && new URL(text).username === '',
    'must be a URL such as `http://127.0.0.1:4802`',
  )
const variablePattern = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/
const hostPattern = /^[a-z0-9.-]{1,253}(?::\d{1,5})?$/

export const federationSchema = z
  .strictObject({
    /** How many hops a chain of calls between servers may have; a ceiling that comes in only lowers it. */
    maxHops: z.number().int().min(1).max(64).default(4),
    /** How many tasks of one caller from outside may be open. */
    maxOpenTasks: z.number().int().min(1).max(10_000).default(64),
    /** The local part of the agent that the hub asks where a text names none. */
    defaultAgent: z
      .string()
      .refine((text) => readLocal(text).value === text, 'must be the local part of an address, such as `docs`')
      .nullable()
      .default(null),
    /** For tests and private networks: requests to a host go to the origin of this URL, which may be plain HTTP or private. */
    resolve: z
      .record(z.string().regex(hostPattern, { error: 'must be a host, or a host and a port, in lower case' }), resolved)
      .default({}),
    /** Whose evidence is believed, and about whom. Every server is believed about its own addresses. */
    trust: trustSchema,
    /** In code: issuers that make evidence anew for the next server. */
    issuers: issuersSchema,
    /** The domains to which a part of a tree's budget is sent, and from which one is accepted. */
    budgets: z.array(domain).max(1000).default([]),
    /** For each variable of the environment the origins to which an agent may send it. Default: `*` where only this machine reaches the server. */
    bearerEnv: z
      .union([z.literal('*'), z.record(z.string().regex(variablePattern), z.array(origin).max(100))], {
        error: 'must be `"*"`, or for each variable a list of origins such as `["https://travel.example"]`',
      })
      .exactOptional(),
  })
  .prefault({})
type FederationConfig = z.output<typeof federationSchema>

interface ServerNames {
  readonly domain?: string
  readonly domains?: Readonly<Record<string, string>>
}

/** The database of each domain, that of `server.domain` first. Throws `CONFIG_INVALID`. */
export function domainsOfConfig({ domain: first, domains = {} }: ServerNames): Readonly<Record<string, string>> {
  const found: Record<string, string> = first === undefined ? {} : { [first]: 'default' }
  for (const [text, database] of Object.entries(domains)) {
    const path = `server.domains.${text.slice(0, 100)}`
    const read = readDomain(text)
    if (read.problem !== null)
      throw invalid(path, `is no domain: ${read.problem}`, 'Write a domain such as `acme.example`.')
    if (first === undefined)
      throw invalid(path, 'needs `server.domain`, without which nothing is published', 'Set server.domain too.')
    if (Object.hasOwn(found, read.value)) throw invalid(path, 'is named twice', 'Keep one of the two.')
    found[read.value] = database
  }
  return found
}

function invalid(path: string, what: string, hint: string): WitanError {
  return new WitanError('CONFIG_INVALID', `\`${path}\` ${what}.`, { path, hint })
}

/** What routes for other servers work with. */
export interface Federation
  extends Omit<FederationConfig, 'budgets' | 'issuers' | 'bearerEnv'>,
    Partial<Pick<FederationConfig, 'budgets'>> {
  /** Where others reach this server: an origin. It is known only after listening, hence a function. */
  readonly publicUrl: () => string
  /** The domain whose addresses may be written as their local part alone; null: nothing is published. */
  readonly domain: string | null
  /** Every domain of ours. */
  readonly domains: readonly string[]
}

/** What the routes of a server work with. */
export function federationOf(
  { server, federation }: { readonly server: ServerNames; readonly federation: FederationConfig },
  publicUrl: () => string,
): Federation {
  return { ...federation, publicUrl, domain: server.domain ?? null, domains: Object.keys(domainsOfConfig(server)) }
}

/** A server that publishes nothing. */
export const noFederation: Federation = {
  ...federationSchema.parse({}),
  publicUrl: () => 'http://127.0.0.1',
  domain: null,
  domains: [],
}
