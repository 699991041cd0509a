/** The public keys of an issuer of tokens: fetched, kept for minutes, and fetched again for a key that is not among them. */
import { WitanError } from '@witan/protocol'
import { readJson } from '@witan/protocol/schemas'
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose'

/** How often the issuer is asked, and how long its answer counts; tests make the times short. */
interface IssuerTimes {
  /** A fetch ends after this time. */
  readonly fetchMs: number
  /** Older keys are fetched again, beside the requests. */
  readonly freshMs: number
  /** Older keys count no more. */
  readonly staleMs: number
  /** The least time between two fetches because of an unknown key, and after one that failed. */
  readonly pauseMs: number
}

const defaultTimes: IssuerTimes = { fetchMs: 3_000, freshMs: 300_000, staleMs: 900_000, pauseMs: 5_000 }
const maxBytes = 512_000
const maxKeys = 100

/** The keys of one issuer. */
export interface IssuerKeys {
  /** Finds the key of a token, as `jose` asks for it. Throws `ISSUER_UNAVAILABLE` if the issuer gave no keys in time. */
  readonly keyOf: JWTVerifyGetKey
  /** Grows with every fetch: what was verified before counts again only after a new check. */
  generation(): number
}

/** The keys at that URL; nothing is fetched before the first token. */
export function issuerKeys(
  url: string,
  { times = defaultTimes, now = () => performance.now() }: { times?: IssuerTimes; now?: () => number } = {},
): IssuerKeys {
  let held: { readonly keys: JWTVerifyGetKey; readonly at: number } | null = null
  let failure: { readonly error: unknown; readonly at: number } | null = null
  let fetching: Promise<JWTVerifyGetKey> | null = null
  let generation = 0

  /** One fetch at a time; for a while after one that failed its error stands for all. */
  function refresh(): Promise<JWTVerifyGetKey> {
    if (failure !== null && now() - failure.at < times.pauseMs) return Promise.reject(unavailable(url, failure.error))
    fetching ??= fetchKeys(url, times.fetchMs)
      .then(
        (set) => {
          const keys = createLocalJWKSet(set)
          held = { keys, at: now() }
          failure = null
          generation += 1
          return keys
        },
        (error: unknown) => {
          failure = { error, at: now() }
          throw unavailable(url, error)
        },
      )
      .finally(() => {
        fetching = null
      })
    return fetching
  }

  async function current(): Promise<JWTVerifyGetKey> {
    const age = held === null ? Number.POSITIVE_INFINITY : now() - held.at
    if (held === null || age >= times.staleMs) return refresh()
    if (age >= times.freshMs) refresh().catch(() => undefined)
    return held.keys
  }

  return {
    generation: () => generation,
    async keyOf(header, token) {
      const keys = await current()
      try {
        return await keys(header, token)
      } catch (error) {
        const isUnknown = error instanceof errors.JWKSNoMatchingKey
        if (!isUnknown || (held !== null && now() - held.at < times.pauseMs)) throw error
        return (await refresh())(header, token)
      }
    },
  }
}

async function fetchKeys(url: string, ms: number): Promise<JSONWebKeySet> {
  const signal = AbortSignal.timeout(ms)
  const reply = await fetch(url, { signal, redirect: 'error', headers: { accept: 'application/json' } })
  if (!reply.ok) {
    await reply.body?.cancel()
    throw new Error(`status ${reply.status}`)
  }
  const read = readJson(await readBounded(reply))
  if (!read.ok) throw new Error(read.problem)
  const set = read.value
  const keys = typeof set === 'object' && set !== null && 'keys' in set ? set.keys : null
  if (!Array.isArray(keys) || keys.length > maxKeys) throw new Error('no set of at most 100 keys')
  return { keys: keys.filter((key) => typeof key === 'object' && key !== null) }
}

async function readBounded({ body }: Response): Promise<string> {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of body ?? []) {
    bytes += part.length
    if (bytes > maxBytes) throw new Error(`more than ${maxBytes} bytes`)
    parts.push(part)
  }
  return Buffer.concat(parts).toString()
}

function unavailable(url: string, cause: unknown): WitanError {
  const reason =
    cause instanceof Error ? (cause.name === 'TimeoutError' ? 'no answer in time' : cause.message) : 'refused'
  return new WitanError(
    'ISSUER_UNAVAILABLE',
    `The keys of the issuer cannot be read from ${url}: ${reason.slice(0, 200)}.`,
    {
      cause,
      hint: 'Try again a little later; an operator looks at the issuer, and at auth.jwksUrl.',
    },
  )
}
