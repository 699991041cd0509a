/** The revisions of a definition, newest first: who made each, when, and which keys it changed. */
import type { RevisionLine } from '@witan/protocol/tools'
import type { AdminContext } from '../agent/admin/admin.ts'
import type { AnyDefinition } from '../agent/records.ts'
import { upgraded } from '../agent/registry.ts'
import { shownChange } from '../identity/changed.ts'
import { notFound } from '../identity/not-found.ts'
import { isTurnSpent, nextTurn } from '../identity/turn.ts'
import { pageStart } from '../store/cursor.ts'
import { type Page, type PageOptions, rowPage } from './page.ts'

type Row = AnyDefinition

/** A page of the revisions of an agent, or of another definition by its id among these. */
export async function listRevisions(
  admin: AdminContext,
  id: string,
  options: PageOptions,
): Promise<Page<RevisionLine>> {
  const last = await admin.records.lastAgentRevision(admin.database, id)
  return rowPage<RevisionLine, RevisionLine>(
    options,
    async ({ limit, after }) => {
      // One by one: definitions may be long, and of each only its line is kept.
      const lines: RevisionLine[] = []
      const first = after === null ? last : startBelow(after, last)
      let row = first < 1 ? null : await rowAt(admin, id, first)
      for (let revision = first; revision >= 1 && lines.length < limit; revision -= 1) {
        const before: Row | null = revision === 1 ? null : await rowAt(admin, id, revision - 1)
        if (row !== null) lines.push(lineOf(row, before))
        row = before
        if (isTurnSpent()) await nextTurn()
      }
      return lines
    },
    { item: (line) => line, id: ({ revision }) => String(revision) },
  )
}

/** One revision of a definition. Throws `NOT_FOUND`. */
export async function readRevision<Stored extends Row>(
  admin: AdminContext,
  id: string,
  revision: number,
): Promise<Stored> {
  const isKnown = revision >= 1 && revision <= (await admin.records.lastAgentRevision(admin.database, id))
  const row = isKnown ? await rowAt(admin, id, revision) : null
  if (row === null) throw notFound('revision', String(revision))
  return row as Stored
}

/** The revision before that of a cursor. Throws `BODY_INVALID` for a cursor of another list. */
function startBelow(cursor: string, last: number): number {
  const revision = /^\d{1,15}$/.test(cursor) ? Number(cursor) : 0
  return pageStart(revision >= 1 && revision <= last ? revision : null) - 1
}

async function rowAt({ records, database }: AdminContext, id: string, revision: number): Promise<Row | null> {
  const row = await records.getAgentRevision(database, id, revision)
  return row === null ? null : upgraded(row)
}

function lineOf({ revision, source, data, changed }: Row, before: Row | null): RevisionLine {
  const { by, at } = shownChange(changed)
  const keys = before === null ? [] : changedKeys(before.data, data)
  return { revision, source, by: source === 'code' ? null : by, at, changed: keys }
}

/** The keys of two definitions that are not the same, in the order of the later one. */
function changedKeys(before: object, after: object): string[] {
  const [old, now] = [before as Readonly<Record<string, unknown>>, after as Readonly<Record<string, unknown>>]
  const keys = new Set([...Object.keys(now), ...Object.keys(old)])
  return [...keys].filter((key) => JSON.stringify(old[key]) !== JSON.stringify(now[key]))
}
