/** The search of knowledge through the conformance kit of tools. */
import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { knowledgeBaseSchema } from '@witan/protocol/knowledge'
import { knowledgeTools } from '../../tool/kinds/knowledge.ts'
import { testTool } from './tool.ts'
import { secretOf } from './tool-fixtures.ts'
import type { ToolHarness } from './tool-harness.ts'

const tenant = { name: 'tenant', type: 'string', description: '', policy: 'forbidModelGeneration' } as const

const search: ToolHarness = {
  name: 'a search of knowledge',
  tool: 'search_knowledge',
  agent: {
    id: 'clerk',
    parameters: [tenant],
    knowledgeBases: ['open', { id: 'walled', filter: { owner: 'tenant' }, limit: 20 }],
  },
  open: () => ({
    source: knowledgeTools(
      (_, id) => ({ base: knowledgeBaseSchema.parse({ id, attributes: { owner: 'string' } }), documents: id }),
      async ({ query, bases }) => ({
        notices: [],
        passages: Array.from({ length: query === 'all' ? 40 : 1 }, (_, at) => {
          const { base, filter } = bases.at(-1) as (typeof bases)[number]
          if (base.id === 'walled') assert.deepEqual(filter, { owner: secretOf('tenant') })
          const place = { base: base.id, document: 'a', title: 'A', uri: null, heading: '', digest: 'd' }
          return { id: `k${'a'.repeat(8)}`, ...place, text: `It is so, ${at}. `.repeat(query === 'all' ? 200 : 1) }
        }),
      }),
    ),
  }),
  fitting: [
    { arguments: { query: 'so' }, comesTo: 'result' },
    { arguments: { query: 'so', knowledge_base: 'open' }, comesTo: 'result' },
  ],
  unfitting: [{}, { query: ' ' }, { query: 3 }, { query: 'so', knowledge_base: 'elsewhere' }],
  oversize: { query: 'all' },
}

describe('a search', () => testTool(search))
