/** What a message found in knowledge bases by itself, and the sources of an answer, as lines. */
import type { CallView } from '@witan/client'
import type { Source } from '@witan/protocol/knowledge'
import { plural } from './phrase.ts'
import { cutText, oneLine } from './width.ts'

/** A piece of a line of the tree. */
interface Words {
  readonly text: string
  readonly tone: 'plain' | 'faint'
}

const mostDocuments = 3
const longestQuery = 60
const mostSources = 20
const longestWhere = 400

/** `looked up "Where is the wine?"  → 2 passages: house/cellar.md, house/roof.md`. */
export function retrievalSpans({ query, passages }: CallView['retrievals'][number]): Words[] {
  const asked: Words = { text: `looked up "${cutText(oneLine(query), longestQuery)}"  → `, tone: 'faint' }
  if (passages.length === 0) return [asked, { text: 'nothing', tone: 'plain' }]
  const documents = [...new Set(passages.map(({ base, document }) => oneLine(`${base}/${document}`)))]
  const more = documents.length - mostDocuments
  const names = documents.slice(0, mostDocuments).join(', ')
  const found = `${plural(passages.length, 'passage')}: ${names}${more > 0 ? `, ${more} more` : ''}`
  return [asked, { text: found, tone: 'plain' }]
}

/**
 * Where a passage stands, each part on one line of at most 400 columns: its heading, which mostly begins with the title, else title
 * and heading; then base and document, and the address that the document gives for people.
 */
export function whereOf({ base, document, title, heading, uri }: Omit<Source, 'id' | 'digest'>): readonly string[] {
  const isNamed = title !== '' && title !== document
  const named = heading === title || heading.startsWith(`${title} › `) ? [heading] : [title, heading]
  const all = [...(isNamed ? named : [heading]), `${base}/${document}`, uri ?? '']
  return all.filter((words) => words !== '').map((words) => cutText(oneLine(words), longestWhere))
}

/** A line for each source of an answer, at most 20: its id in brackets, and where it stands. */
export function sourceLines(sources: readonly Source[]): (readonly Words[])[] {
  const lines = sources.slice(0, mostSources).map((source): readonly Words[] => {
    const [name = '', ...rest] = whereOf(source)
    return [
      { text: `  [${oneLine(source.id)}] `, tone: 'faint' },
      { text: name, tone: 'plain' },
      { text: rest.map((words) => `  ${words}`).join(''), tone: 'faint' },
    ]
  })
  const more = sources.length - lines.length
  return more > 0 ? [...lines, [{ text: `  and ${more} more`, tone: 'faint' }]] : lines
}
