/** `witan run`: one run in the terminal. */
import type { Command } from '../command.ts'
import { connectionOptions } from '../command.ts'
import { connect } from '../connect.ts'
import { converse, converseAsJson } from '../conversing.ts'
import { parameterOptions, readParameters } from '../parameters.ts'
import { printWelcome } from '../welcome.ts'

export const runCommand: Command = {
  name: 'run',
  summary: 'Run an agent once and draw the tree as it grows.',
  operands: [{ name: 'AGENT' }, { name: 'MESSAGE' }],
  options: {
    ...parameterOptions,
    id: { value: 'ID', help: 'The conversation to start or go on with, such as chats/7; else a new one.' },
    json: { help: 'Print events, one JSON a line, and the result as the last line.' },
    ...connectionOptions,
  },
  examples: ['witan run company-assistant-agent "Who is my manager?" --param userId=employees/3 --hide userId'],
  run: async (given, terminal) => {
    const [agent = '', message = ''] = given.operands
    const connection = await connect(given, terminal)
    try {
      const parameters = await readParameters(given, agent, connection.client)
      const id = given.text('id')
      const chat = connection.client.conversation(agent, { parameters, ...(id === undefined ? {} : { id }) })
      const stage = { terminal, connection, chat }
      if (given.has('json')) return await converseAsJson(stage, message)
      await printWelcome(stage, message)
      return await converse(stage, message)
    } finally {
      await connection.close()
    }
  },
}
