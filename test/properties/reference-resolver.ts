/** The oracle of the parameter properties: how values flow, written from the rules and not from the code. */

export interface Declared {
  readonly name: string
  readonly sendToModel: boolean
  readonly forbid: boolean
}

export interface Node {
  readonly id: string
  readonly parameters: readonly Declared[]
  /** By child id: child's name to parent's, or to null [E17]. */
  readonly maps: Readonly<Record<string, Readonly<Record<string, string | null>>>>
  readonly children: readonly Node[]
}

export type Given = Readonly<Record<string, { readonly value: string; readonly hidden: boolean }>>

interface Value {
  readonly value: string
  readonly byModel: boolean
  readonly hidden: boolean
}

/** What must be seen at one agent. */
interface Expected {
  readonly values: Readonly<Record<string, string>>
  readonly lines: readonly string[]
  /** Delegates on offer, with the names their model must supply. */
  readonly offers: Readonly<Record<string, readonly string[]>>
}

/** Follows the tree from the root down; every delegate on offer is called, with `generated` for what it asks for. */
export function expect(
  root: Node,
  given: Given,
  generated: (child: string, name: string) => string,
): Map<string, Expected> {
  const all = new Map<string, Expected>()
  const visit = (node: Node, values: ReadonlyMap<string, Value>): void => {
    const offers: Record<string, string[]> = {}
    for (const child of node.children) {
      const bound = new Map<string, Value>()
      const asked: string[] = []
      let missing = false
      for (const { name, forbid } of child.parameters) {
        const map = node.maps[child.id] ?? {}
        const source = Object.hasOwn(map, name) ? map[name] : name
        const parents = typeof source === 'string' ? values.get(source) : undefined // R30 (1), E13
        const callers = typeof source === 'string' ? given[source] : undefined // R30 (2)
        if (parents !== undefined && !(forbid && parents.byModel))
          bound.set(name, parents) // E15
        else if (callers !== undefined) bound.set(name, { ...callers, byModel: false })
        else if (forbid)
          missing = true // R41, R42
        else asked.push(name) // R30 (3)
      }
      if (missing) continue // C16
      offers[child.id] = asked
      for (const name of asked) bound.set(name, { value: generated(child.id, name), byModel: true, hidden: false })
      visit(child, bound)
    }
    const lines = node.parameters.map(({ name, sendToModel }) => {
      const value = values.get(name)
      const shown = value !== undefined && sendToModel && !value.hidden // R35, C17
      return shown ? `${name} = ${JSON.stringify(value.value)}` : `${name}: supplied by the system` // R52
    })
    const plain = Object.fromEntries([...values].map(([name, { value }]) => [name, value]))
    all.set(node.id, { values: plain, lines, offers })
  }
  const own = root.parameters.flatMap(({ name }): [string, Value][] => {
    const callers = given[name]
    return callers === undefined ? [] : [[name, { ...callers, byModel: false }]]
  })
  visit(root, new Map(own))
  return all
}
