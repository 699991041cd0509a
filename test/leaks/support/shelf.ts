/** The knowledge base of the desk: one agent searches it within a filter by a hidden value, and one without. */
import type { KnowledgeBaseInput } from '@witan/core/knowledge'

/** Its id, and the key of its one document. */
export const shelf = { id: 'shelf', key: 'shelf.txt' } as const

/** What is configured; `about` is what shows that somebody reads of it. */
export function shelfBase(about: string): KnowledgeBaseInput {
  return { id: shelf.id, description: `What ${about} reads.`, attributes: { author: 'string' } }
}

/** Puts the document there, which a repeat finds unchanged; gives the id of the ingest. */
export async function fillShelf(url: string, about: string): Promise<string> {
  const text = `Who wants to go with ${about} may go.`
  const document = { key: shelf.key, title: `Of ${about}`, text, attributes: { author: 'nobody' } }
  const response = await fetch(`${url}/api/v1/knowledge/${shelf.id}/documents`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ documents: [document] }),
  })
  const { id } = (await response.json()) as { readonly id: string }
  return id
}
