/** The initial state of a live job in the fold, and its working time. */
import type { Entry } from '@witan/protocol/entries'
import type { Spending } from '../budget/budget.ts'
import { ExchangeBook } from '../tool/exchange.ts'
import { SparseMap } from './sparse-map.ts'
import type { AgentCall, LiveJob } from './state.ts'

/** Updates the working time. A new epoch begins when a parked or lost run continues; the time between does not count. */
export function clockWork(worked: LiveJob['worked'], { epoch, at }: Entry): void {
  if (epoch > worked.epoch) {
    worked.ms += worked.to - worked.from
    worked.epoch = epoch
    worked.from = at
  }
  worked.to = at
}

/** A spending of zero. */
export function nothingSpent(): Spending {
  return { modelCalls: 0, iterations: 0, tokens: 0, costUsd: 0 }
}

const noWarnings: readonly string[] = []

/** The state of a job when it begins. */
export function newRun(
  root: AgentCall,
  {
    tree,
    principal,
    revisions,
    grant,
    account,
  }: Pick<LiveJob, 'tree' | 'principal' | 'revisions' | 'grant' | 'account'>,
): LiveJob {
  return {
    root,
    tree,
    principal,
    revisions,
    grant,
    account,
    taskSpending: nothingSpent(),
    messageIds: new SparseMap(),
    tasks: [],
    exchanges: new ExchangeBook(),
    calls: new Map([[root.place.call, root]]),
    toolCalls: new Map(),
    modelCalls: 0,
    failedCalls: 0,
    warnings: noWarnings,
    toolIterations: 0,
    transfers: 0,
    tokens: 0,
    costUsd: 0,
    invocations: new SparseMap(),
    told: new SparseMap(),
    worked: { ms: 0, epoch: 1, from: root.startedAt, to: root.startedAt },
    loggedStatus: null,
    recovered: 0,
    cancelled: false,
  }
}
