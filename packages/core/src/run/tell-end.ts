/** Tells hooks of calls that failed or were cancelled: there is nothing left for them to decide [F02]. */
import type { AgentCall } from '../conversation/state.ts'
import { hooksAt } from '../job/check-dues.ts'
import type { Job } from '../job/job.ts'
import { askRow } from '../hook/ask.ts'
import { questionOf } from './hook-question.ts'

/** Prepares it while the call is live. The result tells each hook, waits for none, and takes no answer. */
export function endTeller(call: AgentCall, job: Job, status: 'failed' | 'cancelled'): () => void {
  const row = hooksAt(job, 'afterRun', call)
  if (row.length === 0) return nobody
  const { signal } = new AbortController()
  const questions = row.map((one) =>
    questionOf<never>(call, job, {
      ...{ at: 'afterRun', row: [one], signal: () => signal },
      about: () => ({ text: '', output: null, status }),
      take: () => null,
    }),
  )
  return () => {
    for (const question of questions) void askRow(question)
  }
}

const nobody = () => {}
