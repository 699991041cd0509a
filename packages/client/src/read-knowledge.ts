/** Reads what events say of knowledge: the sources of an answer, and what a message found by itself. */
import type { EventOf } from '@witan/protocol'
import type { Source } from '@witan/protocol/knowledge'
import type { Retrieval } from './conversation-view.ts'
import { records, text } from './read-value.ts'

/** The sources of an answer. What is missing or of another type is empty; without an id it is left out. */
export function readSources(given: unknown): Source[] {
  const sources = records(given).map(({ id, base, document, title, uri, heading, digest }) => ({
    id: text(id),
    base: text(base),
    document: text(document),
    title: text(title),
    uri: typeof uri === 'string' ? uri : null,
    heading: text(heading),
    digest: text(digest),
  }))
  return sources.filter(({ id }) => id !== '')
}

/** What a message found. */
export function readRetrieval({ seq, at, content }: EventOf<'retrieval'>, lastSeq: number): Retrieval {
  const passages = records(content.passages).map(({ id, base, document }) => ({
    id: text(id),
    base: text(base),
    document: text(document),
  }))
  return { seq: seq ?? lastSeq, at: text(at), query: text(content.query), passages }
}
