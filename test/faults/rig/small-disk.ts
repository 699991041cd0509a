/** A disk of a few megabytes in memory, which really gets full: for a store whose writes the file system refuses. */
import { execFile } from 'node:child_process'
import { mkdir, open, rm, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { sqliteStore } from '@witan/core'
import type { Lane } from './lane.ts'

/** A mounted disk. */
interface SmallDisk {
  /** The same place, with its store on the disk. */
  readonly lane: Lane
  /** Takes all that is left but for so many bytes. */
  fill(leaveBytes: number): Promise<void>
  /** Gives back what was taken. */
  empty(): Promise<void>
  close(): Promise<void>
}

const run = promisify(execFile)
const size = '24m'
const piece = Buffer.alloc(65_536)

/** Mounts one in the folder of a place; null where this user, or this machine, may not mount. */
export async function mountSmallDisk(lane: Lane): Promise<SmallDisk | null> {
  const folder = join(lane.folder, 'small')
  await mkdir(folder)
  try {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=0700`, 'tmpfs', folder])
  } catch {
    return null
  }
  const [file, filler] = [join(folder, 'witan.db'), join(folder, 'filler')]
  return {
    lane: {
      ...lane,
      storeUrl: `file:${file}`,
      async openStore() {
        const store = sqliteStore({ file, synchronous: 'normal' })
        await store.open()
        return store
      },
    },
    async fill(leaveBytes) {
      const taken = await takeAll(filler)
      await truncate(filler, Math.max(0, taken - leaveBytes))
    },
    empty: () => rm(filler),
    close: async () => void (await run('umount', ['--lazy', folder])),
  }
}

/** Writes until the file system says that it is full; how many bytes it took. */
async function takeAll(path: string): Promise<number> {
  const file = await open(path, 'w')
  let taken = 0
  try {
    for (;;) taken += (await file.write(piece)).bytesWritten
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
    return taken
  } finally {
    await file.close()
  }
}
