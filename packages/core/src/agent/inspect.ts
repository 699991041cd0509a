/**
 * Reads an agent that may be malformed as far as possible, so that one check reports all its mistakes and those of its
 * parents.
 */
import { type AgentData, type Finding, isWitanError, type WitanError } from '@witan/protocol'
import { agentSchema } from '@witan/protocol/schemas'
import type { z } from 'zod'
import { type Pausable, runWithoutPause } from '../identity/pausable.ts'
import { readingOnce } from '../identity/read-once.ts'
import { agentProblems, parsingAgent } from './parse.ts'

/** The malformed parts, and the agent without them; null if not even its id is known. */
export interface Inspected {
  readonly problems: readonly WitanError[]
  readonly agent: AgentData | null
  /** True if a finding about that agent is redundant: its path is malformed already, or the repair moved it. */
  isReported(finding: Pick<Finding, 'path'>): boolean
}

const mostRepairs = 20

/** Never throws. A well-formed agent equals the result of `parseAgent`. */
export function inspectAgent(input: unknown): Inspected {
  return runWithoutPause(inspectingAgent(runWithoutPause(readingOnce(input))))
}

/** The same in pieces, so that a large agent does not hold the process. */
export function* inspectingAgent(input: unknown): Pausable<Inspected> {
  const problems = yield* agentProblems(input)
  if (problems.length === 0) return yield* wellFormed(input)
  const moved = new Set<string>()
  const isLost = problems.some(({ path }) => path === 'id' || path === '' || path === null)
  const agent = isLost ? null : yield* repaired(input, moved)
  const isReported = ({ path }: Pick<Finding, 'path'>) =>
    moved.has(path.split('.')[0] ?? '') ||
    problems.some((problem) => path === problem.path || path.startsWith(`${problem.path}.`))
  return { problems, agent, isReported }
}

/** An agent of the right form may still have a value that JSON cannot hold. */
function* wellFormed(input: unknown): Pausable<Inspected> {
  try {
    return { problems: [], agent: yield* parsingAgent(input), isReported: () => false }
  } catch (error) {
    if (!isWitanError(error)) throw error
    return { problems: [error], agent: null, isReported: () => true }
  }
}

/** Removes malformed parts until the rest parses, and fills in required keys. `moved`: lists that lost an item. */
function* repaired(input: unknown, moved: Set<string>): Pausable<AgentData | null> {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return null
  const given: Record<string, unknown> = { ...plain(input) }
  const isWorkflow = typeof given['workflow'] === 'object' && given['workflow'] !== null
  const draft: Record<string, unknown> = isWorkflow ? given : { model: '?', instructions: '', ...given }
  for (let round = 0; round < mostRepairs; round += 1) {
    yield
    const issues = agentSchema.safeParse(draft).error?.issues ?? []
    // A reserved word fits the schema, but it is a problem too.
    const word = issues.length > 0 ? undefined : (yield* agentProblems(draft))[0]?.path?.split('.')
    if (word === undefined && issues.length === 0) return yield* parsingAgent(draft)
    yield
    yield* takeOutAll(draft, word === undefined ? issues.flatMap(placesOf) : [word], moved)
  }
  return null
}

/** Paths between two pauses. */
const piecePaths = 500

/** Removes the last paths first, so that earlier items of a list keep their index. */
function* takeOutAll(draft: Record<string, unknown>, paths: readonly Path[], moved: Set<string>): Pausable<void> {
  const gone = new Set<string>()
  for (const [index, path] of paths.toReversed().entries()) {
    if (index % piecePaths === 0) yield
    if (path.some((_, depth) => gone.has(path.slice(0, depth + 1).join('/')))) continue
    gone.add(takeOut(draft, path, moved).join('/'))
  }
}

/** The value as JSON carries it, without what JSON cannot carry. */
function plain(input: object): object {
  try {
    return JSON.parse(JSON.stringify(input)) as object
  } catch {
    return {}
  }
}

type Path = readonly PropertyKey[]

function placesOf(issue: z.core.$ZodIssue): Path[] {
  return issue.code === 'unrecognized_keys' ? issue.keys.map((key) => [...issue.path, key]) : [issue.path]
}

/** Removes the value at `path`, or the nearest enclosing value that may go. Returns the path of what was removed. */
function takeOut(draft: Record<string, unknown>, path: Path, moved: Set<string>): Path {
  const [top] = path
  const isWorkflow = typeof draft['workflow'] === 'object' && draft['workflow'] !== null
  if (path.length === 1 && !isWorkflow && (top === 'model' || top === 'instructions')) {
    draft[top] = '?'
    return []
  }
  let length = path.length
  // If a required value is missing, remove the value that requires it.
  while (length > 1 && !Object.hasOwn(at(draft, path.slice(0, length - 1)), path[length - 1] as PropertyKey))
    length -= 1
  const holder = at(draft, path.slice(0, length - 1))
  const key = path[length - 1] as PropertyKey
  if (!Array.isArray(holder)) {
    Reflect.deleteProperty(holder, key)
    return path.slice(0, length)
  }
  holder.splice(Number(key), 1)
  moved.add(String(top))
  return path.slice(0, length)
}

function at(value: object, path: readonly PropertyKey[]): object {
  return path.reduce<object>((inner, step) => (inner as Record<PropertyKey, object>)[step] as object, value)
}
