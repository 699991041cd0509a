/** Checks the query of a knowledge base over an existing table: one SELECT of a source that is there, with values for all it asks for. */
import { WitanError } from '@witan/protocol'
import type { KnowledgeBase } from '@witan/protocol/knowledge'
import { codeSource } from '../../knowledge/document.ts'
import type { QuerySource } from '../../tool/source.ts'

/** Throws what is wrong with it. A source that cannot be reached now is not: its query was read, and is tried again by each search. */
export async function checkBaseQuery(base: KnowledgeBase, sources: ReadonlyMap<string, QuerySource>): Promise<void> {
  const { id, query, attributes, embedding } = base
  if (query === null || query.source === codeSource) return
  const source = sources.get(query.source)
  if (source === undefined)
    throw new WitanError('SOURCE_UNKNOWN', `Knowledge base \`${id}\` searches the source \`${query.source}\`.`, {
      path: 'query.source',
      hint: sources.size === 0 ? 'Configure it in `sources`.' : `Sources: ${[...sources.keys()].join(', ')}.`,
    })
  const verdict = await source.check(query.query)
  if (!verdict.ok && verdict.problem !== 'unavailable')
    throw new WitanError(
      verdict.problem === 'invalid' ? 'QUERY_FAILED' : 'QUERY_NOT_READ_ONLY',
      `Knowledge base \`${id}\`: ${verdict.detail}`,
      { path: 'query.query', hint: 'Write one SELECT with the columns `id`, `title`, `text` and `uri`.' },
    )
  const bound = ['query', 'limit', ...(embedding === null ? [] : ['embedding']), ...Object.keys(attributes)]
  const stranger = verdict.placeholders.find((name) => !bound.includes(name))
  if (stranger === undefined) return
  throw new WitanError('QUERY_PARAM_UNCOVERED', `Knowledge base \`${id}\`: nothing binds \`$${stranger}\`.`, {
    path: 'query.query',
    hint: `Bound are ${bound.map((name) => `\`$${name}\``).join(', ')}; an attribute is bound where an agent filters by it.`,
  })
}
