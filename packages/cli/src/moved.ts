/** How much of a store was moved, in words: agents, protocols, knowledge bases, conversations, API keys, documents and blocks of memory. */
import { baseOfRowId, nameOfProtocol } from '@witan/core/export'
import { plural } from './tree/phrase.ts'

const words = {
  agents: 'agent',
  protocols: 'protocol',
  bases: 'knowledge base',
  conversations: 'conversation',
  keys: 'API key',
  documents: 'document',
  blocks: 'memory block',
} as const

/** Counts what was moved. */
export type Moved = Record<keyof typeof words, number>

/** Nothing yet. */
export function movedNothing(): Moved {
  return { agents: 0, protocols: 0, bases: 0, conversations: 0, keys: 0, documents: 0, blocks: 0 }
}

/** Counts one definition, key, document, block or conversation; other lines of a file are parts of these. */
export function countMoved(moved: Moved, item: { readonly kind: string; readonly id?: unknown }): void {
  if (item.kind === 'agent') moved[definitionsOf(String(item.id))] += 1
  else if (item.kind === 'key') moved.keys += 1
  else if (item.kind === 'document') moved.documents += 1
  else if (item.kind === 'memory') moved.blocks += 1
  else if (item.kind === 'conversation') moved.conversations += 1
}

/** All kinds of definitions are lines of one kind: their ids tell them apart. */
function definitionsOf(id: string): 'agents' | 'protocols' | 'bases' {
  if (nameOfProtocol(id) !== null) return 'protocols'
  return baseOfRowId(id) === null ? 'agents' : 'bases'
}

/** `2 agents, 1 knowledge base, 3 conversations`: agents and conversations always, the others where there are any. */
export function movedWords(moved: Moved): string {
  return (Object.keys(words) as (keyof Moved)[])
    .filter((name) => name === 'agents' || name === 'conversations' || moved[name] > 0)
    .map((name) => plural(moved[name], words[name]))
    .join(', ')
}
