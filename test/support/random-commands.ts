/** Commands that come from outside while a random system is at work. */
import type { Runtime } from '@witan/core'
import fc from 'fast-check'
import { answerTo } from './random-system.ts'

type Kind = 'enqueue' | 'interrupt' | 'close' | 'cancel' | 'answer'
const kinds: readonly Kind[] = ['enqueue', 'interrupt', 'close', 'cancel', 'answer']

/** `after` is how many turns of the event loop pass before a command. */
export const commands = fc.array(fc.record({ kind: fc.constantFrom(...kinds), after: fc.nat(6) }), { maxLength: 8 })

/** Sends one command to the conversation `chats/1`, whatever is at work there. */
export async function send(runtime: Runtime, kind: Kind): Promise<void> {
  const { activeRunId, interruptions } = await runtime.getConversation('chats/1')
  const [open] = interruptions
  if (kind === 'cancel' && activeRunId !== null) await runtime.cancelRun(activeRunId)
  if (kind === 'answer' && open !== undefined)
    await runtime.answerInterruption(open.id, { answer: answerTo(open.kind, 0) })
  if (kind === 'close') await runtime.run('chats/1', { prompt: 'closed', cancelPendingActions: true })
  if (kind === 'enqueue' || kind === 'interrupt') await runtime.run('chats/1', { prompt: 'more', onActive: kind })
}
