/** Measures a definition before its schema reads it: a schema cannot give way, and takes a microsecond or more for each value. */
import { maxJsonDepth } from '@witan/protocol/schemas'
import type { Pausable } from '../identity/pausable.ts'

/**
 * The most values that a definition may have beside its schemas and samples. One whose every list is full, with 200 sub-agents, actions
 * and queries, has 11,000.
 */
export const maxDefinitionValues = 12_000

/** The most of them in one list or object of an agent, whose lists have at most 1,000 items each. */
export const maxValuesInOne = 5_000

/** The keys whose content no schema of ours reads: by the key of the list that has them, or at the top. */
export type FreeKeys = Readonly<Record<string, true | readonly string[]>>

/** What keeps a definition from being read. */
type DefinitionExcess = 'depth' | 'values'

/** Values between two pauses: looking at them takes less than a millisecond. */
const pieceValues = 2_000

interface Spot {
  readonly of: object
  readonly depth: number
  /** Whether it is within a schema or a sample. */
  readonly isFree: boolean
  /** The key of the definition itself under which it stands. */
  readonly top: string
}

/** Looks at each value once, in pieces. What nests deeper than JSON may is not examined. */
export function* definitionExcess(
  input: unknown,
  free: FreeKeys,
  mostInOne = maxDefinitionValues,
): Pausable<DefinitionExcess | null> {
  const open: Spot[] = []
  let [looked, values] = [0, 0]
  if (isObject(input)) open.push({ of: input, depth: 1, isFree: false, top: '' })
  for (let spot = open.pop(); spot !== undefined; spot = open.pop()) {
    const { of, depth, isFree } = spot
    if (depth > maxJsonDepth) return 'depth'
    const entries = Object.entries(of)
    if (!isFree && entries.length > mostInOne) return 'values'
    for (const [key, value] of entries) {
      looked += 1
      if (looked % pieceValues === 0) yield
      const inFree = isFree || isFreeKey(free, spot, key)
      if (!inFree) values += 1
      if (isObject(value)) open.push({ of: value, depth: depth + 1, isFree: inFree, top: depth === 1 ? key : spot.top })
    }
  }
  return values > maxDefinitionValues ? 'values' : null
}

function isFreeKey(free: FreeKeys, { depth, top }: Spot, key: string): boolean {
  const names = depth === 1 ? free[key] : depth === 3 ? free[top] : undefined
  return depth === 1 ? names === true : Array.isArray(names) && names.includes(key)
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
