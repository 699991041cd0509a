/** A worker without HTTP: claims jobs of the shared store and runs them, until it is closed. */
import type { RuntimeOptions } from '@witan/core'
import { type Finding, WitanError } from '@witan/protocol'
import { type Config, isPostgres } from './config.ts'
import { createLog } from './log.ts'
import { openRuntime } from './open-runtime.ts'
import { isDoneWithin, stopsWithinMs } from './within.ts'

/** A job that this worker claims or releases. */
export type WorkNote = Parameters<NonNullable<RuntimeOptions['working']>>[0]

/** A running worker. */
export interface WitanWorker {
  /** Tools, models and sources of stored agents that this configuration lacks: a job that needs one fails or goes on without it. */
  readonly lacks: readonly Finding[]
  /**
   * Stops and releases its jobs. False if that took more than nine seconds: the jobs then go on elsewhere
   * when their leases expire. A second call waits for the first.
   */
  close(): Promise<boolean>
}

const lackCodes: readonly string[] = ['TOOL_UNKNOWN', 'MODEL_UNKNOWN', 'SOURCE_UNKNOWN']

/**
 * Opens the runtime and works. Throws `CONFIG_INVALID` for a store that no other process can open, and the errors of the store or an
 * agent; it leaves nothing open then.
 */
export async function startWorker(config: Config, working: (note: WorkNote) => void): Promise<WitanWorker> {
  refuseOwnStore(config)
  const runtime = await openRuntime(config, createLog(config.logLevel), { working })
  const { errors, warnings } = await runtime.agents.check()
  // A runtime's timers do not keep a process alive, and a worker has no socket that would.
  const alive = setInterval(() => {}, 60_000)
  let closing: Promise<boolean> | null = null
  return {
    lacks: [...errors, ...warnings].filter(({ code }) => lackCodes.includes(code)),
    close() {
      clearInterval(alive)
      closing ??= isDoneWithin(runtime.close(), stopsWithinMs)
      return closing
    },
  }
}

/** A worker beside a server needs a store that both can open. */
function refuseOwnStore({ store }: Pick<Config, 'store'>): void {
  if (isPostgres(store.url)) return
  const where = store.url === 'memory:' ? 'in the memory of one process' : 'in a file that one process holds'
  throw new WitanError('CONFIG_INVALID', `The store is ${where}: a worker of its own has nothing to claim there.`, {
    path: 'store.url',
    hint: '`witan serve` works on its jobs itself. For more processes set store.url or WITAN_STORE_URL to postgres://….',
  })
}
