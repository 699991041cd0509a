/** The tasks of one caller, page by page. */
import type { Principal } from '@witan/core'
import type { OwnRun, OwnRunFilter, OwnRuns, PublishedAgent } from '@witan/core/tooling'
import { isWitanError } from '@witan/protocol'
import type { AppOptions } from '../app-options.ts'
import { sealFor } from './conditions.ts'
import type { Caller } from './credential.ts'
import { finder, needsEvidence } from './let-in.ts'
import { historyLengthAt, idAt, invalid } from './message.ts'
import { sharesBudget } from './shared-budget.ts'
import { stateOf, taskOf } from './task.ts'
import { fieldAt, fieldOf, type TaskList, type WireTask } from './wire.ts'

interface Listing {
  readonly caller: Caller
  readonly agents: readonly PublishedAgent[]
  readonly params: unknown
  readonly options: Pick<AppOptions, 'federation' | 'runtime'>
  /** Is told by which principals the caller finds what is listed. */
  readonly onLetIn?: (principal: Principal) => void
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

/** How often one request reads a page, while too little of it fits; fewer where the beginning of each run must be read as well. */
const mostReads = { plain: 10, withEvidence: 1 }

/** Lists tasks, the last changed first; those of one context the last begun first. An anonymous caller has none. */
export async function listTasks(listing: Listing, own: OwnRuns): Promise<TaskList> {
  const { caller, agents, params } = listing
  const withUsage = sharesBudget(listing)
  const pageSize = sizeAt(params)
  const wanted = stateAt(params)
  const since = timeAt(params)
  const contextId = idAt(params, 'contextId')
  const cursor = idAt(params, 'pageToken')
  const historyLength = historyLengthAt(params) ?? 0
  const withArtifacts = fieldAt(params, 'includeArtifacts') === true
  const filter = wanted === null ? {} : states[wanted]
  const asked = agents.filter((agent) => agent.data.access.call !== null || !needsEvidence(agent, caller))
  if (caller.isAnonymous || asked.length === 0 || filter === null || filter === undefined)
    return { tasks: [], nextPageToken: '', pageSize, totalSize: 0 }
  const isByEvidence = asked.some((agent) => needsEvidence(agent, caller))
  const looking: Looking = {
    own,
    selected: {
      ...{ ...filter, agents: asked.map(({ data }) => data.id) },
      ...(contextId === null ? {} : { conversation: contextId }),
      ...(since === null ? {} : { since }),
    },
    isExact: filter.live !== true && !isByEvidence,
    reads: isByEvidence ? mostReads.withEvidence : mostReads.plain,
    finder: async (run) => {
      const agent = asked.find(({ data }) => data.id === run.agent)
      if (agent === undefined || (wanted !== null && stateOf(run) !== wanted)) return null
      return finder(agent, caller, { run, own })
    },
  }
  const { page, next } = await matching(looking, { cursor, most: pageSize })
  const tasks: WireTask[] = []
  for (const { run, principal } of page) {
    listing.onLetIn?.(principal)
    const history = historyLength === 0 ? [] : (await own.history(run)).slice(-historyLength)
    tasks.push(taskOf(run, { history, withArtifacts, withUsage, seal: await sealFor(listing, run) }))
  }
  const isWhole = cursor === null && next === null
  return { tasks, nextPageToken: next ?? '', pageSize, totalSize: isWhole ? page.length : await count(looking) }
}

interface Looking {
  readonly own: OwnRuns
  readonly selected: OwnRunFilter
  /** Whether all that is selected is the caller's to find. */
  readonly isExact: boolean
  /** How many pages one request reads at most. */
  readonly reads: number
  /** By which principal the caller finds a run; null if it does not, or the run asks its caller or not, which only the whole run tells. */
  readonly finder: (run: OwnRun) => Promise<Principal | null>
}

interface Listed {
  readonly run: OwnRun
  readonly principal: Principal
}

async function listed(items: readonly OwnRun[], { finder }: Looking): Promise<readonly Listed[]> {
  const found: Listed[] = []
  for (const run of items) {
    const principal = await finder(run)
    if (principal !== null) found.push({ run, principal })
  }
  return found
}

/** A page, and where to go on; null at the end. */
async function matching(
  looking: Looking,
  { cursor, most }: { readonly cursor: string | null; readonly most: number },
): Promise<{ readonly page: readonly Listed[]; readonly next: string | null }> {
  const found: Listed[] = []
  let from = cursor
  for (let reads = 0; reads < looking.reads; reads += 1) {
    const { items, nextCursor } = await pageOf(looking.own, { ...looking.selected, limit: most + 1, cursor: from })
    found.push(...(await listed(items, looking)))
    const last = found[most - 1]
    if (found.length > most && last !== undefined) return { page: found.slice(0, most), next: last.run.cursor }
    from = nextCursor
    if (from === null) break
  }
  return { page: found, next: from }
}

/** How many there are, among those that one request looks at. */
async function count(looking: Looking): Promise<number> {
  const { own, selected } = looking
  if (looking.isExact) return own.count(selected)
  let total = 0
  let cursor: string | null = null
  for (let reads = 0; reads < looking.reads; reads += 1) {
    const page: Awaited<ReturnType<OwnRuns['list']>> = await own.list({ ...selected, limit: 200, cursor })
    total += (await listed(page.items, looking)).length
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
