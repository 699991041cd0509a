/** What a running server leaves beside its store, so that the command line of the same machine finds it. */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Where a server of this machine is reached; `token` is null in mode `none`. */
export interface RunningServer {
  readonly url: string
  readonly token: string | null
}

const secret = { mode: 0o600 }
/** Far longer than a server takes that has much to do; where none is, the refusal comes at once. */
const ANSWER_LIMIT_MS = 5_000

/** Writes `<store>.server.json` and `<store>.token`, readable for this user only; gives the function that removes them. */
export async function announce(storePath: string, server: RunningServer): Promise<() => Promise<void>> {
  const file = `${storePath}.server.json`
  const tokenFile = server.token === null ? null : `${storePath}.token`
  await mkdir(dirname(storePath), { recursive: true })
  await remove(file, `${storePath}.token`)
  if (tokenFile !== null) await writeFile(tokenFile, `${server.token}\n`, secret)
  await writeFile(file, `${JSON.stringify({ url: server.url, tokenFile, pid: process.pid })}\n`, secret)
  return () => remove(file, `${storePath}.token`)
}

/** The server that says it runs on this store and answers; null without one. What a crashed server left behind does no harm. */
export async function findServer(storePath: string): Promise<RunningServer | null> {
  try {
    const said: unknown = JSON.parse(await readFile(`${storePath}.server.json`, 'utf8'))
    if (typeof said !== 'object' || said === null || !('url' in said) || typeof said.url !== 'string') return null
    const signal = AbortSignal.timeout(ANSWER_LIMIT_MS)
    const answer = await fetch(`${said.url}/healthz`, { signal, redirect: 'manual' })
    await answer.body?.cancel()
    if (!answer.ok) return null
    const tokenFile = 'tokenFile' in said && typeof said.tokenFile === 'string' ? said.tokenFile : null
    const token = tokenFile === null ? null : (await readFile(tokenFile, 'utf8')).trim()
    return { url: said.url, token }
  } catch {
    return null
  }
}

/** A file must not exist before it is written: an old one would keep its mode. */
async function remove(...files: readonly string[]): Promise<void> {
  for (const file of files) await rm(file, { force: true })
}
