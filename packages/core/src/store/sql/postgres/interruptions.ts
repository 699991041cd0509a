/** Statements on interruptions. The database comes first: `$1` is it unless a line says otherwise. */
import type { InterruptionReader } from '../../list-filters.ts'
import { clock } from './clock.ts'
import { conversationsOf } from './conversations-of.ts'

const columns = `i.database, i.id, i.conversation, i.job, i.call, i.state, i.view, i.bound, i.terms, i.answer, i.answered_by,
  i.created_at, i.expires_at, i.settled_at`
const interruptions = `select ${columns} from {s}.interruptions i`

/** Statements on interruptions. */
export const interruptionSql = {
  getInterruption: `${interruptions} where i.database = $1 and i.id = $2`,
  numbersOf: `
select i.number from {s}.interruptions i where i.database = $1 and i.conversation = $2 order by i.number`,
  openOf: `${interruptions} where i.database = $1 and i.conversation = $2 and i.state = 'open'`,
  countOpen: `
select count(*)::bigint as count from (select 1 from {s}.interruptions where database = $1 and state = 'open' limit $2) as open`,
  interruptionPlace: 'select number from {s}.interruptions where database = $1 and id = $2',
  /** Table-wide, for the worker; `$1` is how many. */
  dueInterruptions: `${interruptions}
where i.state = 'open' and i.expires_at <= ${clock} order by i.expires_at, i.number limit $1`,
} as const

/** Which interruptions a list wants; each combination has its own statement, so that each uses its own index. */
interface InterruptionFilter {
  readonly state: string | null
  readonly conversation: string | null
  readonly addressees: readonly (string | null)[] | null
  readonly reader?: InterruptionReader | null
}

/** A value of the filter; a list of addressees has no null. */
type FilterValue = string | null | readonly string[]

/** A statement, and the values of its filter. */
interface InterruptionList {
  readonly sql: string
  readonly values: readonly FilterValue[]
}

/** A page of interruptions younger than the number `$2`, oldest first; `$4` and the following are the values of the filter. */
export function listInterruptions({
  state,
  conversation,
  addressees,
  reader = null,
}: InterruptionFilter): InterruptionList {
  const values: FilterValue[] = []
  const place = (value: FilterValue): string => `$${values.push(value) + 3}`
  const isFor = (wanted: readonly (string | null)[]): string => {
    const named = `i.addressee = any (${place(wanted.filter((one) => one !== null))})`
    return wanted.includes(null) ? `(${named} or i.addressee is null)` : named
  }
  const rules: string[] = []
  if (state !== null) rules.push(`i.state = ${place(state)}`)
  if (conversation !== null) rules.push(`i.conversation = ${place(conversation)}`)
  if (addressees !== null) rules.push(isFor(addressees))
  if (reader !== null) {
    const reached = `i.conversation in (${conversationsOf(place(reader.createdBy), place(reader.participant))})`
    rules.push(reader.addressees.length === 0 ? reached : `(${isFor(reader.addressees)} or ${reached})`)
  }
  const texts = rules.map((rule) => `and ${rule}`)
  const sql = `${interruptions}
where i.database = $1 and i.number > $2 ${texts.join(' ')} order by i.number limit $3`
  return { sql, values }
}
