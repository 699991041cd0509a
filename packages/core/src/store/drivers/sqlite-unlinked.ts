/**
 * Rows that belong to no conversation. No reader finds them, so that a long conversation is written, and deleted, in several
 * transactions and is still whole or not there.
 */
import { isTurnSpent } from '../../identity/turn.ts'
import { blockSql } from '../sql/blocks.ts'
import { logSql } from '../sql/log.ts'
import { deleteBlocksOf } from './sqlite-block-rows.ts'
import type { SqliteConnection } from './sqlite-connection.ts'
import type { WaitingUsage } from './sqlite-usage-rows.ts'

/** How many rows one statement deletes. */
const rowsAtOnce = 4

/**
 * Deletes a conversation, by its number: it is gone with this transaction, and so are its rows as far as this turn has a share;
 * `clearUnlinked` deletes the others. What it has used stays in the sums of others.
 */
export function removeConversation(connection: SqliteConnection, usage: WaitingUsage, number: number): void {
  if (!usage.isEmpty) usage.addUp(connection)
  for (const sql of logSql.unlinkConversation) connection.run(sql, number)
  connection.run(blockSql.unlinkBlocks, number)
  deleteRows(connection, number)
}

/** Deletes rows that belong to no conversation while this turn has a share. */
export function deleteRows(connection: SqliteConnection, number: number): void {
  const { all, run } = connection
  for (const statements of logSql.deleteRows) {
    let deleted: number
    do {
      if (isTurnSpent()) return
      deleted = 0
      for (const sql of statements) deleted = all(sql, number, rowsAtOnce).length
    } while (deleted === rowsAtOnce)
  }
  if (!deleteBlocksOf(connection, number)) return
  run(logSql.link, number)
}
