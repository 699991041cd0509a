/** Conditions of a task as its caller reads them: policy parts, each with a state that only this caller can use, once [C21]. */
import { type Asked, type OwnRun, type PublishedAgent, sealState } from '@witan/core/tooling'
import type { AppOptions } from '../app-options.ts'
import type { Caller } from './credential.ts'
import type { WireMessage, WirePart } from './wire.ts'

type AskedPolicy = Extract<Asked, { readonly kind: 'policy' }>

/** The state by which the caller of a run resolves a condition; null if it cannot. */
export type Seal = (asked: AskedPolicy) => string | null

export const policyExtension = 'https://mentionable.dev/ns/policy/v0.1'

/** Whose conditions are sealed, and for whom. */
interface Sealing {
  readonly caller: Pick<Caller, 'principal' | 'isAnonymous'>
  readonly agents: readonly PublishedAgent[]
  readonly options: Pick<AppOptions, 'runtime'>
}

/** How long a state counts from when it is sent; no longer than what it resolves. */
const dayMs = 86_400_000

/** Seals the states of what a run asks. Nobody owns the task of an anonymous caller, so that gets none. */
export async function sealFor({ caller, agents, options }: Sealing, run: OwnRun): Promise<Seal> {
  const agent = agents.find(({ data }) => data.id === run.agent)
  if (caller.isAnonymous || agent === undefined || !run.asked.some(isPolicy)) return () => null
  const keys = await options.runtime.signingKeys.list()
  const of = { issuer: agent.address.text, task: run.runId, caller: caller.principal.id }
  const latest = options.runtime.keyLookup.now() + dayMs
  return ({ id: interruption, expiresAt }) => {
    const until = expiresAt === null ? latest : Math.min(latest, Date.parse(expiresAt))
    return sealState({ ...of, interruption, until }, keys)
  }
}

export function isPolicy(asked: Asked): asked is AskedPolicy {
  return asked.kind === 'policy'
}

/** The fields of a policy that are passed on as they are. */
const fields = [
  ...['kind', 'code', 'title', 'message', 'message_translations', 'url', 'action_label', 'retry_after_seconds'],
  'auth_challenges',
]

/** Names the first issuer, where that is not this server's own agent. Only this server says so: what a tool writes there does not count. */
const issuerKey = 'dev.witan.issuer'

/** A condition as a part. */
export function policyPart({ issuer, policy }: AskedPolicy, state: string | null): WirePart {
  const shown: Record<string, unknown> = {}
  for (const name of fields) if (Object.hasOwn(policy, name)) shown[name] = policy[name]
  const { [issuerKey]: _, ...own } = (policy['data'] ?? {}) as Record<string, unknown>
  const data = /[@:]/.test(issuer) ? { ...own, [issuerKey]: issuer } : own
  if (Object.keys(data).length > 0) shown['data'] = data
  return { data: { type: 'policy', policy: shown, ...(state === null ? {} : { state }) } }
}

/** The reply to a state that is not valid: a message, and no task. */
export function refusedState(messageId: string): WireMessage {
  const policy = { kind: 'forbidden', message: 'This state is not valid here.' }
  const parts = [{ data: { type: 'policy', policy } }]
  return { messageId: `${messageId}.refused`, role: 'ROLE_AGENT', parts, extensions: [policyExtension] }
}
