/** A conversation whose messages are as large as a request may be, made without running it. */
import type { Store } from '@witan/core'
import type { Entry } from '@witan/protocol/entries'

type Snapshot = NonNullable<Awaited<ReturnType<Store['readSnapshot']>>>

/** How many runs, and how many characters the message of each has. */
interface LongLog {
  readonly id: string
  readonly runs: number
  readonly characters: number
}

/** The same conversation with its one run repeated, each with a message of so many characters. */
export function lengthened(one: Snapshot, { id, runs, characters }: LongLog): Snapshot {
  const from = one.row.id
  const text = longText(characters)
  const nth = <Value>(value: Value, index: number): Value =>
    JSON.parse(
      JSON.stringify(value)
        .replaceAll(one.jobs[0]?.id ?? '', `c_${index}`)
        .replaceAll(JSON.stringify(from), JSON.stringify(id)),
    ) as Value
  const entries = Array.from({ length: runs }, (_, index) =>
    one.entries.map((entry): Entry => {
      const own = nth(entry, index)
      const seq = index * one.entries.length + entry.seq
      const said = own.type === 'message' ? { body: { ...own.body, text } } : {}
      return { ...own, ...said, seq } as Entry
    }),
  ).flat()
  const jobs = Array.from({ length: runs }, (_, index) => {
    const [job] = one.jobs
    return { ...nth(job, index), firstSeq: index * one.entries.length + 1 } as Snapshot['jobs'][number]
  })
  return { ...one, row: { ...one.row, id, lastSeq: entries.length }, entries, jobs }
}

/** Text with line breaks and quotes, as people paste it. */
function longText(characters: number): string {
  const line = 'A line of a report, which "quotes" somebody and goes on for a while.\n'
  return line.repeat(Math.ceil(characters / line.length)).slice(0, characters)
}
