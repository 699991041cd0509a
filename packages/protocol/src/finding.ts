/** The findings of a check, and the codes that they may have. */
import { z } from 'zod'
import type { CodeOfStatus, ErrorCode } from './error.ts'

/** The codes of findings that stop a save: errors of the table with status 422, so a refused save always has its meaning. */
export type RefusalCode = CodeOfStatus<422>

/** The codes of findings that only warn. */
export const warningCodes = [
  'ADDRESS_CLOSED',
  'ADDRESS_PARAM_UNBOUND',
  'AGENT_CYCLE',
  'AGENT_REF_UNKNOWN',
  'ALIAS_SHARED',
  'APPROVAL_NAME_UNKNOWN',
  'DELEGATE_UNAVAILABLE',
  'DEMAND_UNRESOLVABLE',
  'DEPTH_UNREACHABLE',
  'DESCRIPTIONS_ALIKE',
  'DESCRIPTION_MISSING',
  'DESCRIPTION_LONG',
  'KNOWLEDGE_FILTER_GENERATABLE',
  'MAP_NAME_UNKNOWN',
  'MCP_SECRET_INLINE',
  'MCP_TOOLS_LARGE',
  'MCP_TOOL_UNKNOWN',
  'MCP_UNPINNED',
  'OUTPUT_MODE_WITHOUT_SCHEMA',
  'OUTPUT_SCHEMA_DIFFERS',
  'PARAM_EXPOSED_BY_TRANSFER',
  'PARAM_EXPOSED_UPSTREAM',
  'PARAM_HIDDEN_GENERATABLE',
  'PARAM_SECRET_SHOWN',
  'PARAM_TYPE_CLASH',
  'PARAM_UNTRUSTED_UPSTREAM',
  'PARAM_UNUSED',
  'PRICE_UNKNOWN',
  'PROTOCOL_UNSPOKEN',
  'QUERY_FAILED',
  'QUERY_UNUSED',
  'TOOLS_OFF',
  'TOOL_MODE_WITHOUT_TOOLS',
] as const
type WarningCode = (typeof warningCodes)[number]

interface FindingBase {
  readonly agent: string
  /** Of a key in the agent, such as `subAgents.0.agent`. */
  readonly path: string
  readonly detail: string
  readonly hint: string
}

/** A problem that stops a save. A save that it stops fails with this code; a check may also report a body that nobody can read. */
export interface ErrorFinding extends FindingBase {
  readonly severity: 'error'
  readonly code: ErrorCode
}

/** A problem that does not stop a save; it is stored with the agent. */
export interface WarningFinding extends FindingBase {
  readonly severity: 'warning'
  readonly code: WarningCode
}

/** One finding of a check. Errors refuse a save; warnings are stored with the agent. */
export type Finding = ErrorFinding | WarningFinding

/** Accepts any code, since an older reader must understand the findings of a newer server. */
const looseFindingSchema = z.object({
  code: z.string(),
  severity: z.enum(['error', 'warning']),
  agent: z.string(),
  path: z.string(),
  detail: z.string(),
  hint: z.string(),
})
/** The form of a finding on the wire. */
export const findingSchema = looseFindingSchema as unknown as z.ZodType<Finding>
