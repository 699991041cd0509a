/** `witan run`: one run in the terminal. */
import { createFollowUps, printFollowUp } from '../background.ts'
import type { Command } from '../command.ts'
import { connectionOptions, reasoningOption } from '../command.ts'
import { withConnection } from '../connect.ts'
import { converse, converseAsJson } from '../conversing.ts'
import { parameterOptions, readParameters } from '../parameters.ts'
import { UsageError } from '../exit.ts'
import { print } from '../terminal.ts'
import { printWelcome } from '../welcome.ts'

export const runCommand: Command = {
  name: 'run',
  summary: 'Run an agent once and draw the tree as it grows.',
  operands: [{ name: 'AGENT' }, { name: 'MESSAGE' }],
  options: {
    ...parameterOptions,
    id: { value: 'ID', help: 'The conversation to start or go on with, such as chats/7; else a new one.' },
    wait: { help: 'Wait until its background tasks have ended, and show their follow-ups.' },
    json: { help: 'Print events, one JSON a line, and the result as the last line.' },
    ...reasoningOption,
    ...connectionOptions,
  },
  examples: ['witan run company-assistant-agent "Who is my manager?" --param userId=employees/3 --hide userId'],
  run: async (given, terminal) => {
    const [agent = '', message = ''] = given.operands
    if (message.trim() === '')
      throw new UsageError('MESSAGE is empty.', 'Write what the agent is to do, in quotes: witan run AGENT "…"')
    return await withConnection(given, terminal, async (connection) => {
      const parameters = await readParameters(given, agent, connection.client)
      const id = given.text('id')
      const chat = connection.client.conversation(agent, { parameters, ...(id === undefined ? {} : { id }) })
      const drawn = new Set<string>()
      const stage = { terminal, connection, chat, drawn, waits: given.has('wait'), reasoning: given.has('reasoning') }
      if (given.has('json')) return await converseAsJson(stage, message)
      await printWelcome(stage, message)
      const code = await converse(stage, message)
      if (stage.waits)
        await createFollowUps(stage, drawn).drain((text) => {
          print(terminal.output)
          printFollowUp(terminal, text)
        })
      return code
    })
  },
}
