/** Writes down each delegation, and each change once it was made: when, by which agent, for whom, and what. Without it mails and tasks are not changed. */
import { appendFile } from 'node:fs/promises'
import { defineHooks, type Hooks } from '@witan/core'

/** What changes something outside. */
const changes = ['send_mail', 'add_task', 'complete_task', 'change_task']
const delegations = ['emails', 'meetings', 'records', 'tasks', 'research', 'data', 'ask_council']

/** Hooks that append a line of JSON to a file. One that cannot be written refuses: what is not written down does not happen. */
export function auditIn(file: string): Hooks {
  const note = (line: object) => appendFile(file, `${JSON.stringify({ at: new Date().toISOString(), ...line })}\n`)
  return defineHooks({
    name: 'audit',
    tools: [...changes, ...delegations],
    beforeTool: async ({ agentPath, tool, principal, arguments: args }) =>
      note({ by: agentPath, for: principal.id, asks: tool, args }),
    afterTool: async ({ agentPath, tool, principal, error }) => {
      if (changes.includes(tool))
        await note({ by: agentPath, for: principal.id, did: tool, error: error?.code ?? null })
    },
  })
}
