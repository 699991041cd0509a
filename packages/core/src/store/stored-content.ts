/** Content of files and artifacts as a store has it. */

/** Content that a conversation refers to, with the name and media type of the first reference. */
export interface ContentUse {
  readonly digest: string
  readonly mediaType: string
  readonly name: string | null
}

/** The same, with its bytes. */
export interface StoredContent extends ContentUse {
  readonly bytes: Uint8Array
}
