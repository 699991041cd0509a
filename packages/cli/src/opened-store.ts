/** Opens the configured store for one command that works on the store itself, without a runtime. */
import type { Store } from '@witan/core'
import { inspectStoreFile } from '@witan/core/tooling'
import { isWitanError, WitanError } from '@witan/protocol'
import { type Config, storeFile, storeOf } from '@witan/server'
import { StartError, UsageError } from './exit.ts'

/** Does the work on the open store, then closes it. `what` says what the command does, for the advice when another process holds the store. */
export async function withStore<Result>(
  config: Config,
  what: string,
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  const store = storeOf(config)
  try {
    await store.open().catch((error: unknown) => {
      throw new StartError(locked(error, what))
    })
    return await work(store)
  } finally {
    await store.close()
  }
}

/** Opening makes a file; a command that only reads must not. `what` as in "that is to be exported". */
export function refuseMissing(config: Config, what: string): void {
  const file = storeFile(config)
  if (file === null || inspectStoreFile(file).state !== 'missing') return
  const hint = `Set store.url, WITAN_STORE_URL or --config to the store that ${what}.`
  throw new StartError(new WitanError('CONFIG_INVALID', `There is no store ${file}.`, { path: 'store.url', hint }))
}

/** Refuses a store that ends with this command. `what` as in "nothing to export". */
export function refuseMemory({ store }: Config, what: string): void {
  if (store.url !== 'memory:') return
  const detail = `The store is in memory and ends with this command: there is nothing to ${what}.`
  throw new UsageError(detail, 'Set store.url or WITAN_STORE_URL to file:… or postgres://….')
}

/** A store file has one process: the command cannot do it beside a server. */
function locked(error: unknown, what: string): unknown {
  if (!isWitanError(error) || error.code !== 'STORE_LOCKED') return error
  const hint = `Stop that process (a server releases its runs when it stops), ${what}, and start it again.`
  return new WitanError('STORE_LOCKED', error.message, { hint, cause: error })
}

/** The databases of the store that are meant: those that were named, or all. Throws `NOT_FOUND` where it has no such database. */
export async function databasesOf(store: Store, wanted: readonly string[]): Promise<readonly string[]> {
  const known = await store.listDatabases()
  const unknown = wanted.find((name) => !known.includes(name))
  if (unknown === undefined) return wanted.length === 0 ? known : known.filter((name) => wanted.includes(name))
  const names = known.length === 0 ? 'It holds nothing.' : `It holds: ${known.join(', ')}.`
  throw new WitanError('NOT_FOUND', `The store holds no database \`${unknown}\`.`, { hint: names })
}
