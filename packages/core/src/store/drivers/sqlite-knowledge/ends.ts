/** Ends of documents, in the thread of knowledge. */
import type { DocumentEnd, HeldDocument } from '../../../knowledge/records.ts'
import { documentSql, ingestSql } from '../../sql/knowledge.ts'
import { aboutOf, type DocumentAbout, type GoneDocument, hideForm } from './documents.ts'
import {
  type CountedPassage,
  counted,
  type FormPart,
  hideDraft,
  indexPassages,
  markFresh,
  type NewForm,
  showDraft,
  writePassages,
  writtenParts,
} from './forms.ts'
import { changeGroup, madeGroup } from './groups.ts'
import { endIngest } from './ingests.ts'
import type { Knowledge } from './open.ts'

/** An end, as it is sent: passages and blocks of a form come before it, in parts. */
export interface SentEnd {
  readonly owner: string
  readonly held: Pick<HeldDocument, 'number' | 'attempt' | 'digest'>
  readonly end:
    | Exclude<DocumentEnd, { readonly kind: 'stored' }>
    | {
        readonly kind: 'stored'
        readonly about: DocumentAbout
        readonly digest: string
        readonly reading: string
        readonly at: number
        readonly over?: string
      }
  readonly now: number
}

interface Held {
  readonly base: number
  readonly ingest: number
  readonly key: string
  /** 1 if the base reads again what it has. */
  readonly rereads: number
}

/** What of a document is counted in its ingest. */
type Counted = 'added' | 'changed' | 'unchanged' | 'failed'

/** Stores what became of a document. A long form is written in several transactions; it is found from the end of the last one on. */
export function* endDocument(
  knowledge: Knowledge,
  sent: SentEnd,
  parts: readonly FormPart[],
): Generator<void, boolean> {
  const { end } = sent
  if (end.kind === 'stored') return yield* endStored(knowledge, { ...sent, end }, parts)
  return knowledge.transaction(() => {
    const held = heldOf(knowledge, sent)
    if (held === null) return false
    if (end.kind === 'failed') {
      const failure = { key: held.key, code: end.code, detail: end.detail }
      knowledge.run(ingestSql.addFailure, held.ingest, JSON.stringify(failure))
      keepFailure(knowledge, held, end)
      count(knowledge, sent, { held, as: 'failed' })
      return true
    }
    if (held.rereads === 0) {
      const document = knowledge.get(documentSql.read, held.base, held.key)
      if (document?.digest !== sent.held.digest) {
        knowledge.run(ingestSql.giveBack, sent.held.number)
        return false
      }
      knowledge.run(documentSql.keep, held.ingest, document.number as number)
    }
    count(knowledge, sent, { held, as: 'unchanged' })
    return true
  })
}

type FailedEnd = DocumentEnd & { readonly kind: 'failed' }

/** Keeps with a document why it could not be read again, if it is still what was read. */
function keepFailure({ get, run }: Knowledge, { base, key }: Held, { failure, over }: FailedEnd): void {
  if (failure === undefined) return
  const document = get(documentSql.read, base, key)
  if (document === null || document.digest !== over) return
  run(documentSql.setAbout, JSON.stringify({ ...aboutOf(document), failure }), document.number as number)
}

type StoredEnd = SentEnd & { readonly end: { readonly kind: 'stored' } }

/**
 * Writes a form. Of a long one all but the last part is written before, hidden; only the last transaction makes it that of the document.
 * Writes follow one another, so nothing else changes the base in between.
 */
function* endStored(knowledge: Knowledge, sent: StoredEnd, parts: readonly FormPart[]): Generator<void, boolean> {
  const passages: CountedPassage[] = []
  for (const part of parts) {
    if (passages.length > 0) yield
    passages.push(...counted(part.passages))
  }
  const written = writtenParts(passages)
  const steps = written.map((part, index) => ({ part, blocks: parts[index]?.blocks ?? [] }))
  for (const { blocks } of parts.slice(written.length)) steps.push({ part: [], blocks })
  const form = knowledge.takeNumbers(passages.length)
  let at = form
  const last = steps.length - 1
  for (const [piece, { part, blocks }] of steps.entries()) {
    const draft = knowledge.transaction(() => {
      const found = draftOf(knowledge, sent, form)
      if (found === null) return null
      if (piece === 0) markFresh(knowledge, found, passages.length)
      if (piece === 0 && last > 0) hideDraft(knowledge, found, passages.length)
      writeBlocks(knowledge, found, { piece, blocks })
      writePassages(knowledge, found, { at, passages: part })
      if (piece < last) return found
      if (last > 0) showDraft(knowledge, form)
      count(knowledge, sent, { held: found, as: makeForm(knowledge, found, { sent, passages }) })
      return found
    })
    if (draft === null) return false
    indexPassages(knowledge, draft, { at, passages: part })
    at += part.length
    while (piece < last && knowledge.fresh.isFull()) {
      knowledge.fresh.pack(knowledge.transaction)
      yield
    }
    if (piece < last) yield
  }
  return true
}

type Draft = NewForm & Held

/** What a form is written for; null if its document is not held any more, or given back as it is not over what was read again. */
function draftOf(knowledge: Knowledge, sent: StoredEnd, form: number): Draft | null {
  const held = heldOf(knowledge, sent)
  if (held === null) return null
  const { over } = sent.end
  if (over !== undefined && knowledge.get(documentSql.read, held.base, held.key)?.digest !== over) {
    knowledge.run(ingestSql.giveBack, sent.held.number)
    return null
  }
  const { about, reading } = sent.end
  return { ...held, form, group: madeGroup(knowledge, held.base, { attributes: about.attributes, reading }) }
}

function heldOf({ get }: Knowledge, { owner, held }: SentEnd): Held | null {
  return get(ingestSql.held, held.number, owner, held.attempt) as unknown as Held | null
}

interface WrittenBlocks {
  readonly piece: number
  readonly blocks: FormPart['blocks']
}

function writeBlocks({ run }: Knowledge, { form }: NewForm, { piece, blocks }: WrittenBlocks): void {
  if (blocks.length > 0) run(documentSql.addBlocks, form, piece, JSON.stringify(blocks))
}

interface Made {
  readonly sent: StoredEnd
  readonly passages: readonly CountedPassage[]
}

/** Makes a complete form that of its document, and hides the one before. */
function makeForm(knowledge: Knowledge, draft: Draft, { sent, passages }: Made): 'added' | 'changed' {
  const { run, get, vectors } = knowledge
  const { base, key, group, form } = draft
  const { about, digest, at } = sent.end
  const words = passages.reduce((sum, { length }) => sum + length, 0)
  const values = [group, form, passages.length, words] as const
  const before = get(documentSql.read, base, key)
  changeGroup(knowledge, group, { documents: 1, passages: passages.length, words })
  if (before !== null) hideForm(knowledge, base, before as unknown as GoneDocument)
  vectors.changed(base, group)
  const stored = JSON.stringify(about)
  const ingest = draft.rereads === 1 && before !== null ? (before.ingest as number) : draft.ingest
  if (before === null) run(documentSql.add, base, key, ...values, digest, at, ingest, stored)
  else run(documentSql.change, ...values, digest, at, ingest, stored, before.number as number)
  return before === null ? 'added' : 'changed'
}

/** Counts a document in its ingest, which ends with its last one. */
function count(
  knowledge: Knowledge,
  { held: { number }, now }: SentEnd,
  how: { readonly held: Held; readonly as: Counted },
): void {
  const { run, get } = knowledge
  const { held, as } = how
  run(ingestSql.dropWaiting, number)
  run(ingestSql.count, held.ingest, Number(as === 'added'), Number(as === 'changed'), Number(as === 'unchanged'))
  if (get(ingestSql.readByNumber, held.ingest)?.remaining === 0) endIngest(knowledge, held.ingest, now)
}
