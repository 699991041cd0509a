/** Ceilings that no agent of a runtime may exceed, whatever its own limits allow. */
import { WitanError } from '@witan/protocol'

/** Ceilings of a runtime. */
export interface Ceilings {
  readonly maxDepth: number
  readonly maxModelCalls: number
  /** How many tool calls of one reply run; further calls are refused. */
  readonly maxToolCallsPerReply: number
}

/** How many tool calls of one reply are recorded. More would hold up every other run of the process. */
export const mostCallsInReply = 1000

const most: Ceilings = { maxDepth: 1000, maxModelCalls: 100_000, maxToolCallsPerReply: mostCallsInReply }
const defaults: Ceilings = { maxDepth: 8, maxModelCalls: 500, maxToolCallsPerReply: 128 }

/**
 * The ceilings with their defaults. Throws `LIMIT_INVALID` for a value that is not an integer within its bounds [E33]. A
 * depth may be infinite.
 */
export function ceilingsOf(given: Partial<Ceilings> = {}): Ceilings {
  const ceiling = (name: keyof Ceilings): number => {
    const value = given[name] ?? defaults[name]
    const isEndless = name === 'maxDepth' && value === Number.POSITIVE_INFINITY
    if (isEndless || (Number.isInteger(value) && value >= 1 && value <= most[name])) return value
    throw new WitanError('LIMIT_INVALID', `limits.${name} must be an integer 1–${most[name]}.`, {
      path: `limits.${name}`,
      hint: `Leave it out for ${defaults[name]}.`,
    })
  }
  return {
    maxDepth: ceiling('maxDepth'),
    maxModelCalls: ceiling('maxModelCalls'),
    maxToolCallsPerReply: ceiling('maxToolCallsPerReply'),
  }
}
