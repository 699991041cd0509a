/** What an agent read of its memory, or wrote there, as pieces of a line: keys and revisions, never texts. */
import type { CallView } from '@witan/client'
import { plural } from './phrase.ts'
import { oneLine } from './width.ts'

/** A piece of a line of the tree. */
interface Words {
  readonly text: string
  readonly tone: 'plain' | 'faint'
}

const mostKeys = 5

/** `remembers 2 blocks: drink (1), food (3)`; of a tool call `wrote drink (2)` or `erased drink (3)`. */
export function memorySpans({ op, blocks }: CallView['memories'][number]): Words[] {
  if (op === 'read') return foundSpans('remembers', blocks)
  return [faint(op === 'write' ? 'wrote ' : 'erased '), keysOf(blocks)]
}

/** What `recall` found: `found 1 block: car (1)`. Null for another tool, and for a result of another form. */
export function recalledSpans({ kind, name, result }: CallView): Words[] | null {
  if (kind !== 'tool' || name !== 'recall') return null
  const { blocks } = (result ?? {}) as { readonly blocks?: unknown }
  if (!Array.isArray(blocks) || !blocks.every(isBlock)) return null
  return foundSpans('found', blocks)
}

type Named = CallView['memories'][number]['blocks'][number]

function isBlock(value: unknown): value is Named {
  const { key, revision } = (value ?? {}) as Partial<Record<keyof Named, unknown>>
  return typeof key === 'string' && typeof revision === 'number'
}

function foundSpans(verb: 'remembers' | 'found', blocks: readonly Named[]): Words[] {
  if (blocks.length === 0) return [faint(`${verb} `), { text: 'nothing', tone: 'plain' }]
  return [faint(`${verb} ${plural(blocks.length, 'block')}: `), keysOf(blocks)]
}

function keysOf(blocks: readonly Named[]): Words {
  const shown = blocks.slice(0, mostKeys).map(({ key, revision }) => `${oneLine(key)} (${revision})`)
  const more = blocks.length - shown.length
  return { text: `${shown.join(', ')}${more > 0 ? `, ${more} more` : ''}`, tone: 'plain' }
}

function faint(text: string): Words {
  return { text, tone: 'faint' }
}
