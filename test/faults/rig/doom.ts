/**
 * Deaths in turn, each of one server only, whichever comes by its point first: all servers of a crew are told of all of them, and
 * whoever dies takes the token. So it does not matter who takes a run over, and nobody dies twice of the same.
 */
import { closeSync, existsSync, mkdirSync, mkdtempSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { armFaults, type FaultPoint } from '@witan/core/testing'

/** A death: at the so-manieth passing of a point in one process, counted from the death before it. */
export interface Doomed {
  readonly point: FaultPoint
  readonly at: number
}

/** Deaths in turn, and where their tokens are kept. */
export interface Doom {
  readonly folder: string
  readonly deaths: readonly Doomed[]
}

/** Deaths that nobody has died yet; the folder of their tokens is made below `folder`. */
export function newDoom(folder: string, deaths: readonly Doomed[]): Doom {
  mkdirSync(folder, { recursive: true })
  return { folder: mkdtempSync(join(folder, 'doom-')), deaths }
}

/** Whether all of them happened. */
export function isFulfilled({ folder, deaths }: Doom): boolean {
  return deaths.every((_, turn) => existsSync(join(folder, String(turn))))
}

/** Takes what is left of it from everybody: none of them happens any more. */
export function lift({ folder, deaths }: Doom): void {
  for (const [turn] of deaths.entries()) take(folder, turn)
}

/** Arms this process; it replaces whatever was armed. */
export function expectDoom({ folder, deaths }: Doom): void {
  const passed = deaths.map(() => 0)
  armFaults((name) => {
    if (!deaths.some(({ point }) => point === name)) return
    const turn = deaths.findIndex((_, index) => !existsSync(join(folder, String(index))))
    const next = deaths[turn]
    if (next?.point !== name) return
    passed[turn] = 1 + (passed[turn] ?? 0)
    if ((passed[turn] ?? 0) < next.at || !take(folder, turn)) return
    process.kill(process.pid, 'SIGKILL')
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60_000) // nothing more happens before it
  })
}

/** Whether the token was still there to be taken. */
function take(folder: string, turn: number): boolean {
  try {
    closeSync(openSync(join(folder, String(turn)), 'wx'))
    return true
  } catch {
    return false
  }
}
