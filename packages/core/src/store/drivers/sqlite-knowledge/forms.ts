/** Writes forms of documents in short transactions. */
import type { Block } from '../../../knowledge/document.ts'
import { documentSql, postingSql, vectorSql } from '../../sql/knowledge.ts'
import { countedWords } from '../../postings.ts'
import type { Knowledge } from './open.ts'

/** A passage as it comes to the thread: its words joined by spaces. */
export interface SentPassage {
  readonly heading: string
  readonly text: string
  readonly words: string
  readonly vector: Int8Array | null
}

/** A part of a form, as it is sent: passages and blocks follow one another. */
export interface FormPart {
  readonly passages: readonly SentPassage[]
  readonly blocks: readonly Block[]
}

/** A form that is being written. Its passages are numbered from `form` on. */
export interface NewForm {
  readonly form: number
  readonly base: number
  readonly group: number
}

/** How many words one transaction writes: a few milliseconds. */
const mostWords = 10_000

/** A passage as it is stored: its distinct words with their counts, and how many words it has. */
export interface CountedPassage extends SentPassage {
  readonly length: number
}

/** Counts the words of passages. */
export function counted(passages: readonly SentPassage[]): CountedPassage[] {
  return passages.map((passage) => ({ ...passage, ...countedWords(passage.words) }))
}

/** The passages of a form in the parts in which they are written.  */
export function writtenParts(passages: readonly CountedPassage[]): readonly (readonly CountedPassage[])[] {
  const parts: CountedPassage[][] = [[]]
  let words = 0
  for (const passage of passages) {
    if (words >= mostWords) {
      parts.push([])
      words = 0
    }
    parts.at(-1)?.push(passage)
    words += passage.length
  }
  return parts
}

/** Writes passages whose first has this number, inside a transaction. */
export function writePassages(
  { run }: Knowledge,
  { form, base, group }: NewForm,
  { at, passages }: { readonly at: number; readonly passages: readonly CountedPassage[] },
): void {
  for (const [index, { heading, text, words, vector }] of passages.entries()) {
    const number = at + index
    run(documentSql.addPassage, number, form, JSON.stringify([heading, text]), words)
    if (vector !== null) run(vectorSql.add, base, group, number, bytesOf(vector))
  }
}

/** Adds passages that are stored to the index. */
export function indexPassages(
  { fresh }: Knowledge,
  draft: NewForm,
  { at, passages }: { readonly at: number; readonly passages: readonly CountedPassage[] },
): void {
  for (const [index, { words }] of passages.entries()) fresh.add(draft, at + index, words)
}

/** Marks a form whose passages are not packed into the index yet, inside a transaction. */
export function markFresh({ run }: Knowledge, { form, base, group }: NewForm, passages: number): void {
  run(postingSql.addFresh, form, form + Math.max(1, passages) - 1, base, group)
}

function bytesOf({ buffer, byteOffset, byteLength }: Int8Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength)
}

/** Hides what is written until the form is complete: a process that is killed leaves it hidden, and the next one clears it. */
export function hideDraft({ run, hiddenChanged }: Knowledge, { form, base, group }: NewForm, passages: number): void {
  run(documentSql.hide, form, form + Math.max(1, passages) - 1, form, base, group)
  hiddenChanged()
}

/** Shows a complete form, inside the transaction that makes it that of its document. */
export function showDraft({ run, hiddenChanged }: Knowledge, form: number): void {
  run(documentSql.show, form)
  hiddenChanged()
}
