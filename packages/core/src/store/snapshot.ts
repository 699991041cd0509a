/** Moves a conversation from one store to another, the same for every driver. */
import { WitanError } from '@witan/protocol'
import { pause } from '../identity/turn.ts'
import { digestInParts } from './contents.ts'
import { arrivedJob, isLive } from './job-change.ts'
import type { ConversationRow, ConversationSnapshot, JobRow } from './store.ts'
import type { StoredContent } from './stored-content.ts'

/** Rows between two pauses. */
const pieceRows = 2_000

/**
 * The rows as the importing store keeps them, in its `database`. Throws `BODY_INVALID` if they do not belong together. Gives way to other
 * work.
 */
export async function arriving(database: string, snapshot: ConversationSnapshot): Promise<ConversationSnapshot> {
  const { row, entries, jobs, interruptions, contents = [], participants = [] } = snapshot
  const conversation = row.id
  const isInOrder = await every(entries, ({ seq }, index) => seq === index + 1)
  if (entries.length !== row.lastSeq || !isInOrder)
    throw brokenError(conversation, `its entries are not those from 1 to ${row.lastSeq}, in order`)
  if (await hasRepeats(jobs, ({ id }) => id)) throw brokenError(conversation, 'two of its jobs have one id')
  if (await hasRepeats(interruptions, ({ view }) => view.id))
    throw brokenError(conversation, 'two of its interruptions have one id')
  if (jobs.filter((job) => job.kind === 'run' && isLive(job)).length > 1)
    throw brokenError(conversation, 'two of its runs are live')
  const epochs = new Map(jobs.map(({ id, epoch }) => [id, epoch]))
  // A process that takes the job up would wait for the one that wrote it. A job begins in its first epoch, also before anybody has claimed it.
  if (!(await every(entries, ({ job, epoch }) => epoch <= Math.max(1, epochs.get(job) ?? epoch))))
    throw brokenError(conversation, 'one of its entries is of a later epoch than its job')
  if (await hasRepeats(participants, ({ user }) => user)) throw brokenError(conversation, 'it has a person twice')
  await assertContents(snapshot, contents)
  return {
    row: { ...row, database },
    entries,
    jobs: await all(jobs, (job) => ({ ...arrivedJob(job), database, conversation })),
    interruptions: await all(interruptions, (one) => ({ ...one, database, conversation })),
    ...(contents.length === 0 ? {} : { contents }),
    ...(participants.length === 0 ? {} : { participants }),
  }
}

/** The content that the messages refer to is there, and is what its digest says. */
async function assertContents(
  { row, entries }: ConversationSnapshot,
  contents: readonly StoredContent[],
): Promise<void> {
  const digests = new Set(contents.map(({ digest }) => digest))
  if (digests.size < contents.length) throw brokenError(row.id, 'it has the same content twice')
  for (const { digest, bytes } of contents) {
    await pause()
    if ((await digestInParts(bytes)) !== digest)
      throw brokenError(row.id, 'its content does not have the digest that is stated')
  }
  const artifacts = new Set<string>()
  const isWhole = await every(entries, ({ type, body }) => {
    if (type === 'message' && body.files?.some(({ digest }) => !digests.has(digest)))
      throw brokenError(row.id, 'the content of a file is missing')
    if (type !== 'artifact') return true
    if (!digests.has(body.digest)) throw brokenError(row.id, 'the content of an artifact is missing')
    const isNew = !artifacts.has(body.id)
    artifacts.add(body.id)
    return isNew
  })
  if (!isWhole) throw brokenError(row.id, 'two of its artifacts have one id')
}

async function every<Row>(rows: readonly Row[], holds: (row: Row, index: number) => boolean): Promise<boolean> {
  for (const [index, row] of rows.entries()) {
    if (index % pieceRows === 0) await pause()
    if (!holds(row, index)) return false
  }
  return true
}

async function hasRepeats<Row>(rows: readonly Row[], idOf: (row: Row) => string): Promise<boolean> {
  const ids = new Set<string>()
  await every(rows, (row) => ids.add(idOf(row)) !== null)
  return ids.size !== rows.length
}

async function all<Row, Made>(rows: readonly Row[], make: (row: Row) => Made): Promise<readonly Made[]> {
  const made: Made[] = []
  await every(rows, (row) => made.push(make(row)) > 0)
  return made
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
  const times = { createdAt: at, startedAt: at, endedAt: at, changedAt: at, firstSeq: 1 }
  const job: JobRow = { id, database, conversation: id, kind: 'run', ...standing, ...times, about: body, result: null }
  return {
    row,
    entries: [{ type: 'message', kind: null, body, seq: 1, at, place, ...writer }],
    jobs: [job],
    interruptions: [],
  }
}
