/** A server that knows people by their keys, and calls under each. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { commandLine } from './program.ts'
import { createStage, type Stage } from './stage.ts'
import type { Answer, CallOptions } from './witan.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const run = promisify(execFile)

export type Call = <T>(method: string, path: string, options?: CallOptions) => Promise<Answer<T>>

/** A stage with a store on disk, in which each of these users has a key with its roles; `admin` is there too. */
export async function createKeyedStage<Name extends string>(
  roles: Readonly<Record<Name, readonly string[]>>,
): Promise<{ readonly stage: Stage; readonly as: Readonly<Record<Name | 'admin', Call>> }> {
  const stage = await createStage({ store: 'file', hosted: true, prepare: () => ({ auth: { mode: 'keys' } }) })
  await stage.witan.stop()
  const env = { ...process.env, WITAN_STORE_URL: `file:${join(stage.witan.folder, 'witan.db')}` }
  const words = ['keys', 'create', '--db', 'shop', '--role', 'admin']
  const made = await run(process.execPath, [...commandLine, ...words], { cwd: root, env })
  await stage.witan.start()
  const admin = callerOf(stage, made.stdout.trim())
  const calls: [string, Call][] = [['admin', admin]]
  for (const [name, held] of Object.entries(roles)) {
    const body = { id: `user:${name}`, roles: held }
    const { body: key } = await admin<{ key: string }>('POST', '/api/v1/keys', { body })
    calls.push([name, callerOf(stage, key.key)])
  }
  return { stage, as: Object.fromEntries(calls) as Record<Name | 'admin', Call> }
}

function callerOf(stage: Stage, key: string): Call {
  return (method, path, options = {}) =>
    stage.witan.call(method, path, {
      ...options,
      headers: { accept: 'application/json', authorization: `Bearer ${key}`, ...options.headers },
    })
}
