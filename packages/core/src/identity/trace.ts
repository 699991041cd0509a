/** Ids of traces, computed from the log: replaying it gives the same ones [T28]. */
import { hash } from 'node:crypto'

/** The trace id of a run: 32 hexadecimal digits. */
export function traceIdOf(database: string, runId: string): string {
  return hash('sha256', `${database}\n${runId}`, 'hex').slice(0, 32)
}
