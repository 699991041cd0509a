/** What agents remember, as the Studio shows it: in groups, and in the tree of a run by keys and revisions alone. */
import { type CallView, isWitanError } from '@witan/client'
import type { MemoryBlock, MemoryScope, MemoryWriter } from '@witan/protocol/memory'
import { shownText } from '@witan/protocol/shown'
import { count } from './format.ts'

/** The blocks of one agent, by scope. */
export interface MemoryGroup {
  readonly agent: string
  readonly scopes: readonly { readonly scope: MemoryScope; readonly blocks: readonly MemoryBlock[] }[]
}

/** A list of its own: the schemas beside the one of the protocol have no place in a page. */
const scopesInOrder: readonly MemoryScope[] = ['person', 'conversation', 'agent']

/** By agent, then by scope, then by whom it is about, then by key. */
export function memoryGroups(blocks: readonly MemoryBlock[]): readonly MemoryGroup[] {
  const agents = [...new Set(blocks.map(({ agent }) => agent))].sort()
  return agents.map((agent) => {
    const own = blocks.filter((block) => block.agent === agent).sort(byPlace)
    const scopes = scopesInOrder.map((scope) => ({ scope, blocks: own.filter((block) => block.scope === scope) }))
    return { agent, scopes: scopes.filter((one) => one.blocks.length > 0) }
  })
}

function byPlace(one: MemoryBlock, other: MemoryBlock): number {
  const [left, right] = [one, other].map(({ subject, conversationId, key }) => [
    subject ?? '',
    conversationId ?? '',
    key,
  ])
  const at = left?.findIndex((part, index) => part !== right?.[index]) ?? -1
  if (at < 0) return 0
  return (left?.[at] ?? '') < (right?.[at] ?? '') ? -1 : 1
}

/** `user:anna` → `anna`: the kind of a principal says nothing to the person. */
export function subjectName(subject: string): string {
  return shownText(subject.replace(/^user:/, ''))
}

/** Who wrote a text: `Help desk, for you`, `you`, `bob`. `own`: who reads this. */
export function writerWords({ id, agent }: MemoryWriter, nameOf: (agent: string) => string, own?: string): string {
  const whom = id === own ? 'you' : subjectName(id)
  return agent === null ? whom : `${nameOf(agent)}, for ${whom}`
}

/** The block that is there instead, or null where there is none any more; undefined for another error. */
export function presentBlock(error: unknown): MemoryBlock | null | undefined {
  if (!isWitanError(error)) return undefined
  if (error.code === 'NOT_FOUND') return null
  if (error.code !== 'MEMORY_CONFLICT') return undefined
  return ((error.details as { readonly current?: unknown }).current ?? null) as MemoryBlock | null
}

const mostKeys = 3

/** `remembers 2 blocks: drink (1), food (3)`, `wrote drink (2)`. */
export function usedWords({ op, blocks }: Pick<CallView['memories'][number], 'op' | 'blocks'>): string {
  if (op === 'read' && blocks.length === 0) return 'remembers nothing'
  const shown = blocks.slice(0, mostKeys).map(({ key, revision }) => `${shownText(key)} (${revision})`)
  const more = blocks.length - shown.length
  const keys = `${shown.join(', ')}${more > 0 ? `, ${more} more` : ''}`
  if (op === 'read') return `remembers ${count(blocks.length, 'block')}: ${keys}`
  return `${op === 'write' ? 'wrote' : 'erased'} ${keys}`
}

/** What a call read and wrote, in few words; null for nothing. */
export function memoryWords({ kind, memories }: Pick<CallView, 'kind' | 'memories'>): string | null {
  const last = memories.at(-1)
  if (last === undefined) return null
  if (kind === 'tool') return usedWords(last)
  return last.blocks.length === 0 ? 'remembers nothing' : `remembers ${count(last.blocks.length, 'block')}`
}
