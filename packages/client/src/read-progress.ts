/** Reads how far a tool call has come. */
import type { EventOf } from '@witan/protocol'
import type { Call } from './folded-call.ts'
import { number } from './read-value.ts'

/** Notes it at the call, which is returned; null if that is unknown or over. */
export function noteProgress(call: Call | undefined, content: EventOf<'delta'>['content']): Call | null {
  const { progress, total, message } = content as Readonly<Record<string, unknown>>
  const count = number(progress)
  if (call === undefined || call.endedAt !== null || count === null) return null
  call.progress = { progress: count, total: number(total), message: typeof message === 'string' ? message : null }
  return call
}
