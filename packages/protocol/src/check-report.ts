/** What a check finds before anything runs. */
import { z } from 'zod'
import { findingSchema } from './finding.ts'

/** Where an agent's parameter gets its value on one path, and what the agent's model may do with it. */
export const matrixRowSchema = z.object({
  path: z.string(),
  agent: z.string(),
  parameter: z.string(),
  boundFrom: z.enum(['parent', 'conversation', 'model', 'missing']),
  shown: z.boolean(),
  mayGenerate: z.boolean(),
})
export type MatrixRow = z.infer<typeof matrixRowSchema>

/**
 * What the access lists of an agent let one kind of caller do. `caller` has the names that must all hold for it, as an entry of a list; empty is
 * everybody of the database. `calls`: it may start a conversation with the agent. `tools`: of the tools that have a list, those that it may use.
 */
export const callerRowSchema = z.object({
  agent: z.string(),
  caller: z.array(z.string()),
  calls: z.boolean(),
  tools: z.array(z.string()),
})
export type CallerRow = z.infer<typeof callerRowSchema>

/** The agents that speak a protocol, by role. */
const protocolUseSchema = z.object({
  name: z.string(),
  initiators: z.array(z.string()),
  responders: z.array(z.string()),
})
export type ProtocolUse = z.infer<typeof protocolUseSchema>

/** Who may begin to write to whom, by which protocol. */
const acquaintanceSchema = z.object({ from: z.string(), to: z.string(), protocol: z.string() })
export type Acquaintance = z.infer<typeof acquaintanceSchema>

/** How many edges lead to a node of a graph and away from it. */
const hotSpotSchema = z.object({ id: z.string(), in: z.number().int(), out: z.number().int() })
export type HotSpot = z.infer<typeof hotSpotSchema>

/** The result of `check`, found before anything runs. `hotSpots` are the busiest agents of `acquaintances`, at most 10. */
export const checkReportSchema = z.object({
  errors: z.array(findingSchema),
  warnings: z.array(findingSchema),
  matrix: z.array(matrixRowSchema),
  callers: z.array(callerRowSchema),
  handlers: z.array(z.string()),
  protocols: z.array(protocolUseSchema),
  acquaintances: z.array(acquaintanceSchema),
  hotSpots: z.array(hotSpotSchema),
})
export type CheckReport = z.infer<typeof checkReportSchema>
