/** What the engine looks up in the definitions of a registry: agents, their tools, and what their system messages say. */
import { WitanError } from '@witan/protocol'
import type { KnowledgeBase } from '@witan/protocol/knowledge'
import type { Protocol } from '@witan/protocol/protocols'
import { documentsOf } from '../agent/records.ts'
import { revisionsBelow, type Registry } from '../agent/registry.ts'
import { type PeerContext, peerLines, type PinnedProtocol } from '../edge/peer.ts'
import type { Environment, PinnedAgent } from '../job/environment.ts'
import type { FindAgent } from '../tool/delegation.ts'
import { type FindBase, retrievalOf } from '../tool/kinds/knowledge.ts'
import type { FoundBase } from '../tool/kinds/knowledge-search.ts'
import { listingsOf } from '../tool/mcp/listings.ts'
import type { Caller } from '../tool/tool.ts'
import { guidanceOf, toolsetOf, toolSourcesOf } from './toolset.ts'

/** The part of an environment that definitions decide. */
export type DefinitionParts = Pick<
  Environment,
  'toolset' | 'guidance' | 'listings' | 'pin' | 'revisionsBelow' | 'pinned' | 'retrieve'
>

/** What tools are made from, beside definitions. */
type Surroundings = Omit<Parameters<typeof toolSourcesOf>[0], 'find' | 'protocol' | 'exists' | 'base'>

/** Makes that part for any registry. */
export function definitionsOf(surroundings: Surroundings): (registry: Registry) => DefinitionParts {
  const listings = listingsOf(surroundings.mcp.servers, surroundings.mcp.lock)
  return (registry) => {
    const find: FindAgent = ({ database, revisions }, id) =>
      pinnedAgent(registry, { database, id, revisions })?.data ?? null
    const protocol: PeerContext['protocol'] = ({ database, revisions }, name) =>
      pinnedProtocol(registry, { database, name, revisions })
    const exists = ({ database }: Caller, id: string) => registry.current(database).agents.has(id)
    const base: FindBase = ({ database, revisions }, id) => pinnedBase(registry, { database, id, revisions })
    return {
      toolset: toolsetOf(toolSourcesOf({ ...surroundings, find, protocol, exists, base })),
      retrieve: retrievalOf(base, surroundings.search),
      listings,
      guidance: guidanceOf(peerLines({ protocol })),
      pin: (database, id) => pin(registry, database, id),
      revisionsBelow: (database, root) => revisionsBelow(registry, database, root),
      pinned: (database, id, revisions) => pinnedAgent(registry, { database, id, revisions }),
    }
  }
}

/** An agent as it is now. Throws `STORE_UNAVAILABLE` if that must be read again first: a run keeps only a revision that is stored. */
function pin(registry: Registry, database: string, id: string): PinnedAgent | null {
  const { agents, isStale } = registry.current(database)
  if (isStale) throw new WitanError('STORE_UNAVAILABLE', 'The agents are being read again.', { hint: 'Send it again.' })
  return agents.get(id) ?? null
}

/** An agent that still exists and is enabled, in the revision that a run keeps. */
function pinnedAgent(
  registry: Registry,
  of: { readonly database: string; readonly id: string; readonly revisions: Readonly<Record<string, number>> },
): PinnedAgent | null {
  const { database, id } = of
  const row = registry.current(database).agents.get(id)
  if (row === undefined || row.data.disabled) return null
  const revision = of.revisions[id] ?? row.revision
  return revision === row.revision ? row : { revision, data: registry.revision(database, id, revision) }
}

/** A knowledge base that still exists, in the revision that a run keeps. */
function pinnedBase(
  registry: Registry,
  of: { readonly database: string; readonly id: string; readonly revisions: Readonly<Record<string, number>> },
): FoundBase | null {
  const { database, id, revisions } = of
  const row = registry.current(database).bases.get(id)
  if (row === undefined) return null
  const revision = revisions[row.id] ?? row.revision
  if (revision < (row.firstRevision ?? 1)) return null
  const isNow = revision === row.revision
  const base = isNow ? row.data : registry.revision<KnowledgeBase>(database, row.id, revision)
  return { base, documents: documentsOf(row) }
}

/** A protocol that still exists, in the revision that a run keeps. */
function pinnedProtocol(
  registry: Registry,
  of: { readonly database: string; readonly name: string; readonly revisions: Readonly<Record<string, number>> },
): PinnedProtocol | null {
  const { database, name, revisions } = of
  const row = registry.current(database).protocols.get(name)
  if (row === undefined) return null
  const revision = revisions[row.id] ?? row.revision
  return revision === row.revision ? row : { revision, data: registry.revision<Protocol>(database, row.id, revision) }
}
