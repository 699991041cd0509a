/** Who may import whom inside packages/core/src: six floors, and an order of folders on floors 1 to 3. */
import type { SourceFile, Tree, Violation } from './source.ts'
import { isTest, resolveImport } from './source.ts'

const root = 'packages/core/src/'
const contracts = [
  'identity',
  'parameter',
  'knowledge',
  'memory',
  'budget',
  'model',
  'tool',
  'hook',
  'guard',
  'interruption',
  'agent',
  'agent/workflow',
  'agent/check',
  'agent/admin',
]
const state = ['store', 'conversation', 'event', 'task']
const engine = ['job', 'run', 'worker', 'command']
const chains = [contracts, state, engine]
/** The folders that may name anything below. Only the package's entries and tests import `replay/` and `testing/`. */
const tops: ReadonlySet<string> = new Set(['runtime', 'replay', 'testing'])
const leafFolders = [
  'edge',
  'tool/kinds',
  'model/adapters',
  'store/drivers',
  'telemetry',
  'federation',
  'ingest',
  'mcp',
]
const input = /^node:(fs|fs\/promises|net|tls|http|https|http2|dgram|dns|child_process|cluster|worker_threads|sqlite)$/

/** Where a file stands. `unit` is what may import itself freely: a folder, or one leaf. */
interface Place {
  readonly floor: 1 | 2 | 3 | 4 | 5
  readonly order: number
  readonly unit: string
}

/** Checks every import of every file of the core that is not a test. */
export function checkFloors(tree: Tree): Violation[] {
  const files = [...tree.files.values()].filter((file) => file.path.startsWith(root) && !isTest(file.path))
  return files.flatMap((file) => checkFile(tree, file))
}

function checkFile(tree: Tree, file: SourceFile): Violation[] {
  const name = file.path.slice(root.length)
  const place = placeOf(tree, name)
  if (place === undefined) {
    const folders = [...chains.flat(), ...leafFolders, ...tops].join(', ')
    return [{ file: file.path, what: 'stands on no floor', allowed: folders, fix: 'move it into one of these folders' }]
  }
  return file.imports.flatMap((specifier) => {
    const target = resolveImport(tree, file.path, specifier)
    const problem = target?.startsWith(root)
      ? judge(place, target.slice(root.length), placeOf(tree, target.slice(root.length)))
      : place.floor <= 3 && input.test(specifier)
        ? { allowed: 'floors 1 to 3 do no I/O', fix: 'let a driver or the runtime do it and hand the result in' }
        : undefined
    return problem === undefined ? [] : [{ file: file.path, what: `imports ${target ?? specifier}`, ...problem }]
  })
}

/** The floor of a file of the core, by its path under src; undefined when the layout has no such place. */
function placeOf(tree: Tree, name: string): Place | undefined {
  const leaf = leafFolders.find((folder) => name.startsWith(`${folder}/`))
  if (leaf !== undefined) return { floor: 4, order: 0, unit: leafUnit(tree, leaf, name) }
  const [folder = '', rest] = name.split('/')
  if (rest === undefined)
    return /^(index|conformance|export|knowledge|testing|tooling|runtime|clock|ids)\.ts$/.test(name)
      ? { floor: 5, order: 0, unit: name }
      : undefined
  for (const [index, chain] of chains.entries()) {
    const order = chain.findLastIndex((each) => name.startsWith(`${each}/`))
    if (order >= 0) return { floor: (index + 1) as 1 | 2 | 3, order, unit: chain[order] as string }
  }
  return tops.has(folder) ? { floor: 5, order: 0, unit: folder } : undefined
}

/**
 * `store/drivers/sqlite.ts`, everything in `store/drivers/sqlite/`, and `store/drivers/sqlite-rows.ts` beside it are one
 * leaf: the head's name says whose parts the others are. Telemetry, federation, ingest and the connections of MCP are one leaf each.
 */
function leafUnit(tree: Tree, leaf: string, name: string): string {
  if (['telemetry', 'federation', 'ingest', 'mcp'].includes(leaf)) return leaf
  const first = (name.slice(leaf.length + 1).split('/')[0] ?? '').replace(/\.tsx?$/, '')
  const words = first.split('-')
  const prefixes = words.map((_, index) => words.slice(0, index + 1).join('-'))
  return `${leaf}/${prefixes.find((prefix) => tree.files.has(`${root}${leaf}/${prefix}.ts`)) ?? first}`
}

/** The package's entries: they may name anything. */
const barrels = new Set(['index.ts', 'conformance.ts', 'export.ts', 'knowledge.ts', 'testing.ts', 'tooling.ts'])

type Problem = Pick<Violation, 'allowed' | 'fix'>

function judge(from: Place, target: string, to: Place | undefined): Problem | undefined {
  if (to === undefined || to.unit === from.unit || barrels.has(from.unit)) return undefined
  if (target === 'index.ts')
    return { allowed: 'no file imports its own package’s barrel', fix: 'import the file itself' }
  if (to.unit === 'testing' || to.unit === 'replay')
    return { allowed: `only entries and tests import ${to.unit}/`, fix: 'move the shared part down' }
  if (from.floor === 5) return undefined
  if (to.floor === 5) return { allowed: `floor ${from.floor} imports only lower floors`, fix: handedIn }
  if (from.floor === 4)
    return to.floor <= 2 || isShared(from, target) ? undefined : { allowed: leafRule(from), fix: handedIn }
  if (to.floor > from.floor) return { allowed: `floor ${from.floor} imports floors 0 to ${from.floor}`, fix: handedIn }
  if (to.floor < from.floor || to.order < from.order) return undefined
  const chain = chains[from.floor - 1] ?? []
  const left = chain.slice(0, from.order).join(', ') || 'nothing of its own floor'
  return { allowed: `${from.unit}/ imports, of its floor, only ${left}`, fix: handedIn }
}

/** The store in memory keeps knowledge as the one in a file does: in SQLite, in a thread. */
function isShared(from: Place, target: string): boolean {
  return from.unit === 'store/drivers/memory' && target === 'store/drivers/sqlite-knowledge.ts'
}

const handedIn = 'have the function or the id handed in, or move the contract down'

function leafRule(from: Place): string {
  return `a leaf (${from.unit}) imports floors 0 to 2 only, never another leaf, never the engine`
}
