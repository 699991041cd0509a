/** The index of words on PostgreSQL: postings of new forms are packed many at once, and those of old forms are taken out again. */
import type { Posting } from '../../../knowledge/ranking.ts'
import { pause } from '../../../identity/turn.ts'
import { packed, readCounts, unpacked } from '../../postings.ts'
import { packSql } from '../../sql/postgres/knowledge.ts'
import type { Transaction } from './connection.ts'
import type { PostgresSession } from './session.ts'
import type { Row, Statement } from './statements.ts'

interface Place {
  readonly database: string
  readonly base: string
}

/** A number of a passage among all of a store: that of its form, and its place in it. */
const placesPerForm = 1_048_576

/** The number of a passage. */
export function passageNumber(form: number, place: number): number {
  return form * placesPerForm + place
}

/** The form and the place of a number. */
export function passagePlace(number: number): { readonly form: number; readonly place: number } {
  return { form: Math.floor(number / placesPerForm), place: number % placesPerForm }
}

/** How many passages of a base may be unpacked before some are packed: a search looks at each of them. */
const mostFresh = 300
/** How many forms, and rows of postings, one packing and one statement take. */
const [formsAtOnce, rowsAtOnce] = [1_000, 2_000]
/** How many forms are cleared in one transaction. */
const clearedAtOnce = 20
/** The time limit of statements with many rows, in ms. */
const longMs = 60_000

/** Packs what is fresh in a base, if it is much. Forms that another process works on are left to it. */
export async function packWhenFull(session: PostgresSession, { database, base }: Place): Promise<void> {
  const [rows = []] = await session.read(database, [packSql.count, database, base, mostFresh + 1])
  if ((rows[0]?.fresh as number) <= mostFresh) return
  const work = async ({ send, commit }: Transaction) => {
    const [locked = []] = await send([[packSql.lock, database, base, formsAtOnce]])
    const forms = locked.map(({ form }) => form as number)
    if (forms.length === 0) return
    const [fresh = []] = await send([[packSql.read, database, base, forms]])
    const pack = forms.at(-1) as number
    for (const part of partsOfRows(await packedRows(fresh))) {
      const [words, groups, firsts, datas] = [
        part.map(([w]) => w),
        part.map(([, g]) => g),
        part.map(([, , f]) => f),
        part.map((r) => r[3]),
      ]
      await send([[packSql.add, database, base, pack, words, groups, firsts, datas]])
    }
    await commit([
      [packSql.dropFresh, database, base, forms],
      [packSql.mark, database, base, forms, pack],
    ])
  }
  await session.transaction(database, work, { replyMs: longMs })
}

type PackedRow = readonly [word: string, group: number, first: number, data: string]

async function packedRows(fresh: readonly Row[]): Promise<PackedRow[]> {
  const byWord = new Map<string, { readonly word: string; readonly group: number; readonly postings: Posting[] }>()
  for (const row of fresh) {
    await pause()
    const [group, length] = [row.grp as number, row.length as number]
    const passage = passageNumber(row.form as number, row.place as number)
    for (const [word, count] of Object.entries(JSON.parse(row.counts as string) as Record<string, number>)) {
      const key = `${group} ${word}`
      const known = byWord.get(key)
      if (known === undefined) byWord.set(key, { word, group, postings: [{ passage, count, length }] })
      else known.postings.push({ passage, count, length })
    }
  }
  const rows: PackedRow[] = []
  for (const { word, group, postings } of byWord.values()) {
    await pause()
    rows.push([word, group, postings[0]?.passage as number, base64(packed(postings))])
  }
  return rows
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
}

function* partsOfRows<Item>(rows: readonly Item[]): Generator<readonly Item[]> {
  for (let from = 0; from < rows.length; from += rowsAtOnce) yield rows.slice(from, from + rowsAtOnce)
}

/** Takes forms that are gone out of the index of a base. What a killed process has left is taken out by the next that looks. */
export async function clearHidden(session: PostgresSession, at: Place): Promise<void> {
  const { database, base } = at
  const work = async ({ send, commit }: Transaction) => {
    const [hidden = []] = await send([[packSql.hidden, database, base, clearedAtOnce]])
    if (hidden.length === 0) return false
    for (const row of hidden) await clearForm(send, at, row)
    await commit([[packSql.show, database, base, hidden.map(({ form }) => form as number)]])
    return true
  }
  const look: Statement = [packSql.hidden.replace(' for update skip locked', ''), database, base, 1]
  while (((await session.read(database, look))[0] ?? []).length > 0)
    if (!(await session.transaction(database, work, { replyMs: longMs }))) return
}

async function clearForm(send: Transaction['send'], { database, base }: Place, row: Row): Promise<void> {
  const [form, group, pack] = [row.form as number, row.grp as number, row.pack as number]
  const words = [...new Set(Array.from(readCounts(row.words as string), ([word]) => word))]
  for (const part of partsOfRows(words)) {
    const [rows = []] = await send([[packSql.packed, database, base, group, pack, part]])
    const kept: (readonly [word: string, first: number, data: string])[] = []
    const gone: string[] = []
    for (const { word, first, data } of rows) {
      await pause()
      const postings = unpacked(first as number, data as Uint8Array).filter(
        ({ passage }) => passagePlace(passage).form !== form,
      )
      if (postings.length === 0) gone.push(word as string)
      else kept.push([word as string, postings[0]?.passage as number, base64(packed(postings))])
    }
    const about = [database, base, group, pack] as const
    const columns = [
      kept.map(([word]) => word),
      kept.map(([, first]) => first),
      kept.map(([, , data]) => data),
    ] as const
    await send([
      [packSql.replace, ...about, ...columns],
      [packSql.drop, ...about, gone],
    ])
  }
}
