/** Moves a conversation from one store to another, the same for every driver. */
import { WitanError } from '@witan/protocol'
import { artifactRows } from './artifact-records.ts'
import { arrivedJob, isLive } from './job-change.ts'
import { digestOf } from './contents.ts'
import type { ConversationRow, ConversationSnapshot, JobRow, StoredContent } from './store.ts'

/** The rows as the importing store keeps them, in its `database`. Throws `BODY_INVALID` if they do not belong together. */
export function arriving(database: string, snapshot: ConversationSnapshot): ConversationSnapshot {
  const { row, entries, jobs, interruptions, contents = [], participants = [] } = snapshot
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
  if (hasRepeats(participants.map(({ user }) => user))) throw brokenError(conversation, 'it has a person twice')
  assertContents(snapshot, contents)
  return {
    row: { ...row, database },
    entries,
    jobs: jobs.map((job) => ({ ...arrivedJob(job), database, conversation })),
    interruptions: interruptions.map((one) => ({ ...one, database, conversation })),
    ...(contents.length === 0 ? {} : { contents }),
    ...(participants.length === 0 ? {} : { participants }),
  }
}

/** The content that the messages refer to is there, and is what its digest says. */
function assertContents({ row, entries }: ConversationSnapshot, contents: readonly StoredContent[]): void {
  const digests = new Set(contents.map(({ digest }) => digest))
  if (digests.size < contents.length) throw brokenError(row.id, 'it has the same content twice')
  if (contents.some(({ digest, bytes }) => digestOf(bytes) !== digest))
    throw brokenError(row.id, 'its content does not have the digest that is stated')
  for (const { type, body } of entries) {
    if (type === 'message' && body.files?.some(({ digest }) => !digests.has(digest)))
      throw brokenError(row.id, 'the content of a file is missing')
    if (type === 'artifact' && !digests.has(body.digest))
      throw brokenError(row.id, 'the content of an artifact is missing')
  }
  if (hasRepeats(artifactRows(entries, 0).map(({ id }) => id)))
    throw brokenError(row.id, 'two of its artifacts have one id')
}

function hasRepeats(ids: readonly string[]): boolean {
  return new Set(ids).size !== ids.length
}

function brokenError(conversation: string, why: string): WitanError {
  const hint = 'Store the result of `readSnapshot` unchanged.'
  return new WitanError('BODY_INVALID', `Conversation \`${conversation}\` cannot be stored: ${why}.`, { hint })
}

/** A small conversation that a store writes and deletes again, to check that it is writable. */
export function trialConversation(database: string, id: string, at: number): ConversationSnapshot {
  const names = { database, id, agent: 'trial', createdBy: 'trial' }
  const limits = { maxModelIterationsPerCall: null, expiresAt: null }
  const row: ConversationRow = { ...names, createdAt: at, lastMessageAt: at, lastSeq: 1, parameters: {}, ...limits }
  const place = {
    call: id,
    parentCall: null,
    run: id,
    document: id,
    author: 'trial',
    agentPath: 'trial',
    invocation: id,
  }
  const body = { author: 'trial', text: 'x'.repeat(1_000) }
  const writer = { job: id, epoch: 0, appendNo: 1 }
  const standing = { status: 'completed', owner: null, epoch: 0, leaseUntil: 0, wake: false, attempts: 0 } as const
  const times = { createdAt: at, startedAt: at, endedAt: at, firstSeq: 1 }
  const job: JobRow = { id, database, conversation: id, kind: 'run', ...standing, ...times, about: body, result: null }
  return {
    row,
    entries: [{ type: 'message', kind: null, body, seq: 1, at, place, ...writer }],
    jobs: [job],
    interruptions: [],
  }
}
