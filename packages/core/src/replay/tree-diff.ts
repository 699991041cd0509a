/** Compares the trees of two logs: which calls were added, left out, or came to something else. */
import type { Entry } from '@witan/protocol/entries'

/** A call of one tree, as far as it is compared. */
interface Node {
  readonly depth: number
  readonly kind: 'agent' | 'tool'
  readonly name: string
  readonly asked: string
  answered: string
  tokens: number
}

/** One call of both trees, or of one of them. */
export interface TreeChange {
  readonly status: 'same' | 'changed' | 'added' | 'removed'
  readonly depth: number
  readonly kind: 'agent' | 'tool'
  /** The id of the agent, or the name of the tool. */
  readonly name: string
  /** What differs; empty unless it is `changed`. */
  readonly changes: readonly { readonly what: 'asked' | 'answered'; readonly before: string; readonly after: string }[]
  /** The tokens of its own model calls; null in the tree that does not have it. */
  readonly tokens: { readonly before: number | null; readonly after: number | null }
}

/** The calls of both logs, in the order of the first, each behind its caller. Calls count as the same if they have the same place and number. */
export function compareTrees(before: readonly Entry[], after: readonly Entry[]): readonly TreeChange[] {
  const [old, fresh] = [treeOf(before), treeOf(after)]
  const keys = [...new Set([...old.keys(), ...fresh.keys()])].sort(
    (a, b) => order(a, old, fresh) - order(b, old, fresh),
  )
  return keys.flatMap((key) => {
    const [was, is] = [old.get(key), fresh.get(key)]
    const node = is ?? was
    if (node === undefined) return []
    const { depth, kind, name } = node
    const tokens = { before: was?.tokens ?? null, after: is?.tokens ?? null }
    const changes = was === undefined || is === undefined ? [] : changesOf(was, is)
    const status = was === undefined ? 'added' : is === undefined ? 'removed' : changes.length > 0 ? 'changed' : 'same'
    return [{ status, depth, kind, name, changes, tokens } as const]
  })
}

/** The position in the tree that has the call; one that is only in the second stands behind the last common one before it. */
function order(key: string, old: ReadonlyMap<string, Node>, fresh: ReadonlyMap<string, Node>): number {
  const at = [...old.keys()].indexOf(key)
  if (at >= 0) return at
  const keys = [...fresh.keys()]
  const own = keys.indexOf(key)
  for (let index = own; index >= 0; index -= 1) {
    const common = [...old.keys()].indexOf(keys[index] ?? '')
    if (common >= 0) return common + (own - index) / (keys.length + 1)
  }
  return -1 + own / (keys.length + 1)
}

function changesOf(was: Node, is: Node): TreeChange['changes'] {
  return (['asked', 'answered'] as const).flatMap((what) =>
    was[what] === is[what] ? [] : [{ what, before: was[what], after: is[what] }],
  )
}

/** The calls of a log by place: the names on the way, each with its number among its like. */
function treeOf(entries: readonly Entry[]): ReadonlyMap<string, Node> {
  const nodes = new Map<string, Node>()
  const places = new Map<string, { readonly key: string; readonly depth: number }>()
  const counts = new Map<string, number>()
  for (const entry of entries) {
    const { type, kind, place } = entry
    if (type === 'start') {
      const above = places.get(place.parentCall ?? '')
      const name = kind === 'agent' ? entry.body.agent : entry.body.name
      const like = `${above?.key ?? ''}/${name}`
      const number = (counts.get(like) ?? 0) + 1
      counts.set(like, number)
      const at = { key: `${like}#${number}`, depth: (above?.depth ?? -1) + 1 }
      places.set(place.call, at)
      const asked = kind === 'agent' ? entry.body.message : textOf(entry.body.arguments)
      nodes.set(at.key, { depth: at.depth, kind, name, asked, answered: '', tokens: 0 })
      continue
    }
    const node = nodes.get(places.get(place.call)?.key ?? '')
    if (node === undefined) continue
    if (type === 'end' && kind === 'model') {
      const { usage } = entry.body
      node.tokens += (usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0)
    } else if (type === 'end' && kind === 'agent') node.answered = entry.body.text
    else if (type === 'end' && kind === 'tool') node.answered = textOf(entry.body.result)
    else if (type === 'error' && kind !== 'model') node.answered = `${entry.body.code}: ${entry.body.detail}`
  }
  return nodes
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}
