/** Statements on sums of usage. Parameters are numbered, `?1` being the first. */
import { sumColumns } from '../usage-records.ts'
import { snakeCase } from './records.ts'

const sums = sumColumns.map(snakeCase)

/** Adds the new row to the one that is there. Of two dates the older one stays. */
const together = `do update set
  ${sums.map((name) => `${name} = ${name} + excluded.${name}`).join(', ')},
  price_date = case when excluded.price_date is null or price_date <= excluded.price_date then price_date
    else excluded.price_date end`

const columns = `dimension, key, day, ${sums.join(', ')}, price_date`

/** The last conversation with its last seq. */
const markLast = `
insert into usage_marks (conversation, seq)
select c.number, coalesce((select max(e.key) & 1048575 from entries e
  where e.key >= c.number * 1048576 and e.key < (c.number + 1) * 1048576), 0)
from conversations c order by c.number desc limit 1`

/** Statements on sums of usage. */
export const usageSql = {
  /** Adds the row of one key and day. */
  addUsage: `
insert into usage (database, ${columns})
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
on conflict ${together}`,
  readMarks: 'select conversation from usage_marks order by conversation',
  mark: 'insert into usage_marks (conversation, seq) values (?1, ?2)',
  /** The same, also if it is marked. */
  markAgain: 'insert or replace into usage_marks (conversation, seq) values (?1, ?2)',
  /** Marks that the sums have the usage of all entries. */
  markAll: ['delete from usage_marks', markLast],
  listUsage: `
select ${columns} from usage
where database = ?1 and dimension = ?2 and (key, day) > (?3, ?4) order by key, day limit ?5`,
  /** The own usage of the conversation `?1`. */
  deleteUsage: `
delete from usage where dimension = 'conversation'
  and (database, key) = (select c.database, c.id from conversations c where c.number = ?1)`,
  /** The conversations with entries whose usage is not in the sums, and the seq up to which it is. */
  uncounted: `
select c.number, c.database, c.id, coalesce(m.seq, 0) as seq from conversations c left join usage_marks m on m.conversation = c.number
where c.number in (
  select number from conversations where number > (select coalesce(max(conversation), 0) from usage_marks)
  union select k.conversation from usage_marks k where exists (select 1 from entries e
    where e.key > k.conversation * 1048576 + k.seq and e.key < (k.conversation + 1) * 1048576))`,
  /**
   * What counts of the log of the conversation `?1`, and the starts of its runs. Only what is after the seq `?3` is `own`, and a fork has
   * no job for what it has copied.
   */
  readLog: `
select e.text, e.key > ?1 * 1048576 + ?3 and exists (select 1 from jobs j
  where j.database = ?2 and j.id = e.text ->> '$[3]' and j.key / 1048576 = ?1) as own
from entries e where e.key >= ?1 * 1048576 and e.key < (?1 + 1) * 1048576
  and (e.text like '["end","model",%' or e.text like '["start",%' or e.text like '["notice",%"USAGE_INCOMPLETE"%'
    or e.text like '["checkpoint",%' or e.text like '["retrieval",%' or e.text like '["end","tool",%"embedded":%'
    or e.text like '["error","tool",%"embedded":%')
order by e.key`,
} as const
