/** Statements on conversations, their entries and their end. The database comes first: `$1` is it unless a line says otherwise. */
import { beginningCharacters } from '../../entry-text.ts'
import { beginningTables } from '../../record-tables.ts'
import type { ConversationFilter } from '../../list-filters.ts'
import { clock, isOver } from './clock.ts'
import { changedColumns, dropEnded } from './live-jobs.ts'

const columns = `c.database, c.id, c.agent, c.created_by, c.created_at, c.last_message_at, c.last_seq, c.parameters,
  c.max_iterations, c.expires_at`
const conversations = `select ${columns} from {s}.conversations c`

/** Statements on conversations and entries. */
export const logSql = {
  getConversation: `${conversations} where c.database = $1 and c.id = $2 and not ${isOver}`,
  conversationPlace: 'select number from {s}.conversations where database = $1 and id = $2',
  readEntries: `
select e.seq, e.text from {s}.entries e
where e.database = $1 and e.conversation = $2 and e.seq > $3 order by e.seq limit $4`,
  /** Table-wide, for the worker: the last seqs of the conversations `($1, $2)`, by their position in these lists, from 1. */
  lastSeqs: `
select n.place, c.last_seq from unnest($1::text[], $2::text[]) with ordinality as n (database, id, place)
join {s}.conversations c on c.database = n.database and c.id = n.id`,
  lockConversation: `
select created_at, last_seq from {s}.conversations where database = $1 and id = $2 for update`,
  /** The expired ones of `$2`, locked in lock order. */
  lockOver: `
select c.id from {s}.conversations c where c.database = $1 and c.id = any($2) order by c.id for update`,
  stillOver: `select c.id from {s}.conversations c where c.database = $1 and c.id = any($2) and ${isOver}`,
  /**
   * Table-wide, for the worker: the next `$3` conversations behind the place `($1, $2)` whose time has come, and which of them nothing
   * keeps.
   */
  overConversations: `
select c.database, c.id, c.expires_at, c.number, ${isOver} as is_over
from (select o.database, o.id, o.expires_at, o.number from {s}.conversations o
  where o.expires_at is not null and o.expires_at <= ${clock} and (o.expires_at, o.number) > ($1, $2)
  order by o.expires_at, o.number limit $3) c
order by c.expires_at, c.number`,
  /** All rows of the conversations `$2`. */
  deleteEntries: 'delete from {s}.entries where database = $1 and conversation = any($2)',
  deleteJobs: `
with changed as (
  delete from {s}.jobs j
  where database = $1 and ((conversation = any($2) and kind = 'run') or (conversation = any($2) and kind = 'task'))
  returning ${changedColumns}
), live as (
  delete from {s}.live_jobs where database = $1 and conversation = any($2)
)
${dropEnded}`,
  deleteInterruptions: 'delete from {s}.interruptions where database = $1 and conversation = any($2)',
  deleteConversations: 'delete from {s}.conversations where database = $1 and id = any($2)',
  /** Table-wide, for the worker: reads only the first row of each database. */
  listDatabases: ['conversations', 'agent_revisions', 'replies', 'memory_blocks', ...beginningTables]
    .map(
      (table) => `
(with recursive found (database) as (
  (select database from {s}.${table} order by database limit 1)
  union all
  select (select t.database from {s}.${table} t where t.database > f.database order by t.database limit 1)
  from found f where f.database is not null
) select database from found where database is not null)`,
    )
    .join('\nunion'),
} as const

/**
 * A page of conversations older than the number `$2`, newest first; then come the values of the filter. Each combination has its own
 * statement, so that each uses its own index.
 */
export function listConversations({ agent, createdBy, participant = null }: ConversationFilter): string {
  const byAgent = agent === null ? '' : 'and c.agent = $4'
  const next = agent === null ? 4 : 5
  const isMade = `c.created_by = $${next}`
  const own = { byAgent, isMade: createdBy === null ? null : isMade, person: createdBy === null ? next : next + 1 }
  const byMaker =
    participant !== null ? `and c.number in (${numbersOf(own)})` : createdBy === null ? '' : `and ${isMade}`
  return `select ${columns}, left(e.text, ${beginningCharacters}) as beginning,
  r.id as run_id, r.status as run_status, r.created_at as run_created_at, r.ended_at as run_ended_at, r.about as run_about
from {s}.conversations c
left join {s}.entries e on e.database = c.database and e.conversation = c.id and e.seq = 1
left join lateral (
  select j.id, j.status, j.created_at, j.ended_at, j.about from {s}.jobs j
  where j.database = c.database and j.conversation = c.id and j.kind = 'run' order by j.number desc limit 1
) r on true
where c.database = $1 and c.number < $2 ${byAgent} ${byMaker} and not ${isOver} order by c.number desc limit $3`
}

/** The numbers of a page of conversations in which a person takes part, or that a principal created. */
function numbersOf(of: { readonly byAgent: string; readonly isMade: string | null; readonly person: number }): string {
  const page = `and c.database = $1 ${of.byAgent} and not ${isOver} order by c.number desc limit $3`
  const joined = `(select p.number from {s}.participants p
  join {s}.conversations c on c.database = p.database and c.id = p.conversation and c.number = p.number
  where p.database = $1 and p.person = $${of.person} and p.left_at is null and p.number < $2 ${page.replace('order by c.number', 'order by p.number')})`
  if (of.isMade === null) return joined
  return `${joined} union (select c.number from {s}.conversations c where c.number < $2 and ${of.isMade} ${page})`
}
