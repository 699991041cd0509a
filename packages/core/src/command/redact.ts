/** Takes out of messages what their readers do not want stored, before anything of them is stored. */
import { WitanError } from '@witan/protocol'
import type { NoticeBody } from '@witan/protocol/entries'
import { hitNotice } from '../hook/decision.ts'
import { readingAgents } from '../conversation/guards.ts'
import { type AgentCall, callInControl } from '../conversation/state.ts'
import type { Guarded } from '../guard/checks.ts'
import type { Environment } from '../job/environment.ts'

/** An agent that reads a message. */
type Reader = Guarded

/** A text as it may be stored, and what is to be said of that. */
interface Storable {
  readonly text: string
  readonly notices: readonly NoticeBody[]
}

/** The agents that read what is said to a call: the one that has its control, and those that gave it away. */
export function readersOf(root: AgentCall): readonly Reader[] {
  return readingAgents(callInControl(root))
}

/** Whether any of these agents takes something out of what it reads. */
function isRedacting(readers: readonly Reader[]): boolean {
  return readers.some(({ guardrails }) => guardrails?.input.some(({ action }) => action === 'redact') === true)
}

/** The text without what its readers take out. Null if they take out nothing. Rejects with `GUARDRAIL_REFUSED` if a guardrail fails. */
export function storableText(
  env: Pick<Environment, 'guards' | 'report'>,
  text: string,
  readers: readonly Reader[],
): Promise<Storable> | null {
  return isRedacting(readers) ? redact(env, text, readers) : null
}

async function redact(
  env: Pick<Environment, 'guards' | 'report'>,
  text: string,
  readers: readonly Reader[],
): Promise<Storable> {
  const agent = readers[0]?.id ?? ''
  try {
    const found = await env.guards.redact(readers, text)
    const notices = found.hits.map(hitNotice)
    return { text: found.text, notices }
  } catch (error) {
    env.report(error)
    const detail = `A guardrail of \`${agent}\` could not take out what the message is not to be stored with.`
    throw new WitanError('GUARDRAIL_REFUSED', detail, { hint: 'Try again; if it repeats, send a shorter message.' })
  }
}
