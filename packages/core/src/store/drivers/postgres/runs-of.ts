/** The runs of one principal on PostgreSQL. */
import { pageStart } from '../../cursor.ts'
import { jobSql, runsOfSql } from '../../sql/postgres/jobs.ts'
import type { JobRow, Store } from '../../store.ts'
import type { RunPlace, RunsOf, RunsPage } from '../../runs-of.ts'
import { jobRow } from './rows.ts'
import type { PostgresSession } from './session.ts'
import { someRows } from './some.ts'
import { restored, stored } from './text.ts'

type Looking = RunsOf & Pick<RunsPage, 'after' | 'look'>

/** A page of the runs of one principal. */
export async function listRunsOf(
  session: PostgresSession,
  database: string,
  { limit, bound, ...of }: Parameters<Store['listRunsOf']>[1],
): Promise<{ readonly rows: readonly JobRow[]; readonly next: RunPlace | null }> {
  const isLive = of.live === true && of.conversation === null
  const { least, range, next } = isLive ? allLive(of) : await lookedAt(session, database, of)
  const sql = isLive ? runsOfSql.listLive : of.conversation === null ? runsOfSql.list : runsOfSql.listIn
  const query = [sql, ...wantedRuns(database, of, least), ...range, limit] as const
  const rows = await someRows(session, { database, query, long: ['about', 'result'] }, bound)
  const isLast = next === null || next.changedAt < (of.since ?? Number.NEGATIVE_INFINITY)
  return { rows: rows.map(jobRow), next: isLast ? null : next }
}

/** How many of the runs that are looked at are wanted. */
export async function countRunsOf(
  session: PostgresSession,
  database: string,
  of: Omit<Looking, 'after'>,
): Promise<number> {
  const { least, range } = await lookedAt(session, database, { ...of, after: null })
  const sql = of.conversation === null ? runsOfSql.count : runsOfSql.countIn
  const [rows = []] = await session.read(database, [sql, ...wantedRuns(database, of, least), ...range])
  return rows[0]?.count as number
}

function wantedRuns(database: string, { createdBy, agents, conversation, status, live }: RunsOf, least: number) {
  const among = agents === null ? null : agents.map(stored)
  const inside = conversation === null ? null : stored(conversation)
  return [stored(database), stored(createdBy), among, inside, status, live, least] as const
}

interface Looked {
  /** The least change of a run that is looked at and wanted. */
  readonly least: number
  /** The parameters of a statement that looks at no more. */
  readonly range: readonly (string | number)[]
  /** The last run that is looked at, if there may be more. */
  readonly next: RunPlace | null
}

/** The place behind which a list goes on. */
function behind(after: RunPlace | null) {
  return [after?.changedAt ?? Number.MAX_SAFE_INTEGER, stored(after?.id ?? '')] as const
}

/** Live ones are few. */
function allLive({ after, since }: Looking): Looked {
  return { least: since ?? -Number.MAX_SAFE_INTEGER, range: behind(after), next: null }
}

async function lookedAt(
  session: PostgresSession,
  database: string,
  { conversation, createdBy, since, after, look }: Looking,
): Promise<Looked> {
  const at = stored(database)
  const most = Number.MAX_SAFE_INTEGER
  const least = since ?? -most
  if (conversation === null) {
    const from = behind(after)
    const [[last] = []] = await session.read(database, [runsOfSql.lastLooked, at, stored(createdBy), ...from, look])
    const next = last === undefined ? null : { changedAt: last.changed_at as number, id: restored(last.id as string) }
    const range = [...from, next?.changedAt ?? -most, stored(next?.id ?? '')]
    return { least: Math.max(least, next?.changedAt ?? least), range, next }
  }
  const inside = [at, stored(conversation)] as const
  const found = after === null ? null : await session.read(database, [jobSql.runPlace, ...inside, stored(after.id)])
  const below = found === null ? most : (pageStart(found[0]?.[0]).number as number)
  const [[last] = []] = await session.read(database, [runsOfSql.lastLookedIn, ...inside, below, look])
  const next = last === undefined ? null : { changedAt: last.changed_at as number, id: restored(last.id as string) }
  return { least, range: [below, (last?.number as number | undefined) ?? 0], next }
}
