/** Who called from another server, as lists, trees and cards show it. */
import { z } from 'zod'
import type { IncomingCall } from './entry-elsewhere.ts'

/**
 * The address that called, which hop of its chain this is (null without a chain), and for whom it acts, as its evidence proved: the immediate
 * principal first, the origin last; absent without evidence.
 */
export const outsideCallerSchema = z.object({
  address: z.string(),
  hop: z.number().int().nullable(),
  onBehalfOf: z.array(z.string()).exactOptional(),
})
export type OutsideCaller = z.infer<typeof outsideCallerSchema>

/** What the start of a run says of whom it works for. */
interface CalledRun {
  readonly principal?: { readonly id: string; readonly address?: string } | undefined
  readonly incoming?: Pick<IncomingCall, 'chain' | 'evidence'> | undefined
}

/** The agent of another server that a run works for, or whoever else called over A2A and has an address; null for any other run. */
export function callerOf({ principal, incoming }: CalledRun): OutsideCaller | null {
  if (principal === undefined) return null
  const { id, address = null } = principal
  const called = id.startsWith('@') ? id : incoming === undefined ? null : address
  if (called === null) return null
  const whom = actsFor(called, incoming?.evidence)
  return { address: called, hop: incoming?.chain?.hop ?? null, ...(whom.length === 0 ? {} : { onBehalfOf: [...whom] }) }
}

/** For whom a caller acts: by the evidence about itself, or by that of somebody who vouches for another. */
function actsFor(caller: string, evidence: IncomingCall['evidence'] = []): readonly string[] {
  const leading = evidence.find(({ subject }) => subject === caller) ?? evidence[0]
  if (leading === undefined) return []
  const { subject, onBehalfOf } = leading
  return onBehalfOf.length === 0 && subject !== caller ? [subject] : onBehalfOf
}
