/** The effect ledger from outside: started, written to by tools, read by the checker. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Deed } from './world.ts'

/** How often a call was executed. */
interface Execution extends Deed {
  readonly times: number
  /** When it began, the last time. */
  readonly at: number
}

/** What the ledger holds: executions by call, and the calls whose key was applied. */
export interface LedgerState {
  readonly executions: readonly Execution[]
  readonly applied: readonly string[]
}

/** A running ledger process. */
export interface Ledger {
  readonly url: string
  read(): Promise<LedgerState>
  close(): Promise<void>
}

/** Starts a ledger on a file of its own. */
export async function startLedger(file: string): Promise<Ledger> {
  const script = fileURLToPath(new URL('ledger-process.ts', import.meta.url))
  const child = spawn(process.execPath, [script, file], { stdio: ['pipe', 'pipe', 'inherit'] })
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.startsWith('ready ')) continue
    const url = line.slice('ready '.length)
    return {
      url,
      read: async () => (await (await fetch(`${url}/all`)).json()) as LedgerState,
      async close() {
        const gone = once(child, 'exit')
        child.kill('SIGKILL')
        await gone
      },
    }
  }
  throw new Error('the ledger ended before it was ready')
}

/** Enters a deed into the ledger at `url`; a `keyed` one under its key. */
export async function enter(url: string, deed: Deed, signal: AbortSignal): Promise<void> {
  const keyed = deed.effect === 'keyed'
  const response = await fetch(`${url}/${keyed ? 'keyed' : 'plain'}`, {
    method: 'POST',
    body: JSON.stringify({ ...deed, at: Date.now() }),
    headers: keyed ? { 'idempotency-key': deed.callId } : {},
    signal,
  })
  await response.arrayBuffer()
}

/** A ledger in this process, for trials without processes. */
export function memoryLedger(): { readonly perform: (deed: Deed) => void; readonly read: () => LedgerState } {
  const executions = new Map<string, Deed & { times: number; at: number }>()
  const applied = new Set<string>()
  return {
    perform(deed) {
      const known = executions.get(deed.callId) ?? { ...deed, times: 0, at: 0 }
      known.times += 1
      known.at = Date.now()
      executions.set(deed.callId, known)
      if (deed.effect === 'keyed') applied.add(deed.callId)
    },
    read: () => ({ executions: [...executions.values()].map((one) => ({ ...one })), applied: [...applied] }),
  }
}
