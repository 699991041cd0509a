/** Budgets between servers: whose limits lower those of a run here, and who is told what it has cost. */
import type { OwnRun } from '@witan/core/tooling'
import type { CallBudget } from '@witan/protocol/entries'
import { readAddress } from '@witan/protocol/names'
import type { AppOptions } from '../app-options.ts'
import type { Caller } from './credential.ts'
import { fieldOf, isObject, type UsageMetadata } from './wire.ts'

/** Who calls, and what this server is. */
interface Sharing {
  readonly caller: Pick<Caller, 'address'>
  readonly options: Pick<AppOptions, 'federation'>
}

/** Whether the caller is an agent of a domain with which budgets are shared. */
export function sharesBudget({ caller: { address }, options: { federation } }: Sharing): boolean {
  const read = address === null ? null : readAddress(address)
  return read?.ok === true && federation?.budgets?.includes(read.address.domain) === true
}

/** The budget of a message, if its caller may name one. */
export function sharedBudget(given: unknown, by: Sharing): { readonly budget?: CallBudget } {
  const budget = sharesBudget(by) ? budgetIn(given) : null
  return budget === null ? {} : { budget }
}

/** The budget that a message names; null for none. A part of it that is no amount is no limit: it can only lower. */
function budgetIn(given: unknown): CallBudget | null {
  if (!isObject(given)) return null
  const [modelCalls, tokens, costUsd, seconds, depth] = fields.map((name) => amountIn(given, name))
  const whole = (amount: number | null | undefined) => (amount == null ? null : Math.floor(amount))
  const budget = {
    ...{ modelCalls: whole(modelCalls), tokens: whole(tokens), costUsd: costUsd ?? null },
    ...{ seconds: whole(seconds), depth: whole(depth) },
  }
  return Object.values(budget).every((amount) => amount === null) ? null : budget
}

const fields = ['modelCalls', 'tokens', 'costUsd', 'seconds', 'depth'] as const

/** An amount beyond this is no limit: whole numbers end there. */
function amountIn(given: Record<string, unknown>, name: (typeof fields)[number]): number | null {
  const amount = fieldOf(given, name)
  return typeof amount === 'number' && amount >= 0 && amount <= Number.MAX_SAFE_INTEGER ? amount : null
}

/** What a task says of its cost, as metadata; nothing while it is not known. */
export function usageMetadata({ usage }: Pick<OwnRun, 'usage'>): UsageMetadata {
  if (usage === null) return {}
  const { byAgent: _, ...counters } = usage
  return { metadata: { witan: { usage: counters } } }
}
