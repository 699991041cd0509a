/** What the process that dies ingests. */
import { defineKnowledge } from '@witan/core/knowledge'
import type { KnowledgeDocumentInput } from '@witan/protocol/knowledge'

export const knowledge = [defineKnowledge({ id: 'b', passageCharacters: 200 })]

/** Twelve paragraphs that all name a version: the passages of a document tell of which form they are. */
function text(version: string, name: string): string {
  const paragraph = (at: number) => `${version} ${name} ${at} ${'word '.repeat(30)}`
  return Array.from({ length: 12 }, (_, at) => paragraph(at)).join('\n\n')
}

/** A request of a version: `same` does not change, `bad` cannot be read, and each version has one document of its own. */
export function ingested(version: string): { documents: KnowledgeDocumentInput[]; prune: string } {
  const own = ['a', 'c', version].map((key) => ({ key, text: text(version, key), mediaType: 'text/markdown' }))
  return {
    documents: [
      ...own,
      { key: 'same', text: text('same', 'same') },
      { key: 'bad', data: Buffer.from('a\0b').toString('base64') },
    ],
    prune: '',
  }
}
