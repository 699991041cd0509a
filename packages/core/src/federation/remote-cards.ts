/** The cards of agents on other servers: found, kept for a while, and held to the key that signed first [Mb02, Mb14]. */
import { isWitanError } from '@witan/protocol'
import type { RemoteAgent } from '@witan/protocol/entries'
import { readAddress } from '@witan/protocol/names'
import { changedBy } from '../identity/changed.ts'
import { localPrincipal } from '../identity/principal.ts'
import { type MaySend, notSent } from '../agent/bearers.ts'
import { remoteOf } from '../agent/remote-agent.ts'
import { keepKey, keptKeyOf } from '../store/remote-keys.ts'
import type { Store } from '../store/store.ts'
import { fieldOf, recordsIn, textIn } from './record.ts'
import type { RemoteServices } from './remote-services.ts'
import { type FoundAgent, resolveAddress, resolveCard } from './resolve.ts'
import type { SafeFetch } from './safe-fetch.ts'

type Found = Awaited<ReturnType<RemoteServices['find']>>
type Card = Pick<FoundAgent, 'endpoint' | 'signedBy' | 'a2aCard'>

/** What cards are found with. */
interface CardOptions {
  /** Whether a variable of the environment may be sent to a server. */
  readonly maySend: MaySend
  readonly store: Pick<Store, 'listRecords' | 'addRecord' | 'deleteRecord' | 'now'>
  readonly fetch: Pick<SafeFetch, 'json'>
  /** In ms. */
  now(): number
}

/** How long a card counts, and how many are kept. */
const freshMs = 300_000
const mostCards = 1_000

const idempotentExtension = 'https://witan.dev/ns/a2a/idempotent/v1'

/** Finds where agents answer. A card is fetched once at a time, and counts for five minutes. */
export function createCards(options: CardOptions): RemoteServices['find'] {
  const known = new Map<string, { readonly at: number; readonly card: Promise<Card> }>()
  const cardOf = (edge: RemoteAgent): Promise<Card> => {
    const remote = remoteOf(edge)
    const now = options.now()
    const kept = known.get(remote)
    if (kept !== undefined && now - kept.at < freshMs) return kept.card
    const card = fetchCard(edge, options)
    known.delete(remote)
    known.set(remote, { at: now, card })
    for (const oldest of known.keys()) {
      if (known.size <= mostCards) break
      known.delete(oldest)
    }
    card.catch(() => {
      if (known.get(remote)?.card === card) known.delete(remote)
    })
    return card
  }
  return async (edge, database) => {
    try {
      if (!options.maySend(edge)) return { ok: false, code: 'REMOTE_CARD_INVALID', detail: wordsOf(notSent(edge)) }
      const card = await cardOf(edge)
      const refusal = checkOrigin(edge, card) ?? (await checkSigner(edge, card, { ...options, database }))
      return refusal ?? foundAt(edge, card)
    } catch (error) {
      if (isWitanError(error)) return { ok: false, code: error.code, detail: error.message }
      throw error
    }
  }
}

function wordsOf({ detail, hint }: ReturnType<typeof notSent>): string {
  return `${detail} ${hint}`
}

async function fetchCard({ address, card }: RemoteAgent, { fetch }: CardOptions): Promise<Card> {
  if (address === undefined) return resolveCard(card ?? '', { fetch, note: () => {} })
  const read = readAddress(address)
  if (!read.ok) throw new Error(`no address: ${read.problem}`)
  return resolveAddress(read.address, { fetch, note: () => {} })
}

/** The credential of `bearerEnv` goes to the origin of `card` alone: whoever writes the card may name any other. Null if the card may be used. */
function checkOrigin({ card, bearerEnv }: RemoteAgent, { endpoint }: Card): (Found & { readonly ok: false }) | null {
  if (card === undefined || bearerEnv === undefined) return null
  const [own, named] = [new URL(card).origin, new URL(endpoint.url).origin]
  if (own === named) return null
  const detail = `The card of ${card} names an interface at ${named}: \`bearerEnv\` is sent to ${own} alone, where \`card\` is. Ask its operator for a card at ${named}, or leave \`bearerEnv\` out.`
  return { ok: false, code: 'REMOTE_CARD_INVALID', detail }
}

/** The key that signed first is kept, and only it may bring another. Null if the card may be used. */
async function checkSigner(
  edge: RemoteAgent,
  { signedBy }: Card,
  { store, database }: CardOptions & { readonly database: string },
): Promise<(Found & { readonly ok: false }) | null> {
  const remote = remoteOf(edge)
  const kept = await keptKeyOf(store, database, remote)
  const must = edge.pin ?? kept
  if (must !== null && !signedBy.includes(must)) {
    const by = signedBy.length === 0 ? 'no key' : 'another key'
    const which = edge.pin === null ? 'that signed it first' : 'that `pin` names'
    const detail = `The card of ${remote} is signed by ${by}, and not by the one ${which}. Ask its operator; \`witan resolve --trust\` keeps another one, and \`pin\` names it.`
    return { ok: false, code: 'REMOTE_KEY_CHANGED', detail }
  }
  const [newest] = signedBy
  // A card that the kept key has signed too may bring a new one: that stands first.
  if (newest !== undefined && newest !== kept) {
    const changed = changedBy({ ...localPrincipal, via: 'code' }, store.now(database))
    await keepKey(store, database, { remote, thumbprint: newest, changed })
  }
  return null
}

function foundAt(edge: RemoteAgent, { endpoint, signedBy, a2aCard }: Card): Found {
  const capabilities = fieldOf(a2aCard, 'capabilities')
  const extensions = recordsIn(capabilities, 'extensions').map((one) => textIn(one, 'uri'))
  const remote = remoteOf(edge)
  const notice =
    signedBy.length > 0
      ? null
      : ({ code: 'REMOTE_UNSIGNED', detail: `The card of ${remote} is not signed.`, remote } as const)
  return {
    ok: true,
    endpoint: {
      ...endpoint,
      isStreaming: fieldOf(capabilities, 'streaming') === true,
      isIdempotent: extensions.includes(idempotentExtension),
    },
    notice,
  }
}
