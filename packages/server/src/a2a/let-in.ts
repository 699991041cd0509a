/** Callers from outside: `access.call` is their only way in, and to what they began before [C31]. */
import { mayCall, type PublishedAgent } from '@witan/core/tooling'
import type { AppOptions } from '../app-options.ts'
import type { Auth } from '../auth.ts'
import { nothingAt } from '../problem.ts'
import type { Caller } from './credential.ts'

/** Streams and waiting replies are checked as often as those of a key: one ends within three seconds. */
const recheckMs = 1_400

/** Whether a caller finds its tasks at an agent. The people and programs of this server do, whomever it lets in. */
export function isLetIn({ data }: PublishedAgent, { principal, address, isAnonymous }: Caller): boolean {
  const isOutside = address !== null || isAnonymous
  if (!isOutside) return true
  const { call } = data.access
  return mayCall({ call: call?.map(withoutEvidence) ?? null }, principal)
}

/** A request for a task carries no evidence: whom the caller acted for was proven when the task began. */
function withoutEvidence(entry: string | readonly string[]): string | readonly string[] {
  return typeof entry === 'string' ? entry : entry.filter((one) => !/^(?:for|from):/.test(one))
}

/**
 * Checks again whether an agent lets a caller in: it throws `NOT_FOUND` once the agent does not, or is not published. At a hub it is not
 * known at first which agent a request reaches.
 */
export function letInCheck(
  { runtime }: Pick<AppOptions, 'runtime'>,
  of: { readonly agent: () => PublishedAgent | undefined; readonly caller: () => Caller; readonly path: string },
): Pick<Auth, 'recheckMs'> & { check(): Promise<Caller['principal']> } {
  return {
    recheckMs,
    async check() {
      const reached = of.agent()
      const agent = reached === undefined ? undefined : await runtime.published.find(reached.address)
      if (agent === null || (agent && !isLetIn(agent, of.caller()))) throw nothingAt(of.path)
      return of.caller().principal
    },
  }
}
