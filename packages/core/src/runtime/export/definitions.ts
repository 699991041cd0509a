/** The definitions that a conversation's log names. */
import type { AgentData } from '@witan/protocol'
import { definitionsIn, type Entry } from '@witan/protocol/entries'
import type { MovingOf } from '../../store/export-lines.ts'

/** The agents among definitions, in all revisions. */
export function agentsIn(definitions: readonly Pick<MovingOf<'agent'>, 'revisions'>[]): readonly AgentData[] {
  const all = definitions.flatMap(({ revisions }) => revisions.map(({ data }) => data))
  return all.filter((data) => 'parameters' in data) as unknown as readonly AgentData[]
}

/** The revisions of agents and protocols that the log names, by id. */
export async function usedRevisions(
  entries: AsyncIterable<Entry> | Iterable<Entry>,
): Promise<ReadonlyMap<string, ReadonlySet<number>>> {
  const used = new Map<string, Set<number>>()
  const note = (id: string, revision: number) => used.set(id, (used.get(id) ?? new Set()).add(revision))
  for await (const { type, kind, body } of entries) {
    if (type !== 'start' || kind !== 'agent') continue
    for (const [id, revision] of definitionsIn(body)) note(id, revision)
  }
  return used
}
