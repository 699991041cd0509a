/** Whose memory a call of an agent reads and writes [F39]. */
import type { MemoryScope, MemorySettings } from '@witan/protocol/memory'
import { type Principal, subjectOf } from '../identity/principal.ts'
import { companyOf, type People } from '../parameter/person.ts'
import type { BlockLimits, BlockOwner } from './records.ts'

/** What decides it: who works, for whom and where. */
export interface Rememberer {
  readonly agent: { readonly id: string; readonly memory?: MemorySettings | null }
  readonly principal: Pick<Principal, 'id' | 'person'>
  readonly conversationId: string
  readonly people: People
}

/** The owners in the order of scopes, and whether others are withheld because several people take part or nobody is known. */
export interface Owned {
  readonly owners: readonly BlockOwner[]
  readonly isWithheld: boolean
  /** Whom the memory is about; null for nobody. */
  readonly subject: string | null
}

const order: readonly MemoryScope[] = ['person', 'conversation', 'agent']
const none: Owned = { owners: [], isWithheld: false, subject: null }

/** Whose blocks a call has. */
export function ownersOf({ agent, principal, conversationId, people }: Rememberer): Owned {
  const { memory = null } = agent
  if (memory === null) return none
  const subject = subjectOf(principal)
  const isClosed = subject === null || (!memory.inGroups && companyOf(people) > 1)
  const owners: BlockOwner[] = []
  let isWithheld = false
  for (const scope of order) {
    if (!memory.scopes.includes(scope)) continue
    if (scope === 'agent') owners.push({ agent: agent.id, scope, subject: null, conversation: null })
    else if (isClosed) isWithheld = true
    else owners.push({ agent: agent.id, scope, subject, conversation: scope === 'person' ? null : conversationId })
  }
  return { owners, isWithheld, subject: isClosed ? null : subject }
}

/** The one scope of an agent; null if it has several, and blocks name theirs. */
export function onlyScope({ scopes: [first, second] }: MemorySettings): MemoryScope | null {
  return second === undefined ? (first ?? null) : null
}

/** How much each owner of an agent's blocks may have. */
export function limitsOf({ coreCharacters, coreBlocks, archivalCharacters, archival }: MemorySettings): BlockLimits {
  return { coreCharacters, coreBlocks, archivalCharacters: archival === 'off' ? 0 : archivalCharacters }
}
