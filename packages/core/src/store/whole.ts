/** A conversation on its way from one store to another: the same for every driver. */
import { WitanError } from '@witan/protocol'
import { arrivedJob, isLive } from './job-change.ts'
import type { WholeConversation } from './store.ts'

/** The rows as the other store keeps them, under its own name of the database. Throws `BODY_INVALID` where they do not belong together. */
export function arriving(database: string, whole: WholeConversation): WholeConversation {
  const { row, entries, jobs, interruptions } = whole
  const conversation = row.id
  if (entries.length !== row.lastSeq || entries.some(({ seq }, index) => seq !== index + 1)) {
    throw brokenError(conversation, `its entries are not those from 1 to ${row.lastSeq}, in order`)
  }
  if (hasRepeats(jobs.map(({ id }) => id))) throw brokenError(conversation, 'two of its jobs have one id')
  if (hasRepeats(interruptions.map(({ view }) => view.id))) {
    throw brokenError(conversation, 'two of its interruptions have one id')
  }
  if (jobs.filter((job) => job.kind === 'run' && isLive(job)).length > 1) {
    throw brokenError(conversation, 'two of its runs are live')
  }
  return {
    row: { ...row, database },
    entries,
    jobs: jobs.map((job) => ({ ...arrivedJob(job), database, conversation })),
    interruptions: interruptions.map((one) => ({ ...one, database, conversation })),
  }
}

function hasRepeats(ids: readonly string[]): boolean {
  return new Set(ids).size !== ids.length
}

function brokenError(conversation: string, why: string): WitanError {
  const hint = 'Store what `readWhole` gave, as it is.'
  return new WitanError('BODY_INVALID', `Conversation \`${conversation}\` cannot be stored: ${why}.`, { hint })
}
