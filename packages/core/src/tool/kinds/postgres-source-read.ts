/**
 * Runs one query in a read-only transaction of PostgreSQL: the server checks it, then its rows are read one by one up to
 * the limits.
 */
import { distinctNames, namedRows, rowTaker } from '../query-rows.ts'
import type { BoundQuery, QueryFailureReason, QueryRows } from '../source.ts'
import { type ServerRows, type Session, StatementError, send } from './postgres-source-session.ts'
import { effectDetail, HARMLESS, type PostgresText } from './postgres-source-text.ts'
import {
  fromOutput,
  isJsonType,
  isKnownType,
  type ListType,
  type InferredType,
  type PostgresInput,
  toInput,
} from './postgres-source-values.ts'

/** What the server reported about query texts and types, cached for the lifetime of a source. */
export interface Learnt {
  readonly parameters: Map<string, readonly InferredType[]>
  readonly lists: Map<number, ListType>
}

/** The query or its values are at fault. The message contains no value; `word` is the word at fault. */
export class QueryRefusal extends Error {
  readonly reason: QueryFailureReason
  readonly word: string | undefined
  constructor(reason: QueryFailureReason, detail: string, word?: string) {
    super(detail)
    this.reason = reason
    this.word = word
  }
}

/** Precedes the query in a statement that only checks it. */
export const PREPARE = 'prepare witan_query as '
/** Precedes the query in the statement that runs it. It does not accept a query that changes rows. */
export const DECLARE = 'declare witan_rows no scroll cursor for '
const MAX_LEARNT = 1_000

const PARAMETERS = `select t.oid, t.typcategory from pg_catalog.pg_prepared_statements s
  cross join unnest(s.parameter_types::oid[]) with ordinality p (oid, place) join pg_catalog.pg_type t on t.oid = p.oid
  where s.name = 'witan_query' order by p.place`

/** Finds functions with side effects among these names: volatile ones from the server or an extension, or written in C. */
const DENIED = `select p.proname from pg_catalog.pg_proc p join pg_catalog.pg_language l on l.oid = p.prolang
  where p.proname = any($1::name[]) and p.proname <> all($2::name[]) and p.provolatile = 'v' and (not l.lanpltrusted
    or exists (select from pg_catalog.pg_depend d
      where d.classid = 'pg_catalog.pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')) limit 1`

const LISTS = `select oid, typelem, typdelim from pg_catalog.pg_type
  where oid = any($1::oid[]) and typcategory = 'A' and typelem <> 0`

/**
 * The server checks the query without running it: names, types, functions, permissions. Throws its errors. Errors about
 * values do not count, because there are none yet.
 */
export async function judge(session: Session, text: PostgresText): Promise<void> {
  const types = await learn(session, text)
  const inputs = types.map(() => null)
  try {
    await send(session, DECLARE + text.statement, inputs)
  } catch (error) {
    if (!(error instanceof StatementError) || !/^2[23]/.test(error.code ?? '')) throw error
  }
}

/** Runs the query. Throws a {@link Refusal}, or the server's error. */
export async function read(
  session: Session,
  query: { readonly text: PostgresText; readonly bindings: BoundQuery['bindings'] },
  learnt: Learnt,
): Promise<QueryRows> {
  const { text, bindings } = query
  const types = learnt.parameters.get(text.statement) ?? (await learn(session, text))
  if (learnt.parameters.size > MAX_LEARNT) learnt.parameters.clear()
  learnt.parameters.set(text.statement, types)
  const inputs = text.names.map((name, index) => inputOf({ name, bindings }, types[index]))
  try {
    await send(session, DECLARE + text.statement, inputs)
  } catch (error) {
    learnt.parameters.delete(text.statement) // a column may have another type by now
    throw error
  }
  return await fetchRows(session, learnt)
}

async function learn(session: Session, text: PostgresText): Promise<readonly InferredType[]> {
  await send(session, PREPARE + text.statement)
  session.isSoiled = true
  const { rows } = await send(session, PARAMETERS)
  await send(session, 'deallocate witan_query')
  session.isSoiled = false
  const denied = await send(session, DENIED, [text.calls, HARMLESS])
  const [name] = denied.rows[0] ?? []
  if (typeof name === 'string') throw new QueryRefusal('not-read-only', effectDetail(name), name)
  return rows.map(([oid, category]) => ({ isList: category === 'A', isJson: isJsonType(Number(oid)) }))
}

function inputOf(
  { name, bindings }: { readonly name: string; readonly bindings: BoundQuery['bindings'] },
  type: InferredType = { isList: false, isJson: false },
): PostgresInput {
  const value = bindings.get(name)
  if (value === undefined) throw new QueryRefusal('unbound', `\`$${name}\` has no value; NULL must be given as null.`)
  const made = toInput(name, value, type)
  if ('refused' in made) throw new QueryRefusal('unfit', made.refused)
  return made.input
}

/** Fetches one row, and then as many as are likely to fit, so that rows beyond the limits never reach this process. */
async function fetchRows(session: Session, learnt: Learnt): Promise<QueryRows> {
  const { maxRows, maxBytes } = session.settings
  const rows: unknown[][] = []
  let answer = await fetch(session, 1)
  if (answer === undefined) return { rows: [], truncated: true }
  const columns = distinctNames(answer.fields.map(({ name }) => name))
  await learnLists(session, answer, learnt)
  const taker = rowTaker(columns, { maxRows, maxBytes }, (cells) => rows.push(cells))
  for (let asked = 1; answer !== undefined; ) {
    const { fields } = answer
    for (const row of answer.rows) {
      const cells = row.map((cell, index) => fromOutput(cell, fields[index]?.dataTypeID ?? 0, learnt.lists))
      if (!taker.take(cells)) return { rows: namedRows(columns, rows), truncated: true }
    }
    if (answer.rows.length < asked) return { rows: namedRows(columns, rows), truncated: false }
    const likely = Math.floor(((maxBytes - taker.bytes()) * taker.count()) / taker.bytes())
    asked = Math.max(1, Math.min(maxRows + 1 - taker.count(), likely + 1))
    answer = await fetch(session, asked)
  }
  return { rows: namedRows(columns, rows), truncated: true }
}

/** The next rows; undefined if they are too large to read at all. */
async function fetch(session: Session, count: number): Promise<ServerRows | undefined> {
  try {
    return await send(session, `fetch ${count} from witan_rows`)
  } catch (error) {
    if (session.isFlooded) return undefined
    throw error
  }
}

/** Looks up which columns are lists, and the types of their items; then again for list types of the items. */
async function learnLists(session: Session, { fields }: ServerRows, { lists }: Learnt): Promise<void> {
  const unknown = fields.map(({ dataTypeID }) => dataTypeID).filter((oid) => !isKnownType(oid) && !lists.has(oid))
  if (unknown.length === 0) return
  const { rows } = await send(session, LISTS, [[...new Set(unknown)]])
  for (const [oid, item, delimiter] of rows) lists.set(Number(oid), { item: Number(item), delimiter: delimiter ?? ',' })
}
