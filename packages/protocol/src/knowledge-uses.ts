/** The knowledge bases that an agent lists. It loads no schema, so that a page of the Studio may read them. */
import { passagesByDefault } from './knowledge-limits.ts'
import type { KnowledgeUse } from './knowledge-schema.ts'

/** The bases of an agent, each with every setting. A definition of an earlier version has none. */
export function knowledgeUses({
  knowledgeBases = [],
}: {
  readonly knowledgeBases?: readonly (string | KnowledgeUse)[]
}): readonly KnowledgeUse[] {
  return knowledgeBases.map((use) =>
    typeof use === 'string' ? { id: use, filter: {}, retrieval: 'tool', limit: passagesByDefault } : use,
  )
}
