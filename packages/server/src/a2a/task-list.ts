/** The tasks of one caller, page by page. */
import type { OwnRun, OwnRunFilter, OwnRuns, PublishedAgent } from '@witan/core/tooling'
import { isWitanError } from '@witan/protocol'
import type { AppOptions } from '../app-options.ts'
import { sealFor } from './conditions.ts'
import type { Caller } from './credential.ts'
import { isLetIn } from './let-in.ts'
import { historyLengthAt, idAt, invalid } from './message.ts'
import { sharesBudget } from './shared-budget.ts'
import { stateOf, taskOf } from './task.ts'
import { fieldAt, fieldOf, type TaskList, type WireTask } from './wire.ts'

interface Listing {
  readonly caller: Caller
  readonly agents: readonly PublishedAgent[]
  readonly params: unknown
  readonly options: Pick<AppOptions, 'federation' | 'runtime'>
}

const states: Readonly<Record<string, Pick<OwnRunFilter, 'live' | 'status'> | null>> = {
  TASK_STATE_WORKING: { live: true },
  TASK_STATE_INPUT_REQUIRED: { live: true },
  TASK_STATE_AUTH_REQUIRED: { live: true },
  TASK_STATE_COMPLETED: { status: 'completed' },
  TASK_STATE_FAILED: { status: 'failed' },
  TASK_STATE_CANCELED: { status: 'cancelled' },
  TASK_STATE_SUBMITTED: null,
  TASK_STATE_REJECTED: null,
}

/** How often one request reads a page, while too little of it fits. */
const mostReads = 10

/** Lists tasks, the last changed first; those of one context the last begun first. An anonymous caller has none. */
export async function listTasks(listing: Listing, own: OwnRuns): Promise<TaskList> {
  const { caller, agents: called, params } = listing
  const withUsage = sharesBudget(listing)
  const pageSize = sizeAt(params)
  const wanted = stateAt(params)
  const since = timeAt(params)
  const contextId = idAt(params, 'contextId')
  const cursor = idAt(params, 'pageToken')
  const historyLength = historyLengthAt(params) ?? 0
  const withArtifacts = fieldAt(params, 'includeArtifacts') === true
  const filter = wanted === null ? {} : states[wanted]
  const agents = called.filter((agent) => isLetIn(agent, caller)).map(({ data }) => data.id)
  if (caller.isAnonymous || agents.length === 0 || filter === null || filter === undefined)
    return { tasks: [], nextPageToken: '', pageSize, totalSize: 0 }
  const looking: Looking = {
    selected: {
      ...{ ...filter, agents },
      ...(contextId === null ? {} : { conversation: contextId }),
      ...(since === null ? {} : { since }),
    },
    fits: (run) => wanted === null || stateOf(run) === wanted,
  }
  const { page, next } = await matching(own, { ...looking, cursor, most: pageSize })
  const tasks: WireTask[] = []
  for (const run of page) {
    const history = historyLength === 0 ? [] : (await own.history(run)).slice(-historyLength)
    tasks.push(taskOf(run, { history, withArtifacts, withUsage, seal: await sealFor(listing, run) }))
  }
  const isWhole = cursor === null && next === null
  return { tasks, nextPageToken: next ?? '', pageSize, totalSize: isWhole ? page.length : await count(own, looking) }
}

interface Looking {
  readonly selected: OwnRunFilter
  /** What only the whole run tells: whether it asks its caller. */
  readonly fits: (run: OwnRun) => boolean
}

/** A page, and where to go on; null at the end. */
async function matching(
  own: OwnRuns,
  { selected, fits, cursor, most }: Looking & { readonly cursor: string | null; readonly most: number },
): Promise<{ readonly page: readonly OwnRun[]; readonly next: string | null }> {
  const found: OwnRun[] = []
  let from = cursor
  for (let reads = 0; reads < mostReads; reads += 1) {
    const { items, nextCursor } = await pageOf(own, { ...selected, limit: most + 1, cursor: from })
    found.push(...items.filter(fits))
    const last = found[most - 1]
    if (found.length > most && last !== undefined) return { page: found.slice(0, most), next: last.cursor }
    from = nextCursor
    if (from === null) break
  }
  return { page: found, next: from }
}

/** How many there are, among those that one request looks at. */
async function count(own: OwnRuns, { selected, fits }: Looking): Promise<number> {
  if (selected.live !== true) return own.count(selected)
  let total = 0
  let cursor: string | null = null
  for (let reads = 0; reads < mostReads; reads += 1) {
    const page: Awaited<ReturnType<OwnRuns['list']>> = await own.list({ ...selected, limit: 200, cursor })
    total += page.items.filter(fits).length
    cursor = page.nextCursor
    if (cursor === null) break
  }
  return total
}

async function pageOf(own: OwnRuns, filter: Parameters<OwnRuns['list']>[0]) {
  try {
    return await own.list(filter)
  } catch (error) {
    if (isWitanError(error) && error.code === 'BODY_INVALID') throw invalid('`pageToken` is not one of this list')
    throw error
  }
}

function sizeAt(params: unknown): number {
  const size = fieldAt(params, 'pageSize') ?? 50
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

function timeAt(params: unknown): number | null {
  const text = fieldAt(params, 'statusTimestampAfter') ?? ''
  if (text === '') return null
  const time = typeof text === 'string' && text.length <= 40 ? Date.parse(text) : Number.NaN
  if (Number.isNaN(time)) throw invalid('`statusTimestampAfter` must be a time such as 2026-11-28T10:00:00Z')
  return time
}
