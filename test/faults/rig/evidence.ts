/** What the checker looks at: the clients' history, the ledger, and what is stored in the end. Never what a worker says of itself. */
import type { Store } from '@witan/core'
import type { Entry } from '@witan/protocol/entries'
import type { History } from './history.ts'
import type { LedgerState } from './ledger.ts'

type Rows<Method extends 'listJobs' | 'listInterruptions'> = Awaited<ReturnType<Store[Method]>>

/** One conversation as it is stored in the end. */
export interface StoredConversation {
  readonly id: string
  readonly entries: readonly Entry[]
  readonly jobs: Rows<'listJobs'>
  readonly interruptions: Rows<'listInterruptions'>
}

/** What a run may spend and take. */
export interface Bounds {
  readonly depth: number
  readonly modelCalls: number
  /** After a cancel. */
  readonly graceMs: number
  /** From the death of an owner to the first entry of the next. */
  readonly recoveryMs: number
}

/** Something that a reader could read, and whose it is. */
export interface Reading {
  readonly sink: string
  readonly tenant: string
  readonly text: string
}

/** Everything of one row of the matrix, or of one trial. */
export interface Evidence {
  readonly history: History
  readonly ledger: LedgerState
  readonly conversations: readonly StoredConversation[]
  readonly bounds: Bounds
  readonly faults: { readonly intended: number; readonly fired: number }
  readonly recoveriesMs: readonly number[]
  /** What the same script came to with and without faults, without ids and times. */
  readonly endings: readonly { readonly name: string; readonly faulty: unknown; readonly calm: unknown }[]
  readonly readings: readonly Reading[]
  /** Values that no reading may hold: of nobody at all, or of the tenant that may. */
  readonly canaries: readonly { readonly value: string; readonly tenant: string | null }[]
  readonly memory: readonly { readonly baselineBytes: number; readonly afterBytes: number }[]
}

/** Nothing happened: what a row fills in. */
export function emptyEvidence(history: History): Evidence {
  return {
    history,
    ledger: { executions: [], applied: [] },
    conversations: [],
    bounds: { depth: 8, modelCalls: 40, graceMs: 1000, recoveryMs: 1000 },
    faults: { intended: 0, fired: 0 },
    recoveriesMs: [],
    endings: [],
    readings: [],
    canaries: [],
    memory: [],
  }
}

/** Reads everything of a conversation from an open store. */
export async function readStored(store: Store, database: string, id: string): Promise<StoredConversation> {
  const entries = await store.readEntries(database, id, { after: 0, limit: 100_000 })
  const jobs = await store.listJobs(database, id)
  const page = { limit: 1000, after: null, state: null, conversation: id, addressees: null }
  return { id, entries, jobs, interruptions: await store.listInterruptions(database, page) }
}
