/** What a reader makes of a file, and what a base keeps of it. */
import type { AttributeValue, Passage } from '@witan/protocol/knowledge'

/**
 * A part of a document that stays whole where it fits into a passage. `level` is that of a heading, 1 to 6. A table is one block for each
 * row, with the names of its columns in each.
 */
export type Block =
  | { readonly kind: 'heading'; readonly level: number; readonly text: string }
  | { readonly kind: 'paragraph' | 'list' | 'code' | 'row'; readonly text: string }

/** What a reader found in a file. `title` is the file's own, if it has one. */
export interface ReadDocument {
  readonly title: string | null
  readonly blocks: readonly Block[]
}

/**
 * Reads files of certain media types, such as `text/plain`. `read` gets a type with its parameters, such as `; charset=utf-16`, and rejects for
 * a file that it cannot read: its message is shown to whoever ingests, with the code `DOCUMENT_UNREADABLE`. An abort ends the reading.
 */
export interface DocumentReader {
  readonly mediaTypes: readonly string[]
  read(content: Uint8Array, mediaType: string, signal: AbortSignal): Promise<ReadDocument>
  /** Ends what it has started. Waiting reads reject. */
  close(): Promise<void>
}

/** A passage of a document: `place` counts from 0, `heading` is the path of headings, joined by ` › `; `words` as `wordsOf` gives them. */
export interface PassageText {
  readonly place: number
  readonly heading: string
  readonly text: string
  readonly words: readonly string[]
}

/** The attributes of a document, in the types that its base declares. */
export type Attributes = Readonly<Record<string, AttributeValue>>

/** A passage that a search found, with the digest of its document. */
export interface FoundPassage extends Passage {
  readonly digest: string
}

/** The source, as data, of a base whose search is a function of the program. */
export const codeSource = 'code'
