/** Plays the people: they look into their inbox and answer what stands there. */
import type { Runtime } from '@witan/core'
import { answerOf } from '../world/answer.ts'
import { people } from '../world/people.ts'

/** Who takes part in a conversation. */
export const participants = people.map(({ id, name, role }) => ({ id, name, roles: [role] }))

/** Everybody answers what waits for them in a conversation. */
export async function answerAll(runtime: Runtime, conversation: string): Promise<void> {
  for (const worker of people) {
    const inbox = runtime.as({ ...runtime.principal, id: `user:${worker.id}`, roles: [] })
    const { items } = await inbox.listInterruptions({ state: 'open', addressee: 'me' })
    for (const asked of items)
      if (asked.kind === 'message' && asked.conversationId === conversation)
        await inbox.answerInterruption(asked.id, { answer: answerOf(worker, asked.prompt) })
  }
}
