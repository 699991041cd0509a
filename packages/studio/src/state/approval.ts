/** Which calls of a tool wait until a person releases them. */
import type { StoredAgent } from '@witan/protocol'

/** `every` call; or those that `code` of the program decides, or whose arguments fit one of the `schemas`. */
export interface ToolApproval {
  readonly every: boolean
  readonly code: boolean
  readonly schemas: readonly unknown[]
}

/** What an agent wants released of one of its tools; null for nothing. */
export function approvalOf({ approvals }: Pick<StoredAgent, 'approvals'>, tool: string): ToolApproval | null {
  const own = approvals.filter((one) => (typeof one === 'string' ? one : one.tool) === tool)
  if (own.length === 0) return null
  const conditions = own.flatMap((one) => (typeof one === 'string' ? [] : [one.when]))
  return {
    every: conditions.length < own.length,
    code: conditions.includes('code'),
    schemas: conditions.filter((when) => when !== 'code'),
  }
}

/** The same in a sentence. */
export function approvalWords({ every, code, schemas }: ToolApproval): string {
  if (every) return 'Each call waits until a person allows it.'
  const which = [
    ...(schemas.length > 0 ? ['whose arguments fit its condition'] : []),
    ...(code ? ['that the program chooses'] : []),
  ]
  return `A call ${which.join(', or ')} waits until a person allows it.`
}
