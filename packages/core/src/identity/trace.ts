/** Ids of traces, computed from the log: replaying it gives the same ones [T28]. */
import { createHash } from 'node:crypto'

/** The trace id of a run: 32 hexadecimal digits. */
export function traceIdOf(database: string, runId: string): string {
  return createHash('sha256').update(`${database}\n${runId}`).digest('hex').slice(0, 32)
}
