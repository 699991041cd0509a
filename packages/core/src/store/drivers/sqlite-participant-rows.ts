/** Rows of participants of the embedded store, inside one transaction. */
import { participantSql } from '../sql/participants.ts'
import type { ParticipantRow } from '../store.ts'
import type { SqliteConnection } from './sqlite-connection.ts'
import { jsonText, type Row } from './sqlite-rows.ts'

/** The people of the conversation with this number. */
export function participantsOf({ all }: SqliteConnection, number: number): readonly ParticipantRow[] {
  return all(participantSql.readParticipants, number).map(participantRow)
}

/** Writes the rows of people, in the transaction of an append or an import. */
export function setParticipants(
  { run }: SqliteConnection,
  rows: readonly ParticipantRow[],
  { database, number }: { readonly database: string; readonly number: number },
): void {
  for (const { user, name, roles, joinedAt, leftAt } of rows) {
    const called = name === null ? null : jsonText(name)
    run(participantSql.setParticipant, number, user, database, called, jsonText(roles), joinedAt, leftAt)
  }
}

/** Writes the row of a person who is new there, at a position that is free. */
export function addParticipant(
  { run }: SqliteConnection,
  { user, name, roles, joinedAt, leftAt }: ParticipantRow,
  { database, number, position }: { readonly database: string; readonly number: number; readonly position: number },
): void {
  const called = name === null ? null : jsonText(name)
  run(participantSql.addParticipant, number, user, database, position, called, jsonText(roles), joinedAt, leftAt)
}

/** A person, from a row of the table. A name is JSON, which keeps every character. */
export function participantRow({ user, name, roles, joined_at: joinedAt, left_at: leftAt }: Row): ParticipantRow {
  const called = name === null ? null : JSON.parse(name as string)
  return { user, name: called, roles: JSON.parse(roles as string), joinedAt, leftAt } as ParticipantRow
}
