/** Ids of traces, computed from the log: replaying it gives the same ones [T28]. */
import { hash } from 'node:crypto'

/** The last one: the result, the headers and the spans of a run ask for the same. */
let latest = { database: '', run: '', id: '' }

/** The trace id of a run: 32 hexadecimal digits. */
export function traceIdOf(database: string, run: string): string {
  if (latest.run !== run || latest.database !== database)
    latest = { database, run, id: hash('sha256', `${database}\n${run}`, 'hex').slice(0, 32) }
  return latest.id
}
