/** Readers of a long audit: a page costs the same, whatever stands beside it. */
import type { Runtime } from '@witan/core'
import { openAudited, stores } from '../support/long.ts'
import type { Row } from '../support/row.ts'

const entries = 100_000

/** Reads pages to the end; returns how many entries there are. */
async function readAll({ audit }: Runtime, by: string | null): Promise<number> {
  let [count, cursor]: [number, string | null] = [0, null]
  do {
    const page = await audit({ limit: 200, cursor, ...(by === null ? {} : { by }) })
    count += page.items.length
    cursor = page.nextCursor
  } while (cursor !== null)
  return count
}

/** Rows of audits. */
export const audits: readonly Row[] = Object.keys(stores).map((kind) => ({
  name: `all pages of an audit of ${entries.toLocaleString('en')} entries, and those of one principal, on ${kind}`,
  setUp: async (play) => {
    const runtime = await openAudited(play, { entries, kind })
    return async () => {
      const found = [await readAll(runtime, 'user:first'), await readAll(runtime, null)]
      if (found.join() !== `5,${entries}`) throw new Error(`${found.join()} entries were read`)
    }
  },
}))
