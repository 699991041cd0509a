/** Statements on interruptions. The database comes first: `$1` is it unless a line says otherwise. */
import { clock } from './clock.ts'

const columns = `i.database, i.id, i.conversation, i.job, i.call, i.state, i.view, i.bound, i.terms, i.answer, i.answered_by,
  i.created_at, i.expires_at, i.settled_at`
const interruptions = `select ${columns} from {s}.interruptions i`

/** Statements on interruptions. */
export const interruptionSql = {
  getInterruption: `${interruptions} where i.database = $1 and i.id = $2`,
  ofConversation: `${interruptions} where i.database = $1 and i.conversation = $2 order by i.number`,
  interruptionPlace: 'select number from {s}.interruptions where database = $1 and id = $2',
  /** Table-wide, for the worker; `$1` is how many. */
  dueInterruptions: `${interruptions}
where i.state = 'open' and i.expires_at <= ${clock} order by i.expires_at, i.number limit $1`,
} as const

/** Which interruptions a list wants; each combination has its own statement, so that each uses its own index. */
export interface InterruptionFilter {
  readonly state: string | null
  readonly conversation: string | null
  readonly addressees: readonly string[] | null
}

/** A page of interruptions younger than the number `$2`, oldest first; then come the values of the filter. */
export function listInterruptions(filter: InterruptionFilter): string {
  const rules = [
    filter.state === null ? null : 'i.state =',
    filter.conversation === null ? null : 'i.conversation =',
    filter.addressees === null ? null : 'i.addressee = any',
  ].filter((rule) => rule !== null)
  const texts = rules.map((rule, index) => `and ${rule} ($${index + 4})`)
  return `${interruptions}
where i.database = $1 and i.number > $2 ${texts.join(' ')} order by i.number limit $3`
}
