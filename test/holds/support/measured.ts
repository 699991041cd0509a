/** What the measured process does: it plays rows one after the other. It is no process of the test runner, which follows every promise. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { rows } from '../rows.ts'
import { type Measured, measure } from './row.ts'

/** Plays the row of this name up to so many times. */
export async function play(name: string, plays: number): Promise<Measured> {
  if (globalThis.gc === undefined) {
    setFlagsFromString('--expose-gc')
    globalThis.gc = runInNewContext('gc') as NonNullable<typeof globalThis.gc>
  }
  const row = rows.find((one) => one.name === name)
  if (row === undefined) throw new Error(`there is no row "${name}"`)
  return measure(row, plays)
}
