/** Loaded before a program: kills it before the statement of `KILL_AT`, from 1, that begins or ends a transaction on knowledge, or of all on PostgreSQL. */
import { DatabaseSync } from 'node:sqlite'
import { isMainThread } from 'node:worker_threads'
import pg from 'pg'

const at = Number(process.env['KILL_AT'] ?? 0)
let steps = 0

function step(): void {
  steps += 1
  if (steps === at) process.kill(process.pid, 'SIGKILL')
}

if (isMainThread) {
  const client = pg.Client.prototype as unknown as { query(...values: unknown[]): unknown }
  const { query } = client
  client.query = function (...values) {
    step()
    return query.apply(this, values)
  }
} else {
  const database = DatabaseSync.prototype
  const { exec } = database
  database.exec = function (sql) {
    step()
    return exec.call(this, sql)
  }
}
