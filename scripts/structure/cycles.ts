/** Finds files that import each other in a ring, type-only imports and tests included. */
import type { Tree, Violation } from './source.ts'
import { resolveImport } from './source.ts'

/** One violation for each ring: a strongly connected group of files, shown as its shortest road round. */
export function checkCycles(tree: Tree): Violation[] {
  const graph = new Map<string, string[]>()
  for (const file of tree.files.values()) {
    const targets = file.imports.map((each) => resolveImport(tree, file.path, each))
    graph.set(file.path, targets.filter((target) => target !== undefined && tree.files.has(target)) as string[])
  }
  const done = new Set<string>()
  const violations: Violation[] = []
  for (const start of graph.keys()) {
    if (done.has(start)) continue
    const ring = shortestRing(graph, start)
    done.add(start)
    if (ring === undefined || ring.some((file) => file !== start && done.has(file))) continue
    const what = `imports itself through ${[...ring, start].join(' → ')}`
    violations.push({
      file: start,
      what,
      allowed: 'no cycles, types included',
      fix: 'move the shared part to a file both import',
    })
    for (const file of ring) done.add(file)
  }
  return violations
}

/** Breadth first from `start` back to `start`. */
function shortestRing(graph: ReadonlyMap<string, readonly string[]>, start: string): string[] | undefined {
  const before = new Map<string, string>()
  const queue = [start]
  for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
    for (const next of graph.get(file) ?? []) {
      if (next === start) return roadTo(before, start, file)
      if (!before.has(next)) {
        before.set(next, file)
        queue.push(next)
      }
    }
  }
  return undefined
}

function roadTo(before: ReadonlyMap<string, string>, start: string, end: string): string[] {
  const road = [end]
  for (let file: string | undefined = end; file !== start && file !== undefined; ) {
    file = before.get(file)
    if (file !== undefined) road.unshift(file)
  }
  return road
}
