/** Callers from outside: `access.call` is their only way in, and to what they began before [C31]. */
import type { Principal } from '@witan/core'
import { mayCall, type OwnRun, type OwnRuns, type PublishedAgent } from '@witan/core/tooling'
import type { AppOptions } from '../app-options.ts'
import type { Auth } from '../auth.ts'
import { nothingAt } from '../problem.ts'
import type { Caller } from './credential.ts'

/** Streams and waiting replies are checked as often as those of a key: one ends within three seconds. */
const recheckMs = 1_400

/** Whether an agent lets a caller in, with what its principal has proved. The people and programs of this server find their tasks anyway. */
function isLetIn({ data }: PublishedAgent, { address, isAnonymous }: Caller, principal: Principal): boolean {
  const isOutside = address !== null || isAnonymous
  return !isOutside || mayCall(data.access, principal)
}

/**
 * The principal by which a caller finds a task of its own: its credential alone, or else with what its evidence proved when the task began. A
 * request for a task carries no evidence. Null if the agent lets neither in.
 */
export async function finder(
  agent: PublishedAgent,
  caller: Caller,
  { run, own }: { readonly run: OwnRun; readonly own: OwnRuns },
): Promise<Principal | null> {
  if (isLetIn(agent, caller, caller.principal)) return caller.principal
  const begun = await own.principalOf(run)
  return isLetIn(agent, caller, begun) ? begun : null
}

/** Whether a caller needs evidence to find its tasks at an agent. */
export function needsEvidence(agent: PublishedAgent, caller: Caller): boolean {
  return !isLetIn(agent, caller, caller.principal)
}

/** A request whose caller is checked again. */
interface Rechecked {
  /** At a hub it is not known at first which agent a request reaches. */
  readonly agent: () => PublishedAgent | undefined
  readonly caller: Caller
  /** By whom something was found or begun so far. */
  readonly shownTo: readonly Principal[]
  readonly path: string
}

/** Checks again whether an agent lets a caller in: it throws `NOT_FOUND` once the agent does not, or is not published. */
export function letInCheck(
  { runtime }: Pick<AppOptions, 'runtime'>,
  of: Rechecked,
): Pick<Auth, 'recheckMs'> & { check(): Promise<Principal> } {
  return {
    recheckMs,
    async check() {
      const reached = of.agent()
      const agent = reached === undefined ? undefined : await runtime.published.find(reached.address)
      if (agent === null || (agent && !of.shownTo.every((one) => isLetIn(agent, of.caller, one))))
        throw nothingAt(of.path)
      return of.caller.principal
    },
  }
}
