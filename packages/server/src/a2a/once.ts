/** One task for each message, however often it is sent: by caller, agent and message id. */
import { setTimeout as delay } from 'node:timers/promises'
import type { IdempotencyScope, RememberedReplies, Reservation } from '@witan/core/tooling'
import { errorTable, isWitanError } from '@witan/protocol'
import type { Caller } from './credential.ts'

interface OnceOf {
  readonly caller: Caller
  /** The address of the agent. */
  readonly agent: string
  readonly messageId: string
  readonly replies: RememberedReplies
  /** Aborts when the caller has gone. */
  readonly gone: AbortSignal
}

/**
 * How long a repeat waits for the first request, which only has to store its message: after 15 s that counts as lost, with its process, and the
 * repeat takes its place. So whoever sends a message again gets its task, also where it does not know what to do with an error.
 */
const mostMs = 17_000
/** It looks again after so long; later than that, less often. */
const [soonMs, laterMs] = [50, 500]
const longMs = 1_000

/** The task that has a message. `isNoted`: it was stored together with the reservation, which needs no more. */
export interface Placed {
  readonly runId: string
  readonly isNoted: boolean
  /** Settles when the run has parked or ended for the first time since; absent if that was before. */
  readonly rest?: Promise<unknown>
}

/**
 * The task that has the message. `act` stores it, with the reservation under which a repeat finds it. The same id again gives the
 * same task, whatever else the message says. Nobody owns what an anonymous caller sends, so each of its messages is a new one.
 */
export async function accepted(
  { caller, agent, messageId, replies, gone }: OnceOf,
  act: (note?: Reservation) => Promise<Placed>,
): Promise<Omit<Placed, 'isNoted'>> {
  const { principal, isAnonymous } = caller
  if (isAnonymous) return act()
  const scope = { principal, method: 'A2A', path: agent, name: 'messageId', key: messageId, digest: '', joins: true }
  const begun = await beginning(replies, scope, gone)
  if (begun.state === 'done') return { runId: begun.body }
  const { reservation } = begun
  if (begun.state === 'noted') return begun
  try {
    const placed = await act(reservation)
    if (!placed.isNoted) await replies.finish(scope, reservation, { status: 200, body: placed.runId })
    return placed
  } catch (error) {
    if (isRefusal(error)) await replies.abandon(scope, reservation)
    throw error
  }
}

async function beginning(replies: RememberedReplies, scope: IdempotencyScope, signal: AbortSignal) {
  const since = performance.now()
  for (;;) {
    try {
      return await replies.begin(scope)
    } catch (error) {
      const waited = performance.now() - since
      if (waited > mostMs || !isWitanError(error) || error.code !== 'IN_PROGRESS') throw error
      await delay(waited > longMs ? laterMs : soonMs, undefined, { signal })
    }
  }
}

/** True if nothing was stored. Otherwise the key stays taken for a while: the message may have been stored. */
function isRefusal(error: unknown): boolean {
  if (!isWitanError(error)) return error instanceof Error && error.name === 'A2aError'
  const { status, retryable } = errorTable[error.code]
  return (status < 500 || retryable === true) && error.details['outcome'] !== 'unknown'
}
