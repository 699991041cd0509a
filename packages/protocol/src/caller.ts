/** Who called from another server, as lists, trees and cards show it. */
import { z } from 'zod'

/** The address that called, and which hop of its chain this is; null without a chain. */
export const outsideCallerSchema = z.object({ address: z.string(), hop: z.number().int().nullable() })
export type OutsideCaller = z.infer<typeof outsideCallerSchema>

/** What the start of a run says of whom it works for. */
interface CalledRun {
  readonly principal?: { readonly id: string; readonly address?: string } | undefined
  readonly incoming?: { readonly chain?: { readonly hop: number } } | undefined
}

/** The agent of another server that a run works for, or whoever else called over A2A and has an address; null for any other run. */
export function callerOf({ principal, incoming }: CalledRun): OutsideCaller | null {
  if (principal === undefined) return null
  const { id, address = null } = principal
  const called = id.startsWith('@') ? id : incoming === undefined ? null : address
  return called === null ? null : { address: called, hop: incoming?.chain?.hop ?? null }
}
