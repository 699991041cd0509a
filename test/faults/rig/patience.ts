/** How long what must come about is waited for, in ms. It is no bound on how soon: a hang is found all the same, and a busy machine has its time. */
import { setTimeout as delay } from 'node:timers/promises'
import type { History } from './history.ts'

export const patienceMs = 120_000

/** Looks now and then until it is so; false if that did not come about in time. */
export async function comesAbout(isSo: () => boolean | Promise<boolean>, everyMs = 10): Promise<boolean> {
  for (const until = Date.now() + patienceMs; Date.now() < until; await delay(everyMs)) if (await isSo()) return true
  return false
}

/** Waits until so many more events were read, which says that work goes on; or until the work is over. Never throws for it. */
export async function heard(history: History, events: number, work: Promise<unknown>): Promise<void> {
  const read = (): number => history.connections.reduce((sum, { frames }) => sum + frames.length, 0)
  const enough = read() + events
  let isOver = false
  const end = (): void => {
    isOver = true
  }
  work.then(end, end)
  while (!isOver && read() < enough) await delay(5)
}
