/** The bound on the open tasks of one caller. */
import type { Principal } from '@witan/core'
import type { OwnRuns } from '@witan/core/tooling'
import { WitanError } from '@witan/protocol'

/** How many messages of each caller are being stored in this process now: the store does not count their tasks yet. */
const storing = new Map<string, number>()

/** Makes room for one more task; call what it returns once the task is stored. Throws `TOO_MANY_TASKS`. */
export async function reserveTask({ database, id }: Principal, own: OwnRuns, most: number): Promise<() => void> {
  const key = JSON.stringify([database, id])
  const before = storing.get(key) ?? 0
  storing.set(key, before + 1)
  const release = (): void => {
    const left = (storing.get(key) ?? 1) - 1
    if (left === 0) storing.delete(key)
    else storing.set(key, left)
  }
  try {
    if ((await own.countLive(most)) + before < most) return release
  } catch (error) {
    release()
    throw error
  }
  release()
  throw new WitanError('TOO_MANY_TASKS', `${most} tasks of yours are open here, which is the most of one caller.`, {
    hint: 'Wait until one has ended, or cancel one.',
    details: { retryAfterSeconds: 5 },
  })
}
