/** Agents and remembered replies of the embedded store. */
import { agentSql } from '../sql/agents.ts'
import { pause } from '../../identity/turn.ts'
import { replySql } from '../sql/replies.ts'
import type { AgentChange, AgentReading, AnyDefinition } from '../../agent/records.ts'
import { isLost } from '../reply.ts'
import type { Store } from '../store.ts'
import type { SqliteConnection } from './sqlite-connection.ts'
import { addRecords } from './sqlite-records.ts'
import { agentRow, jsonText, replyRow } from './sqlite-rows.ts'
import type { SqliteSession } from './sqlite-session.ts'

type AgentMethods = AgentReading & Pick<Store, 'changeAgents'>

/** The methods of a store that are about agents. */
export function agentMethods(session: SqliteSession): AgentMethods {
  return {
    async listAgents(database) {
      const current = await session.read(({ all }) => all(agentSql.listCurrent, database))
      // A revision never changes, so the rows are those of one time although they are read in several turns.
      const rows: AnyDefinition[] = []
      for (const { id, revision, first_revision: first } of current) {
        await pause()
        const row = await session.read(({ get }) =>
          get(agentSql.getAgentRevision, database, id as string, revision as number),
        )
        if (row !== null) rows.push({ ...agentRow(row), firstRevision: first as number })
      }
      return rows
    },
    listAgentIds: (database) =>
      session.read(({ all }) => all(agentSql.listAgentIds, database).map(({ id }) => id as string)),
    getAgentRevision: (database, id, revision) =>
      session.read(({ get }) => {
        const row = get(agentSql.getAgentRevision, database, id, revision)
        return row === null ? null : agentRow(row)
      }),
    lastAgentRevision: (database, id) =>
      session.read(({ get }) => get(agentSql.lastAgentRevision, database, id)?.revision as number),
    changeAgents: (database, changes, beside = []) =>
      session.write((connection) => {
        const isCurrent = ({ id, ifRevision }: AgentChange) =>
          (connection.get(agentSql.currentRevision, database, id)?.revision ?? 0) === ifRevision
        if (!changes.every(isCurrent)) return false
        for (const change of changes) changeAgent(connection, database, change)
        addRecords(connection, database, beside)
        return true
      }),
  }
}

function changeAgent({ run }: SqliteConnection, database: string, { id, row }: AgentChange): void {
  if (row === null) return run(agentSql.deleteAgent, database, id)
  const { revision, source, data, warnings, changed } = row
  run(agentSql.putAgent, database, id, revision)
  run(agentSql.putAgentRevision, database, id, revision, source, jsonText(data), jsonText(warnings), jsonText(changed))
}

type ReplyMethods = Pick<Store, 'beginReply' | 'finishReply'>

/** How many outdated replies are removed when a new one is begun. */
const sweptAtOnce = 10

/** The methods of a store that are about remembered replies. */
export function replyMethods(session: SqliteSession): ReplyMethods {
  return {
    beginReply: (database, { key, digest, at, expiresBefore, lostBefore }) =>
      session.write(({ get, run }) => {
        const row = get(replySql.getReply, database, key)
        const known = row === null ? null : replyRow(row)
        if (known !== null && known.at >= expiresBefore && !isLost(known, { digest, lostBefore })) return known
        run(replySql.putReply, database, key, digest, at)
        run(replySql.sweepReplies, database, expiresBefore, sweptAtOnce)
        return null
      }),
    finishReply: (database, { key, at }, reply) =>
      session.write(({ run }) => {
        if (reply === null) run(replySql.deleteReply, database, key, at)
        else run(replySql.finishReply, database, key, at, reply.status, reply.body)
      }),
  }
}
