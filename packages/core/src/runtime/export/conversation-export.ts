/** Writes the export of one conversation: everything that a replay needs, no hidden value and no condition's words. */
import { notFound } from '../../identity/not-found.ts'
import { agentLine, currentRevisions, snapshotLines } from '../../store/export.ts'
import { type MovingLine, type MovingOf, movingVersion } from '../../store/export-lines.ts'
import type { OpenSnapshot } from '../../store/store.ts'
import type { Scope } from '../scope.ts'
import { conversationRow } from '../reach.ts'
import type { Parts } from '../wiring.ts'
import { agentsIn, usedRevisions } from './definitions.ts'
import { withPseudonyms } from './pseudonyms.ts'
import { withoutConditions } from './without-conditions.ts'

/**
 * The lines of a conversation's export. The log is read twice: for the definitions that it names before the first line, and then as
 * the lines are taken; whatever refuses the export is thrown before the first line. Only a principal with the role `admin` may export,
 * because the lines hold more than events do. Others get `NOT_FOUND`.
 */
export async function* exportConversation(scope: Scope, id: string): AsyncGenerator<MovingLine, void, void> {
  const { parts, database, principal } = scope
  await conversationRow(scope, id)
  if (!principal.roles.includes('admin')) throw notFound('conversation', id)
  await parts.registry.ensure(database)
  const snapshot = await parts.store.openSnapshot(database, id)
  if (snapshot === null) throw notFound('conversation', id)
  const agents = await definitionsOf(parts, database, snapshot)
  const shown = withoutConditions(agents, snapshot)
  const lines = snapshotLines(database, await withPseudonyms(shown.snapshot, agentsIn(agents)))
  yield { kind: 'witan-store', version: movingVersion, databases: [database] }
  yield surroundingsOf(parts, database)
  yield* shown.definitions
  yield* lines
  yield { kind: 'end', agents: agents.length, conversations: 1 }
}

/** The definitions that the log names, in those revisions. */
async function definitionsOf(
  { store }: Pick<Parts, 'store'>,
  database: string,
  { entries }: OpenSnapshot,
): Promise<readonly MovingOf<'agent'>[]> {
  const lines: MovingOf<'agent'>[] = []
  const current = await currentRevisions(store, database)
  for (const [id, used] of await usedRevisions(entries)) {
    const line = await agentLine(store, { database, id }, current)
    const revisions = line.revisions.filter(({ revision }) => used.has(revision))
    if (revisions.length > 0) lines.push({ ...line, revisions, current: revisions.at(-1)?.revision ?? null })
  }
  return lines.sort((a, b) => (a.id < b.id ? -1 : 1))
}

function surroundingsOf({ env, check, tools, registry }: Parts, database: string): MovingOf<'runtime'> {
  const { maxDepth, ...limits } = env.ceilings
  return {
    kind: 'runtime',
    database,
    agents: [...registry.current(database).agents.keys()].sort(),
    limits: { ...limits, maxDepth: Number.isFinite(maxDepth) ? maxDepth : null },
    models: Object.fromEntries(check.modelNames.flatMap((name) => idOf(env.model(name), name))),
    tools: [...tools.values()].map(({ name, description, jsonSchema, effect }) => {
      return { name, description, jsonSchema: { ...jsonSchema }, effect }
    }),
  }
}

function idOf(model: { readonly id: string } | null, name: string): readonly (readonly [string, string])[] {
  return model === null || model.id === name ? [] : [[name, model.id]]
}
