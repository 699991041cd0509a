/** What the scripts about knowledge ask of a server, and documents of two customers. */
import assert from 'node:assert/strict'
import type { Ingest, Passage, StoredKnowledgeBase } from '@witan/protocol/knowledge'
import type { Stage } from './stage.ts'

export const at = (id: string, rest = ''): string => `/api/v1/knowledge/${id}${rest}`

export const text = (key: string, words: string, more: object = {}) => ({ key, text: words, ...more })
export const markdown = (key: string, words: string, more: object = {}) =>
  text(key, words, { mediaType: 'text/markdown', ...more })

/** The parameter that the filter of contracts is bound to. */
export const customer = {
  name: 'customerId',
  type: 'string',
  sendToModel: false,
  policy: 'forbidModelGeneration',
}

/** The calls of a stage. */
export function callsOf(stage: () => Stage) {
  const put = (id: string, body: object = {}, headers: Record<string, string> = {}) =>
    stage().witan.call<StoredKnowledgeBase>('PUT', at(id), { body, headers })
  const ingest = async (id: string, documents: readonly object[], more: object = {}) => {
    const answer = await stage().witan.call<Ingest>('POST', at(id, '/documents'), { body: { documents, ...more } })
    assert.equal(answer.status, 200, answer.text)
    return answer.body
  }
  const search = async (id: string, query: string, more: object = {}) => {
    const answer = await stage().witan.call<{ passages: Passage[] }>('POST', at(id, '/search'), {
      body: { query, ...more },
    })
    assert.equal(answer.status, 200, answer.text)
    return answer.body.passages
  }
  /** Makes a base with documents of two customers. */
  const contracts = async (id: string) => {
    await put(id, { attributes: { customer: 'string' }, requiredFilters: ['customer'] })
    await ingest(id, [
      text('alpha.txt', 'The notice period of the Alpha contract is three months.', {
        attributes: { customer: 'alpha' },
      }),
      text('beta.txt', 'The notice period of the Beta contract is one year.', { attributes: { customer: 'beta' } }),
    ])
  }
  return { put, ingest, search, contracts }
}
