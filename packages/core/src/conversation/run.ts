/** A live job in the fold: how it begins, and how long it was worked on. */
import type { Entry } from '@witan/protocol/entries'
import type { Spending } from '../budget/budget.ts'
import type { AgentCall, RunState } from './state.ts'

/** A new epoch begins when a parked or lost run goes on: the time between is nobody's work. */
export function clockWork(worked: RunState['worked'], { epoch, at }: Entry): void {
  if (epoch > worked.epoch) {
    worked.ms += worked.to - worked.from
    worked.epoch = epoch
    worked.from = at
  }
  worked.to = at
}

/** Nothing yet. */
export function nothingSpent(): Spending {
  return { modelCalls: 0, iterations: 0, tokens: 0, costUsd: 0 }
}

/** What is known of a job when it begins. */
export function newRun(root: AgentCall, of: Pick<RunState, 'tree' | 'revisions' | 'grant' | 'account'>): RunState {
  return {
    root,
    ...of,
    lent: nothingSpent(),
    heard: new Set(),
    tasks: [],
    calls: new Map([[root.place.call, root]]),
    slots: new Map(),
    modelCalls: 0,
    failedCalls: 0,
    toolIterations: 0,
    tokens: 0,
    costUsd: 0,
    invocations: new Map(),
    worked: { ms: 0, epoch: 1, from: root.startedAt, to: root.startedAt },
    told: null,
    recovered: 0,
    cancelled: false,
    failure: null,
  }
}
