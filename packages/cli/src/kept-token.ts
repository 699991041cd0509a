/** The token of `witan dev`, kept in a file for this user alone: so a browser stays signed in over changes and restarts. */
import { constants } from 'node:fs'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Config, storeFile } from '@witan/server'

/** Follows no link, and waits for no other program, as a pipe would. Windows has neither flag. */
const asItIs = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)
const form = /^[\w-]{43}$/
/** More than a token and a line break: a longer file holds something else. */
const mostBytes = 64

/** Where the token of a configuration is kept: beside the store file, else in `.witan` beside the configuration. */
export function tokenFileOf(config: Config): string {
  const store = storeFile(config)
  return store === null ? join(config.folder, '.witan', 'dev-token') : `${store}.dev-token`
}

/** The token in that file. Undefined without one, and where others could have read or written it, or its form is not a token's. */
export async function readKeptToken(file: string): Promise<string | undefined> {
  const handle = await open(file, asItIs).catch(() => null)
  if (handle === null) return undefined
  try {
    const { mode, uid } = await handle.stat().then((found) => (found.isFile() ? found : { mode: 0o777, uid: -1 }))
    const isOurs = process.getuid === undefined || (uid === process.getuid() && (mode & 0o077) === 0)
    if (!isOurs) return undefined
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(mostBytes), 0, mostBytes, 0)
    const text = buffer.toString('latin1', 0, bytesRead).trim()
    return form.test(text) ? text : undefined
  } catch {
    return undefined
  } finally {
    await handle.close()
  }
}

/** Puts the token there, readable and writable for this user alone, in place of whatever stood there. Throws what the disk refuses. */
export async function keepToken(file: string, token: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  const next = `${file}.${process.pid}`
  await rm(next, { force: true })
  const handle = await open(next, 'wx', 0o600)
  try {
    await handle.writeFile(`${token}\n`)
  } finally {
    await handle.close()
  }
  await rename(next, file)
}
