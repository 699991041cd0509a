/** What a call may spend elsewhere, and what its tasks there have cost, where budgets are shared. */
import type { UsageCounters } from '@witan/protocol'
import { roundCost } from '@witan/protocol/entries'
import type { RemoteCall } from '../tool/remote.ts'
import type { JsonRecord } from './record.ts'
import type { RemoteNote } from './remote-note.ts'
import type { RemoteServices } from './remote-services.ts'
import type { RemoteTask } from './remote-task.ts'
import { largerOf, readUsage, restOf, sumOf } from './remote-usage.ts'

interface Spending {
  readonly services: Pick<RemoteServices, 'sharesBudget'>
  readonly of: Pick<RemoteCall, 'body' | 'context'>
  readonly remote: string
  readonly note: Pick<RemoteNote, 'ended' | 'counted'>
  readonly task: Pick<RemoteTask, 'usage' | 'dropped'>
}

/** What a task that begins now may spend: the share of the call without what it has spent already. Null if none is sent. */
export function budgetLeft({ services, of, remote, note: { counted } }: Spending): JsonRecord | null {
  const { share } = of.body
  if (share === null || !services.sharesBudget(remote)) return null
  const { depth, maxDepth } = of.context.caller
  const left = (most: number | null, spent = 0) => (most === null ? null : Math.max(0, most - spent))
  const costUsd = left(share.costUsd, counted?.costUsd ?? 0)
  return {
    modelCalls: left(share.modelCalls, counted?.modelCalls),
    tokens: left(share.tokens, counted?.totalTokens),
    costUsd: costUsd === null ? null : roundCost(costUsd),
    seconds: share.seconds,
    depth: Number.isFinite(maxDepth) ? Math.max(0, maxDepth - depth) : null,
  }
}

/** What all tasks of a call have cost, and what of it the log does not have; both null if that is unknown. */
interface Cost {
  readonly total: UsageCounters | null
  readonly rest: UsageCounters | null
}

/** Reads what the task says of its cost. What is not believed, or is no usage, is named in `dropped`. */
export function costOf({ services, remote, note, task }: Spending): Cost {
  const { usage, dropped } = task
  const read = services.sharesBudget(remote) ? readUsage(usage) : null
  if (usage !== undefined && read === null) dropped.add('metadata.witan.usage')
  const said = read === null ? null : sumOf(note.ended, read)
  if (said === null) return { total: null, rest: null }
  const total = largerOf(note.counted, said)
  return { total, rest: restOf(total, note.counted) }
}
