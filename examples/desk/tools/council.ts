/** The tool by which `main` asks the council, an agent that nobody may list. */
import { defineTool } from '@witan/core'
import { z } from 'zod'

/** Runs the agent `council` below its own call: in the same tree, log and budget. */
export const askCouncil = defineTool({
  name: 'ask_council',
  description: 'A second opinion on a decision: what speaks for it, what against it, and an advice.',
  parameters: z.object({ question: z.string().min(3).max(2_000) }),
  effect: 'none',
  async execute({ question }, { agents }) {
    return (await agents.run('council', question)).text
  },
})
