/** Agents and remembered replies on PostgreSQL. */
import { mapInTurns } from '../../../identity/turn.ts'
import type { AgentChange, AgentReading } from '../../../agent/records.ts'
import { agentSql, replySql } from '../../sql/postgres/agents.ts'
import type { Addition } from '../../record.ts'
import type { Store } from '../../store.ts'
import { additionsTo } from './records.ts'
import type { Statement } from './statements.ts'
import { agentRow, replyRow } from './rows.ts'
import { conclude, type PostgresSession } from './session.ts'
import { jsonText, restored, stored } from './text.ts'

type AgentMethods = AgentReading & Pick<Store, 'changeAgents'>

/** The methods of a store that are about agents. */
export function agentMethods(session: PostgresSession): AgentMethods {
  return {
    async listAgents(database) {
      const [rows = []] = await session.read(database, [agentSql.listAgents, stored(database)])
      return mapInTurns(rows, (row) => ({ ...agentRow(row), firstRevision: row.first_revision as number }))
    },
    async listAgentIds(database) {
      const [rows = []] = await session.read(database, [agentSql.listAgentIds, stored(database)])
      return rows.map(({ id }) => restored(id as string)).sort()
    },
    async getAgentRevision(database, id, revision) {
      const at = [stored(database), stored(id)] as const
      const [rows = []] = await session.read(database, [agentSql.getAgentRevision, ...at, revision])
      return rows[0] === undefined ? null : agentRow(rows[0])
    },
    async lastAgentRevision(database, id) {
      const [rows = []] = await session.read(database, [agentSql.lastAgentRevision, stored(database), stored(id)])
      return rows[0]?.revision as number
    },
    changeAgents: (database, changes, beside = []) => changeAgents(session, database, { changes, beside }),
  }
}

/** If the reply to a commit was lost, the revisions show whether it happened, since no other writer assigns them. */
async function changeAgents(
  session: PostgresSession,
  database: string,
  { changes, beside }: { readonly changes: readonly AgentChange[]; readonly beside: readonly Addition[] },
) {
  const at = stored(database)
  let isUntold = false
  return session.transaction(at, async ({ send, commit }) => {
    const [rows = []] = await send([[agentSql.lockAgents, at, changes.map(({ id }) => stored(id))]])
    const current = new Map(rows.map(({ id, revision }) => [restored(id as string), revision as number]))
    const isDone = ({ id, row }: AgentChange) => (current.get(id) ?? null) === (row?.revision ?? null)
    if (isUntold && changes.every(isDone)) return true
    isUntold = false
    if (!changes.every(({ id, ifRevision }) => (current.get(id) ?? 0) === ifRevision)) return false
    isUntold = true
    const writes = [...changes.flatMap((change) => writesOf(at, change)), ...additionsTo(at, beside)]
    await conclude(commit(writes), () => {
      isUntold = false
    })
    return true
  })
}

function writesOf(database: string, { id, ifRevision, row }: AgentChange): Statement[] {
  if (row === null) return [[agentSql.deleteAgent, database, stored(id)]]
  const { revision, source, data, warnings, changed } = row
  const texts = [jsonText(data), jsonText(warnings), jsonText(changed)] as const
  const current = ifRevision === 0 ? agentSql.insertAgent : agentSql.updateAgent
  return [
    [current, database, stored(id), revision],
    [agentSql.putAgentRevision, database, stored(id), revision, source, ...texts],
  ]
}

type ReplyMethods = Pick<Store, 'beginReply' | 'finishReply'>

/** The methods of a store that are about remembered replies. */
export function replyMethods(session: PostgresSession): ReplyMethods {
  return {
    beginReply: (database, row) => beginReply(session, database, row),
    async finishReply(database, { key, at: begun }, reply) {
      const at = [stored(database), stored(key), Math.trunc(begun)] as const
      const query: Statement =
        reply === null ? [replySql.deleteReply, ...at] : [replySql.finishReply, ...at, reply.status, stored(reply.body)]
      await session.transaction(at[0], ({ commit }) => commit([query]))
    },
  }
}

async function beginReply(session: PostgresSession, database: string, row: Parameters<Store['beginReply']>[1]) {
  const [at, key] = [stored(database), stored(row.key)]
  const [madeAt, expiresBefore, lostBefore] = [row.at, row.expiresBefore, row.lostBefore].map(Math.trunc) as Triple
  const fresh: Statement = [replySql.beginReply, at, key, stored(row.digest), madeAt, expiresBefore, lostBefore]
  return session.work(async (mayBeDone) => {
    for (;;) {
      const queries: Statement[] = [fresh, [replySql.getReply, at, key], [replySql.sweepReplies, at, expiresBefore]]
      const [made = [], found = []] = await session.connection.run({ database: at }, queries, {
        pool: 'write',
        confirms: mayBeDone,
      })
      if (made.length > 0) return null
      if (found[0] === undefined) continue // removed in between: try again
      const known = replyRow(found[0])
      const isUntouched = known.status === null && known.note === null
      const isOurs = mayBeDone && isUntouched && known.digest === row.digest && known.at === madeAt
      return isOurs ? null : known
    }
  })
}

type Triple = [number, number, number]
