/** Ends of documents on PostgreSQL: each is one transaction. */
import { createHash } from 'node:crypto'
import { pause } from '../../../identity/turn.ts'
import {
  comparedAttributes,
  type DocumentEnd,
  type DocumentForm,
  type HeldDocument,
} from '../../../knowledge/records.ts'
import { countedWords, readCounts } from '../../postings.ts'
import { documentSql, groupSql, ingestSql } from '../../sql/postgres/knowledge.ts'
import { partsOf } from '../../parts.ts'
import type { Transaction } from './connection.ts'
import { clearHidden, packWhenFull } from './knowledge-index.ts'
import { type BasePlace, removeForms, valueDigest } from './knowledge-forms.ts'
import { endIngest } from './knowledge-ingests.ts'
import type { PostgresSession } from './session.ts'
import type { Row, Statement } from './statements.ts'
import { restored, stored } from './text.ts'

interface End {
  readonly owner: string
  readonly held: HeldDocument
  readonly end: DocumentEnd
}

/** The time limit of statements with much text, in ms. */
const longMs = 60_000

/** Stores what became of a document; false if it is not held any more. */
export async function endDocument(session: PostgresSession, given: End): Promise<boolean> {
  const { held } = given
  const at = { database: stored(held.database), base: held.base }
  const form = given.end.kind === 'stored' ? await nextForm(session, at.database) : null
  const work = async (transaction: Transaction, mayBeDone: boolean) => {
    const [[isHeld] = [], [before] = []] = await transaction.send([
      [ingestSql.held, at.database, held.number, stored(given.owner), held.attempt],
      [documentSql.lock, at.database, at.base, stored(held.key)],
    ])
    if (isHeld === undefined) return mayBeDone && (form === null || before?.form === form)
    return finish(transaction, { ...given, at, form, before: before ?? null, rereads: isHeld.rereads as boolean })
  }
  const isDone = await session.transaction(at.database, work, { replyMs: longMs })
  if (isDone && given.end.kind === 'stored') await packWhenFull(session, at)
  if (isDone) await clearHidden(session, at)
  return isDone
}

async function nextForm(session: PostgresSession, database: string): Promise<number> {
  const [rows = []] = await session.read(database, [documentSql.nextForm])
  return rows[0]?.form as number
}

interface Finishing extends End {
  readonly at: BasePlace
  readonly form: number | null
  readonly before: Row | null
  readonly rereads: boolean
}

async function finish(transaction: Transaction, given: Finishing): Promise<boolean> {
  const { at, held, end, before, rereads } = given
  const [database, base] = [at.database, at.base]
  const about = [database, base, stored(held.ingest)] as const
  if (isOutdated(given)) {
    await transaction.commit([[ingestSql.giveBack, database, held.number]])
    return false
  }
  const changes: Statement[] = []
  if (end.kind === 'stored') changes.push(...(await writeForm(transaction, { ...given, end })))
  if (end.kind === 'unchanged' && !rereads) changes.push([documentSql.keep, database, base, stored(held.key), about[2]])
  if (end.kind === 'failed') {
    const failure = { key: held.key, code: end.code, detail: end.detail }
    changes.push([ingestSql.addFailures, ...about, [JSON.stringify(failure)]])
    if (end.failure !== undefined && before !== null && before.digest === end.over) {
      const kept = JSON.stringify({ ...JSON.parse(before.about as string), failure: end.failure })
      changes.push([documentSql.setAbout, database, base, stored(held.key), kept])
    }
  }
  const isStored = end.kind === 'stored'
  const counts = [
    Number(isStored && before === null),
    Number(isStored && before !== null),
    Number(end.kind === 'unchanged'),
  ]
  const results = await transaction.send([
    ...changes,
    [ingestSql.dropWaiting, database, held.number],
    [ingestSql.count, ...about, ...counts],
  ])
  const counted = results.at(-1)?.[0]
  const prune = counted?.prune as string | null
  const place = { database, base, id: about[2] }
  const isLast = counted?.remaining === 0
  await transaction.commit(isLast ? await endIngest(transaction, place, prune === null ? null : restored(prune)) : [])
  return true
}

/** Whether the base has something else now than what the end was made of. */
function isOutdated({ held, end, before, rereads }: Finishing): boolean {
  if (end.kind === 'unchanged') return !rereads && before?.digest !== held.digest
  return end.kind === 'stored' && end.over !== undefined && before?.digest !== end.over
}

type StoredFinishing = Finishing & { readonly end: { readonly kind: 'stored' } }

/** Writes a form a part at a time, and returns the statements that make it that of its document. */
async function writeForm(transaction: Transaction, given: StoredFinishing): Promise<Statement[]> {
  const { at, held, before } = given
  const { form: made, at: time } = given.end
  const [database, base, form] = [at.database, at.base, given.form as number]
  const group = await heldGroup(transaction, at, made)
  let words = 0
  for await (const { statements, length } of formParts({ database, base, group, form }, made)) {
    await transaction.send(statements)
    words += length
  }
  const { title, uri, mediaType, attributes, digest } = made
  const about = JSON.stringify({ title, uri, mediaType, attributes })
  const counts = [made.passages.length, words] as const
  const removed = before === null ? [] : removeForms(at, [before], { isReplaced: true })
  return [
    ...removed,
    [
      documentSql.put,
      database,
      base,
      stored(held.key),
      group,
      form,
      ...counts,
      digest,
      Math.trunc(time),
      about,
      stored(held.ingest),
      given.rereads,
    ],
    [groupSql.change, database, base, group, 1, ...counts],
    ...(before === null ? [] : [[groupSql.dropEmpty, database, base, [before.grp as number]] as const]),
  ]
}

/** The group of these attributes and this reading, which stays until the transaction has ended. */
async function heldGroup({ send }: Transaction, { database, base }: BasePlace, { attributes, reading }: DocumentForm) {
  const compared = comparedAttributes(attributes)
  const digest = createHash('sha256')
    .update(JSON.stringify([reading, compared]))
    .digest('base64')
  const pairs = compared.flatMap(([name, values]) => values.map((value) => [name, valueDigest(value)] as const))
  const [names, values] = [pairs.map(([name]) => name), pairs.map(([, value]) => value)]
  for (;;) {
    const [, , [group] = []] = await send([
      [groupSql.make, database, base, digest, reading],
      [groupSql.addValues, database, base, digest, names, values],
      [groupSql.hold, database, base, digest],
    ])
    if (group !== undefined) return group.number as number
  }
}

interface FormPlace extends BasePlace {
  readonly group: number
  readonly form: number
}

/** Words are as long as a document makes them, and are written once more beside its text. */
function charactersOf(words: readonly string[]): number {
  return words.reduce((sum, word) => sum + word.length + 1, 0)
}

async function* formParts({ database, base, group, form }: FormPlace, { passages, vectors, blocks }: DocumentForm) {
  const place = [database, base, form] as const
  const grouped = [database, base, group, form] as const
  let first = 0
  for (const part of partsOf(passages, ({ text, words }) => text.length + charactersOf(words))) {
    await pause()
    const places = part.map((_, index) => first + index)
    const counted = part.map(({ words }) => countedWords(words.join(' ')))
    const data = part.map(({ heading, text }) => JSON.stringify([heading, text]))
    const counts = counted.map(({ words }) => JSON.stringify(Object.fromEntries(readCounts(words))))
    const lengths = counted.map(({ length }) => length)
    const statements: Statement[] = [
      [documentSql.addPassages, ...place, places, data, counted.map(({ words }) => words)],
      [documentSql.addFresh, ...grouped, places, lengths, counts],
    ]
    const near = places.filter((at) => vectors?.[at] !== undefined)
    const encoded = near.map((at) => Buffer.from(vectors?.[at] as Int8Array).toString('base64'))
    if (near.length > 0) statements.push([documentSql.addVectors, ...grouped, near, encoded])
    first += part.length
    yield { statements, length: lengths.reduce((sum, length) => sum + length, 0) }
  }
  let piece = 0
  for (const part of partsOf(blocks, ({ text }) => text.length)) {
    await pause()
    yield { statements: [[documentSql.addBlocks, ...place, piece, JSON.stringify(part)] as Statement], length: 0 }
    piece += 1
  }
}
