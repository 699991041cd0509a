/** The tasks of one caller, page by page. */
import type { OwnRun, OwnRunFilter, OwnRuns, PublishedAgent } from '@witan/core/tooling'
import { isWitanError } from '@witan/protocol'
import type { AppOptions } from '../app-options.ts'
import type { Caller } from './credential.ts'
import { isLetIn } from './let-in.ts'
import { historyLengthAt, idAt, invalid } from './message.ts'
import { sharesBudget } from './shared-budget.ts'
import { stateOf, taskOf } from './task.ts'
import { fieldOf, type TaskList, type WireTask } from './wire.ts'

interface Listing {
  readonly caller: Caller
  readonly agents: readonly PublishedAgent[]
  readonly params: unknown
  readonly options: Pick<AppOptions, 'federation'>
}

const states: Readonly<Record<string, Pick<OwnRunFilter, 'live' | 'status'> | null>> = {
  TASK_STATE_WORKING: { live: true },
  TASK_STATE_INPUT_REQUIRED: { live: true },
  TASK_STATE_COMPLETED: { status: 'completed' },
  TASK_STATE_FAILED: { status: 'failed' },
  TASK_STATE_CANCELED: { status: 'cancelled' },
  TASK_STATE_SUBMITTED: null,
  TASK_STATE_REJECTED: null,
  TASK_STATE_AUTH_REQUIRED: null,
}

/** How many tasks one request looks at. */
const mostLooked = 2_000

/** Lists tasks, the latest first. An anonymous caller has none. */
export async function listTasks(listing: Listing, own: OwnRuns): Promise<TaskList> {
  const { caller, agents: called, params } = listing
  const withUsage = sharesBudget(listing)
  const pageSize = sizeAt(params)
  const wanted = stateAt(params)
  const after = timeAt(params)
  const contextId = idAt(params, 'contextId')
  const cursor = idAt(params, 'pageToken')
  const historyLength = historyLengthAt(params) ?? 0
  const withArtifacts = fieldOf(params, 'includeArtifacts') === true
  const filter = wanted === null ? {} : states[wanted]
  const none = { tasks: [], nextPageToken: '', pageSize, totalSize: 0 }
  const agents = called.filter((agent) => isLetIn(agent, caller))
  if (caller.isAnonymous || agents.length === 0 || filter === null || filter === undefined) return none
  const ids = new Set(agents.map(({ data }) => data.id))
  const [only] = agents
  const selected: OwnRunFilter = {
    ...filter,
    ...(agents.length === 1 && only !== undefined ? { agent: only.data.id } : {}),
    ...(contextId === null ? {} : { conversation: contextId }),
  }
  const fits = (run: OwnRun): boolean =>
    ids.has(run.agent) && (wanted === null || stateOf(run) === wanted) && run.changedAt >= after
  const found = await matching(own, { selected, fits, cursor, most: pageSize + 1 })
  const page = found.slice(0, pageSize)
  const tasks: WireTask[] = []
  for (const run of page) {
    const history = historyLength === 0 ? [] : (await own.history(run)).slice(-historyLength)
    tasks.push(taskOf(run, { history, withArtifacts, withUsage }))
  }
  const nextPageToken = found.length > pageSize ? (page.at(-1)?.runId ?? '') : ''
  const totalSize = cursor === null && nextPageToken === '' ? page.length : await count(own, { selected, fits })
  return { tasks, nextPageToken, pageSize, totalSize }
}

interface Looking {
  readonly selected: OwnRunFilter
  readonly fits: (run: OwnRun) => boolean
}

async function matching(
  own: OwnRuns,
  { selected, fits, cursor, most }: Looking & { readonly cursor: string | null; readonly most: number },
): Promise<readonly OwnRun[]> {
  const found: OwnRun[] = []
  let from = cursor
  for (let looked = 0; looked < mostLooked && found.length < most; looked += 200) {
    const page = await pageOf(own, { ...selected, limit: 200, cursor: from })
    found.push(...page.items.filter(fits))
    if (page.nextCursor === null) break
    from = page.nextCursor
  }
  return found.slice(0, most)
}

/** How many there are, counted up to what one request looks at. */
async function count(own: OwnRuns, looking: Looking): Promise<number> {
  return (await matching(own, { ...looking, cursor: null, most: mostLooked })).length
}

async function pageOf(own: OwnRuns, filter: OwnRunFilter) {
  try {
    return await own.list(filter)
  } catch (error) {
    if (isWitanError(error) && error.code === 'BODY_INVALID') throw invalid('`pageToken` is not one of this list')
    throw error
  }
}

function sizeAt(params: unknown): number {
  const size = fieldOf(params, 'pageSize') ?? 50
  if (!Number.isSafeInteger(size) || (size as number) < 1 || (size as number) > 100)
    throw invalid('`pageSize` must be a whole number from 1 to 100')
  return size as number
}

function stateAt(params: unknown): string | null {
  const state = fieldOf(params, 'status') ?? 'TASK_STATE_UNSPECIFIED'
  if (state === 'TASK_STATE_UNSPECIFIED' || state === '') return null
  if (typeof state === 'string' && Object.hasOwn(states, state)) return state
  throw invalid(`\`status\` must be one of ${Object.keys(states).join(', ')}`)
}

function timeAt(params: unknown): number {
  const text = fieldOf(params, 'statusTimestampAfter') ?? ''
  if (text === '') return Number.NEGATIVE_INFINITY
  const time = typeof text === 'string' && text.length <= 40 ? Date.parse(text) : Number.NaN
  if (Number.isNaN(time)) throw invalid('`statusTimestampAfter` must be a time such as 2026-11-28T10:00:00Z')
  return time
}
