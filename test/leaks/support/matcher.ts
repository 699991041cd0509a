/** Many patterns in one pass over a text (Aho and Corasick). */

/** Gives the labels of the patterns that a text holds. */
export type Matcher = (text: string) => ReadonlySet<string>

interface Node {
  readonly next: Map<number, Node>
  /** The longest proper suffix that is also the beginning of a pattern. */
  fail: Node | null
  labels: readonly string[]
}

/** Patterns with the label that each is reported by. */
export function createMatcher(patterns: readonly (readonly [label: string, text: string])[]): Matcher {
  const root = grow(patterns)
  link(root)
  return (text) => {
    const found = new Set<string>()
    let at = root
    for (let index = 0; index < text.length; index += 1) {
      const code = text.charCodeAt(index)
      while (at.next.get(code) === undefined && at.fail !== null) at = at.fail
      at = at.next.get(code) ?? root
      for (const label of at.labels) found.add(label)
    }
    return found
  }
}

function grow(patterns: readonly (readonly [string, string])[]): Node {
  const root: Node = { next: new Map(), fail: null, labels: [] }
  for (const [label, text] of patterns) {
    let at = root
    for (let index = 0; index < text.length; index += 1) {
      const code = text.charCodeAt(index)
      const known: Node = at.next.get(code) ?? { next: new Map(), fail: root, labels: [] }
      at.next.set(code, known)
      at = known
    }
    at.labels = [...at.labels, label]
  }
  return root
}

/** Breadth first, so that a shorter node is linked before a longer one looks at it. */
function link(root: Node): void {
  const open = [...root.next.values()]
  for (const node of open) {
    for (const [code, child] of node.next) {
      let fail = node.fail
      while (fail !== null && fail.next.get(code) === undefined) fail = fail.fail
      child.fail = fail?.next.get(code) ?? root
      child.labels = [...child.labels, ...child.fail.labels]
      open.push(child)
    }
  }
}
