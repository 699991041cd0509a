/** `witan run`: one run in the terminal. */
import { promptOf, readAttachments } from '../attachments.ts'
import { createFollowUps, type FollowUps, printFollowUp } from '../background.ts'
import type { Command } from '../command.ts'
import { connectionOptions, reasoningOption } from '../command.ts'
import { withConnection } from '../connect.ts'
import { converse, converseAsJson } from '../conversing.ts'
import { parameterOptions, readParameters } from '../parameters.ts'
import { readUsers, userOption } from '../participants.ts'
import { UsageError } from '../exit.ts'
import { print } from '../terminal.ts'
import type { Stage } from '../stage.ts'
import { createTaskView } from '../tree/task-view.ts'
import { printWelcome } from '../welcome.ts'

export const runCommand: Command = {
  name: 'run',
  summary: 'Run an agent once and draw the tree as it grows.',
  operands: [{ name: 'AGENT' }, { name: 'MESSAGE' }],
  options: {
    ...parameterOptions,
    ...userOption,
    id: { value: 'ID', help: 'The conversation to start or continue, such as chats/7; default: a new one.' },
    attach: { value: 'FILE', multiple: true, help: 'A file to send with the message; may be given several times.' },
    wait: { help: 'Wait until its background tasks have ended, and show their follow-ups.' },
    json: { help: 'Print events, one JSON a line, and the result as the last line.' },
    ...reasoningOption,
    ...connectionOptions,
  },
  examples: [
    'witan run company-assistant-agent "Who is my manager?" --param userId=employees/3 --hide userId',
    'witan run company-assistant-agent "What does this say?" --attach letter.pdf --attach photo.png',
  ],
  run: async (given, terminal) => {
    const [agent = '', message = ''] = given.operands
    const files = await readAttachments(given.texts('attach'), terminal.folder)
    if (message.trim() === '' && files.length === 0)
      throw new UsageError('MESSAGE is empty.', 'Write what the agent is to do, in quotes: witan run AGENT "…"')
    return await withConnection(given, terminal, async (connection) => {
      const parameters = await readParameters(given, agent, connection.client)
      const id = given.text('id')
      const chat = connection.client.conversation(agent, {
        ...{ parameters, ...readUsers(given) },
        ...(id === undefined ? {} : { id }),
      })
      const drawn = new Set<string>()
      const stage = { terminal, connection, chat, drawn, waits: given.has('wait'), reasoning: given.has('reasoning') }
      const prompt = promptOf(message, files)
      if (given.has('json')) return await converseAsJson(stage, prompt)
      await printWelcome(stage, message, files)
      const code = await converse(stage, prompt)
      if (stage.waits) await followTasks(stage)
      return code
    })
  },
}

/** Waits for the tasks of the run: a terminal shows them at work, and each follow-up is printed. */
async function followTasks({
  terminal,
  connection,
  chat,
  drawn,
}: Stage & { readonly drawn: Set<string> }): Promise<void> {
  const tasks = createTaskView(terminal, drawn)
  const show: Parameters<FollowUps['drain']>[0] = (...said) => {
    tasks.pause()
    print(terminal)
    printFollowUp(terminal, ...said)
  }
  try {
    await createFollowUps({ connection, chat }, drawn).drain(show, tasks.take)
  } finally {
    tasks.close()
  }
}
