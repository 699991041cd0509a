/** An agent that may be wrong in its form, read as far as it goes: so that one look tells all of its mistakes, and those of who lists it. */
import type { AgentData, Finding, WitanError } from '@witan/protocol'
import { agentSchema } from '@witan/protocol/schemas'
import type { z } from 'zod'
import { agentProblems, parseAgent } from './parse.ts'

/** What was found wrong with its form, and the agent without that; null where it is not even known which one it is. */
export interface Inspected {
  readonly problems: readonly WitanError[]
  readonly agent: AgentData | null
  /** Whether a finding about that agent is no news: its place is wrong in form already, or was moved by what was taken out. */
  isTold(finding: Pick<Finding, 'path'>): boolean
}

const mostRepairs = 20

/** Never throws. An agent without problems is what `parseAgent` gives. */
export function inspectAgent(input: unknown): Inspected {
  const problems = agentProblems(input)
  if (problems.length === 0) return { problems, agent: parseAgent(input), isTold: () => false }
  const moved = new Set<string>()
  const agent = problems.some(({ path }) => path === 'id') ? null : repaired(input, moved)
  const isTold = ({ path }: Pick<Finding, 'path'>) =>
    moved.has(path.split('.')[0] ?? '') ||
    problems.some((problem) => path === problem.path || path.startsWith(`${problem.path}.`))
  return { problems, agent, isTold }
}

/** Takes out what does not fit, again and again, and fills in what must be there. `moved`: lists that lost an item. */
function repaired(input: unknown, moved: Set<string>): AgentData | null {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return null
  const draft: Record<string, unknown> = { model: '?', instructions: '', ...plain(input) }
  for (let round = 0; round < mostRepairs; round += 1) {
    const [issue] = agentSchema.safeParse(draft).error?.issues ?? []
    // A word that is reserved fits the schema, and is a problem all the same.
    const path = issue === undefined ? agentProblems(draft)[0]?.path?.split('.') : placeOf(issue)
    if (path === undefined) return parseAgent(draft)
    takeOut(draft, path, moved)
  }
  return null
}

/** As JSON carries it; nothing of what JSON cannot carry. */
function plain(input: object): object {
  try {
    return JSON.parse(JSON.stringify(input)) as object
  } catch {
    return {}
  }
}

function placeOf(issue: z.core.$ZodIssue): readonly PropertyKey[] {
  return issue.code === 'unrecognized_keys' ? [...issue.path, issue.keys[0] ?? ''] : issue.path
}

function takeOut(draft: Record<string, unknown>, path: readonly PropertyKey[], moved: Set<string>): void {
  const [top] = path
  if (path.length === 1 && (top === 'model' || top === 'instructions')) {
    draft[top] = '?'
    return
  }
  let length = path.length
  // What must be there and is not: the thing that needs it goes.
  while (length > 1 && !Object.hasOwn(at(draft, path.slice(0, length - 1)), path[length - 1] as PropertyKey))
    length -= 1
  const holder = at(draft, path.slice(0, length - 1))
  const key = path[length - 1] as PropertyKey
  if (!Array.isArray(holder)) return void Reflect.deleteProperty(holder, key)
  holder.splice(Number(key), 1)
  moved.add(String(top))
}

function at(value: object, path: readonly PropertyKey[]): object {
  return path.reduce<object>((inner, step) => (inner as Record<PropertyKey, object>)[step] as object, value)
}
