/** Export and import of conversations, and the list of databases, of the embedded store. */
import { entryOf } from '../entry-text.ts'
import { interruptionSql } from '../sql/interruptions.ts'
import { jobSql } from '../sql/jobs.ts'
import { logSql } from '../sql/log.ts'
import { usesInLog } from '../block-uses.ts'
import { collectedIfThere, rowsOf } from '../open-snapshot.ts'
import type { Addition } from '../record.ts'
import { boundedRows, readBound as bound } from '../../identity/row-page.ts'
import { contentSql } from '../sql/contents.ts'
import type { ConversationSnapshot, OpenSnapshot, Store } from '../store.ts'
import { arriving, trialConversation } from '../snapshot.ts'
import { usageParts } from '../usage-count.ts'
import { assertRoom, entryRows, useRows } from './sqlite-append-copy.ts'
import { createConversation, insertInterruption } from './sqlite-append.ts'
import { insertUse } from './sqlite-block-rows.ts'
import type { SqliteConnection } from './sqlite-connection.ts'
import { textIn } from './sqlite-file.ts'
import { contentOf } from './sqlite-content-rows.ts'
import { putContent } from './sqlite-contents.ts'
import { type DraftRow, writeDraft } from './sqlite-draft.ts'
import { insertJob, nextKey } from './sqlite-job-rows.ts'
import { conversationRow, interruptionRow, jobOfTuple, jsonText, optionalText, type Tuple } from './sqlite-rows.ts'
import { addParticipant, participantsOf } from './sqlite-participant-rows.ts'
import { addRecords } from './sqlite-records.ts'
import type { SqliteSession } from './sqlite-session.ts'
import { removeConversation } from './sqlite-unlinked.ts'
import { addParts } from './sqlite-usage.ts'
import type { WaitingUsage } from './sqlite-usage-rows.ts'

type SnapshotMethods = Pick<
  Store,
  'listDatabases' | 'openSnapshot' | 'readSnapshot' | 'putSnapshot' | 'checkWritable' | 'confirmStored'
>

/** The methods of a store for export and import, and the check that it is writable. */
export function snapshotMethods(session: SqliteSession): SnapshotMethods {
  return {
    listDatabases: () => session.read(({ all }) => all(logSql.listDatabases).map(({ database }) => database as string)),
    openSnapshot: (database, id) => open(session, database, id),
    readSnapshot: async (database, id) => collectedIfThere(await open(session, database, id)),
    async putSnapshot(database, snapshot, beside = []) {
      return put(session, await arriving(database, snapshot), beside)
    },
    confirmStored: async () => {}, // nothing is read before it is committed
    checkWritable: () => session.write((connection, { usage }) => tryToWrite(connection, usage, session.now())),
  }
}

/** What is read at once when a snapshot is opened: what may change later, and the keys of the rest. */
function head(
  connection: SqliteConnection,
  { database, id, now }: { readonly database: string; readonly id: string; readonly now: number },
) {
  const { get, all, tuples } = connection
  const row = get(logSql.getConversation, database, id, now)
  if (row === null) return null
  const number = row.number as number
  const open = all(interruptionSql.listInterruptionsOfConversation, database, 0, Number.MAX_SAFE_INTEGER, 'open', id)
  return {
    row: conversationRow(row),
    number,
    jobs: tuples(jobSql.keysOf, number).map(([key]) => key as number),
    live: new Map(tuples(jobSql.listLiveJobs, number).map((tuple) => [tuple[0], jobOfTuple(tuple)])),
    interruptions: all(interruptionSql.numbersOf, number).map((one) => one.number as number),
    open: new Map(open.map((one) => [one.id, interruptionRow(one)])),
    uses: all(contentSql.readUses, number),
    participants: participantsOf(connection, number),
  }
}

async function open(session: SqliteSession, database: string, id: string): Promise<OpenSnapshot | null> {
  const found = await session.read((connection) => head(connection, { database, id, now: session.now() }))
  if (found === null) return null
  const { row, number, jobs, live, interruptions, open: unsettled, uses, participants } = found
  const rows = <Row>(count: number, read: (connection: SqliteConnection, from: number, to: number) => readonly Row[]) =>
    rowsOf(id, count, (from, to) =>
      session.read((connection) => {
        const isHere = connection.get(logSql.findConversation, database, id)?.number === number
        return isHere ? read(connection, from, to) : null
      }),
    )
  return {
    row,
    participants,
    entries: rows(row.lastSeq, ({ some }, from, to) =>
      some(bound, logSql.readEntries, database, id, from, to - from).map(({ text, seq }) =>
        entryOf(text as string, seq as number, id),
      ),
    ),
    jobs: rows(jobs.length, (connection, from, to) =>
      boundedRows(jobsOf(connection, jobs.slice(from, to)), bound, textIn).map(
        (one) => live.get(one[0] as number) ?? jobOfTuple(one),
      ),
    ),
    interruptions: rows(interruptions.length, ({ some }, from, to) => {
      const [first = 0] = interruptions.slice(from, from + 1)
      const sql = interruptionSql.listInterruptionsOfConversation
      return some(bound, sql, database, first - 1, to - from, null, id).map(
        (one) => unsettled.get(one.id as string) ?? interruptionRow(one),
      )
    }),
    contents: rows(uses.length, (connection, from) =>
      uses.slice(from, from + 1).map((use) => contentOf(connection, use)),
    ),
  }
}

function* jobsOf({ tuple }: SqliteConnection, keys: readonly number[]): Generator<Tuple> {
  for (const key of keys) yield tuple(jobSql.jobOfKey, key) as Tuple
}

/** An id that no conversation can have. */
const trialId = ' trial'

/** Writes to the disk, although the content is unchanged in the end. */
function tryToWrite(connection: SqliteConnection, usage: WaitingUsage, now: number): void {
  const snapshot = trialConversation('default', trialId, now)
  const number = connection.nextConversation()
  for (const row of rowsIn(snapshot)) row.write(connection, number)
  createConversation(connection, snapshot.row, number)
  removeConversation(connection, usage, number)
}

/** Stores a conversation as a draft, its content first. An expired conversation with this id is deleted before. False if a live one is there. */
async function put(
  session: SqliteSession,
  snapshot: ConversationSnapshot,
  beside: readonly Addition[],
): Promise<boolean> {
  const { row, entries, jobs, interruptions, contents = [] } = snapshot
  const { database, id } = row
  assertRoom(id, entries)
  const over = await session.read((connection) => findOver(connection, { database, id, now: session.now() }))
  if (over === 'kept') return false
  if (over !== null) await session.write((connection, { usage }) => removeConversation(connection, usage, over))
  for (const { digest, bytes } of contents) await putContent(session, { database, digest, bytes })
  const parts = await usageParts({ id, entries, jobs })
  const isPut = await writeDraft<boolean>(session, {
    rows: rowsIn(snapshot),
    refused: false,
    refusal: ({ get }) => (get(logSql.findConversation, database, id) === null ? null : false),
    // A row of an id that another conversation has got since then was replaced.
    isWhole: ({ tuple }, number) =>
      tuple(jobSql.countJobs, number)?.[0] === jobs.length &&
      tuple(interruptionSql.countInterruptions, number)?.[0] === interruptions.length,
    finish(connection, { usage }, number) {
      createConversation(connection, row, number)
      addRecords(connection, database, beside)
      usage.addUp(connection)
      usage.arriving.note(connection, number, { database, parts })
      if (parts.length === 1) usage.addUp(connection)
      return true
    },
  })
  // What cannot be added now is added before the sums are read again, or when the file is opened.
  await addParts(session).catch(() => undefined)
  return isPut
}

/** The number of an expired conversation of this id; null if there is no conversation, `kept` if there is one that has not expired. */
function findOver(
  { get }: SqliteConnection,
  { database, id, now }: { readonly database: string; readonly id: string; readonly now: number },
): number | 'kept' | null {
  const number = (get(logSql.findConversation, database, id)?.number as number | undefined) ?? null
  return number === null || get(logSql.isGone, number, now)?.gone === 1 ? number : 'kept'
}

function* rowsIn(snapshot: ConversationSnapshot): Generator<DraftRow> {
  const { row, entries, jobs, interruptions, contents = [], participants = [] } = snapshot
  const { database } = row
  yield* entryRows({ database, conversation: row.id, entries })
  for (const job of jobs) {
    yield {
      size: (optionalText(job.about)?.length ?? 0) + (optionalText(job.result)?.length ?? 0),
      write(connection, number) {
        if (connection.tuple(jobSql.conversationOfJob, database, job.id) !== null) return false
        insertJob(connection, job, { key: nextKey(connection, number, job.kind), maker: row.createdBy })
        return true
      },
    }
  }
  for (const one of interruptions) {
    yield {
      size: jsonText(one).length,
      write(connection, number) {
        if (connection.tuple(interruptionSql.interruptionState, database, one.view.id) !== null) return false
        insertInterruption(connection, one, number)
        return true
      },
    }
  }
  yield* useRows(database, contents)
  for (const [position, one] of participants.entries()) {
    yield {
      size: 0,
      write(connection, number) {
        addParticipant(connection, one, { database, number, position })
        return true
      },
    }
  }
  for (const use of usesInLog(row.id, entries)) {
    yield {
      size: 0,
      write(connection, number) {
        insertUse(connection, use, { database, number })
        return true
      },
    }
  }
}
