/** Builds the statements that write the batch of a group, one for all rows of a kind. */
import { piecesOf } from '../../pieces.ts'
import { logSql } from '../../sql/postgres/log.ts'
import { writeSql } from '../../sql/postgres/append.ts'
import { artifactSql } from '../../sql/postgres/artifacts.ts'
import { blockSql } from '../../sql/postgres/blocks.ts'
import { releaseSql } from '../../sql/postgres/contents.ts'
import { participantSql } from '../../sql/postgres/participants.ts'
import { usageSql } from '../../sql/postgres/usage.ts'
import type { InterruptionRow } from '../../store.ts'
import { insertArtifacts } from './artifacts.ts'
import { useContents } from './contents.ts'
import { setParticipants } from './participants.ts'
import type { Statement, Value } from './statements.ts'
import { keepUsage } from './usage.ts'
import type { StoredJob } from './rows.ts'
import { jsonText, stored } from './text.ts'
import type { Batch, BatchConversation } from './working.ts'

type Column = readonly (string | number | boolean | null)[]

const texts = (values: readonly string[]): Column => values.map(stored)
const textsOrNull = (values: readonly (string | null)[]): Column =>
  values.map((value) => (value === null ? null : stored(value)))
/** Whole milliseconds; a clock may return fractions. */
const times = (values: readonly (number | null)[]): Column =>
  values.map((value) => (value === null ? null : Math.trunc(value)))
/** Joins JSON texts, which contain no line feed. */
const lines = (values: readonly string[]): Value => values.join('\n')

/** The mark of a stored group, by which a retry finds out whether it was stored. */
export type Evidence =
  | { readonly kind: 'entry'; readonly conversation: string; readonly seq: number; readonly text: string }
  | { readonly kind: 'mark'; readonly id: string }

/** The statements that write the batch, in pieces that are sent one after the other; none if nothing changed. */
export function writesOf(batch: Batch): Generator<readonly Statement[]> {
  return piecesOf(statementsOf(batch), lengthOf)
}

function* statementsOf(batch: Batch): Generator<Statement> {
  const database = stored(batch.database)
  yield* purges(batch, database)
  yield* conversationWrites(batch, database)
  yield* insertEntries(database, entriesIn(batch))
  yield* jobWrites(batch, database)
  yield* interruptionWrites(batch, database)
  for (const uses of piecesOf(batch.uses, noText)) yield* useContents(database, uses)
  yield* setParticipants(database, batch.people)
  for (const rows of piecesOf(artifactsIn(batch), noText)) yield* insertArtifacts(database, rows)
  if (batch.notes.size > 0) {
    const keys = [...batch.notes.keys()]
    yield [writeSql.noteReplies, database, texts(keys), texts([...batch.notes.values()])]
  }
  yield* keepUsage(database, batch.usage.rows())
}

/** The length of a row without a long text. */
export const noText = () => 0

/** To write an item of a list costs about as much as so many characters. */
const charactersOfItem = 16

/** About how many characters of a statement are sent. */
export function lengthOf([, ...values]: Statement): number {
  let length = 0
  for (const value of values)
    if (typeof value === 'string' || value instanceof Buffer) length += value.length
    else if (Array.isArray(value)) length += value.length * charactersOfItem
  return length
}

/** The mark of a group: one of its entries, or a separate mark with the statements that store it. */
export function evidenceOf(
  batch: Batch,
  markId: string,
): { readonly evidence: Evidence; readonly writes: Statement[] } {
  for (const { id, entries } of batch.conversations.values()) {
    const [first] = entries
    if (first !== undefined) return { evidence: { kind: 'entry', conversation: id, ...first }, writes: [] }
  }
  const database = stored(batch.database)
  const writes: Statement[] = [
    [writeSql.insertMark, database, markId, Math.trunc(batch.now)],
    [writeSql.sweepMarks, database, Math.trunc(batch.now) - anHour],
  ]
  return { evidence: { kind: 'mark', id: markId }, writes }
}

const anHour = 3_600_000

/** A write that changes nothing else, so that a commit waits for disk and standby. */
export function confirmation(database: string, now: number): Statement[] {
  return [[writeSql.confirm], [writeSql.sweepMarks, database, Math.trunc(now) - anHour]]
}

/** Deletes conversations with all their rows, and content that nobody else refers to, except what is used `again`. */
export function deletesOf(database: string, ids: readonly string[], again: readonly string[] = []): Statement[] {
  const { deleteEntries, deleteJobs, deleteInterruptions, deleteConversations } = logSql
  const { deleteParticipants } = participantSql
  const all = [
    artifactSql.deleteArtifacts,
    deleteEntries,
    deleteJobs,
    deleteInterruptions,
    deleteParticipants,
    usageSql.deleteUsage,
    blockSql.deleteBlocks,
    blockSql.deleteUses,
    deleteConversations,
  ]
  const { lockUsed, markUnused, deleteUses, deleteUnused } = releaseSql
  const at = [stored(database), texts(ids)] as const
  return [
    [lockUsed, ...at],
    [markUnused, ...at, texts(again)],
    [deleteUses, ...at],
    [deleteUnused, at[0]],
    ...all.map((sql): Statement => [sql, ...at]),
  ]
}

function purges(batch: Batch, _database: string): Statement[] {
  if (batch.purged.size === 0) return []
  const again = batch.uses.map(({ digest }) => digest)
  return deletesOf(batch.database, [...batch.purged], again)
}

function conversationWrites(batch: Batch, database: string): Statement[] {
  const all = [...batch.conversations.values()]
  const changed = all.filter(({ isStored, isChanged }) => isStored && isChanged)
  const bound = all.filter(({ isStored, areParametersChanged }) => isStored && areParametersChanged)
  const writes: Statement[] = []
  const made = all.filter(({ isStored }) => !isStored)
  if (made.length > 0) writes.push(insertConversations(database, made))
  if (changed.length > 0) {
    const numbers = [changed.map(({ lastSeq }) => lastSeq), times(changed.map(({ lastMessageAt }) => lastMessageAt))]
    writes.push([writeSql.updateConversations, database, texts(changed.map(({ id }) => id)), ...numbers])
  }
  if (bound.length > 0) {
    const parameters = lines(bound.map((one) => jsonText(one.parameters)))
    writes.push([writeSql.updateParameters, database, texts(bound.map(({ id }) => id)), parameters])
  }
  return writes
}

function insertConversations(database: string, made: readonly BatchConversation[]): Statement {
  const rows = made.map(({ created, lastSeq, lastMessageAt, parameters }) => ({
    ...(created as NonNullable<typeof created>),
    ...{ lastSeq, lastMessageAt, given: jsonText(parameters) },
  }))
  return [
    writeSql.insertConversations,
    database,
    texts(rows.map(({ id }) => id)),
    texts(rows.map(({ agent }) => agent)),
    texts(rows.map(({ createdBy }) => createdBy)),
    times(rows.map(({ createdAt }) => createdAt)),
    times(rows.map(({ lastMessageAt }) => lastMessageAt)),
    rows.map(({ lastSeq }) => lastSeq),
    lines(rows.map(({ given }) => given)),
    rows.map(({ maxModelIterationsPerCall }) => maxModelIterationsPerCall),
    times(rows.map(({ expiresAt }) => expiresAt)),
  ]
}

function* entriesIn({ conversations }: Batch): Generator<EntryLine> {
  for (const { id, entries } of conversations.values()) for (const entry of entries) yield { id, ...entry }
}

function* artifactsIn({ conversations }: Batch) {
  for (const { id: conversation, artifacts } of conversations.values())
    for (const row of artifacts) yield { ...row, conversation }
}

/** A line of the log of the conversation `id`. */
interface EntryLine {
  readonly id: string
  readonly seq: number
  readonly text: string
}

/** Stores lines of the log, a piece with each statement. */
export function* insertEntries(database: string, all: Iterable<EntryLine>): Generator<Statement> {
  for (const rows of piecesOf(all, ({ text }) => text.length)) {
    const [ids, seqs] = [texts(rows.map(({ id }) => id)), rows.map(({ seq }) => seq)]
    yield [writeSql.insertEntries, database, ids, seqs, lines(rows.map(({ text }) => text))]
  }
}

function jobWrites({ jobs }: Batch, database: string): Statement[] {
  const all = [...jobs.values()].filter(({ isChanged }) => isChanged)
  const made = all.filter(({ isStored }) => !isStored)
  const changed = all.filter(({ isStored }) => isStored)
  return [
    ...(made.length === 0 ? [] : [insertJobs(database, made)]),
    ...(changed.length === 0 ? [] : [updateJobs(database, changed)]),
  ]
}

/** The status and owner columns of jobs, in the order of both statements. */
function standings(jobs: readonly StoredJob[]) {
  return [
    jobs.map(({ status }) => status),
    textsOrNull(jobs.map(({ owner }) => owner)),
    jobs.map(({ epoch }) => epoch),
    times(jobs.map(({ leaseUntil }) => leaseUntil)),
    jobs.map(({ wake }) => wake),
    jobs.map(({ attempts }) => attempts),
  ]
}

/** Stores new jobs. */
export function insertJobs(database: string, jobs: readonly StoredJob[]): Statement {
  return [
    writeSql.insertJobs,
    database,
    texts(jobs.map(({ id }) => id)),
    texts(jobs.map(({ conversation }) => conversation)),
    jobs.map(({ kind }) => kind),
    ...standings(jobs),
    times(jobs.map(({ createdAt }) => createdAt)),
    times(jobs.map(({ startedAt }) => startedAt)),
    times(jobs.map(({ endedAt }) => endedAt)),
    jobs.map(({ firstSeq }) => firstSeq),
    lines(jobs.map(({ about }) => about)),
    lines(jobs.map(({ result }) => result)),
    times(jobs.map(({ changedAt }) => changedAt)),
  ]
}

function updateJobs(database: string, jobs: readonly StoredJob[]): Statement {
  return [
    writeSql.updateJobs,
    database,
    texts(jobs.map(({ id }) => id)),
    ...standings(jobs),
    times(jobs.map(({ startedAt }) => startedAt)),
    times(jobs.map(({ endedAt }) => endedAt)),
    lines(jobs.map(({ result }) => result)),
    times(jobs.map(({ changedAt }) => changedAt)),
  ]
}

function interruptionWrites({ interruptions }: Batch, database: string): Statement[] {
  const all = [...interruptions]
  const made = all.flatMap(([, { fresh, settled }]) => {
    if (fresh === null) return []
    if (settled === null) return [fresh]
    const { state, answer, by, at } = settled
    return [{ ...fresh, view: { ...fresh.view, state }, answer, answeredBy: by, settledAt: at }]
  })
  const settled = all.flatMap(([id, { isStored, settled: one }]) => (isStored && one !== null ? [{ ...one, id }] : []))
  const writes: Statement[] = made.length === 0 ? [] : [insertInterruptions(database, made)]
  if (settled.length > 0) {
    writes.push([
      writeSql.settleInterruptions,
      database,
      texts(settled.map(({ id }) => id)),
      settled.map(({ state }) => state),
      textsOrNull(settled.map(({ by }) => by)),
      times(settled.map(({ at }) => at)),
      lines(settled.map(({ answer }) => jsonText(answer))),
    ])
  }
  return writes
}

/** Stores new interruptions. */
export function insertInterruptions(database: string, rows: readonly InterruptionRow[]): Statement {
  return [
    writeSql.insertInterruptions,
    database,
    texts(rows.map(({ view }) => view.id)),
    texts(rows.map(({ conversation }) => conversation)),
    texts(rows.map(({ job }) => job)),
    texts(rows.map(({ call }) => call)),
    rows.map(({ view }) => view.state),
    textsOrNull(rows.map(({ view }) => view.addressee)),
    textsOrNull(rows.map(({ answeredBy }) => answeredBy)),
    times(rows.map(({ createdAt }) => createdAt)),
    times(rows.map(({ expiresAt }) => expiresAt)),
    times(rows.map(({ settledAt }) => settledAt)),
    lines(rows.map(({ view }) => jsonText(view))),
    lines(rows.map(({ bound }) => jsonText(bound))),
    lines(rows.map(({ terms }) => jsonText(terms))),
    lines(rows.map(({ answer }) => jsonText(answer))),
  ]
}
