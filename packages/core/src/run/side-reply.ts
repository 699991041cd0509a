/** Records the reply to a request that was not for an answer: it counts in usage, and stands in no document. */
import type { LoggedToolCall } from '@witan/protocol/entries'
import { type Job, record } from '../job/job.ts'
import { type Model, type ModelReply, namesOfModel } from '../model/model.ts'
import type { AgentCall } from '../conversation/state.ts'

/** The call whose model was asked, and when. */
export interface SideCall {
  readonly call: AgentCall
  readonly model: Model
  readonly startedAt: number
  readonly attempt: number
  readonly folded: number
  readonly readUpTo: number
  readonly digest: string
}

/** What became of the reply. */
interface Taken {
  readonly purpose: 'output' | 'critique'
  readonly accepted: boolean
  /** The calls of it that count. */
  readonly toolCalls: readonly LoggedToolCall[]
}

/** Records it as it came. */
export function recordSideReply(
  { call, model, startedAt, attempt, folded, readUpTo, digest }: SideCall,
  job: Job,
  { reply, ...taken }: Taken & { readonly reply: ModelReply },
): void {
  const behind = job.log.state.folded - folded
  const { usage, finishReason, text, askedAt = startedAt } = reply
  record(job, call.place, {
    type: 'end',
    kind: 'model',
    body: {
      ...namesOfModel(reply, model),
      ...{ usage, finishReason, text, taken: 0, startedAt: askedAt, attempt },
      ...{ offered: false, toolless: true, digest },
      ...taken,
      ...(readUpTo > 0 ? { readUpTo } : {}),
      ...(behind > 0 ? { behind } : {}),
    },
  })
}
