/** `witan chat`: a conversation in the terminal, one line a message. */
import { createInterface } from 'node:readline'
import type { FilePart } from '@witan/client'
import type { Prompt } from '@witan/protocol'
import { attachedText, promptOf, readAttachments } from '../attachments.ts'
import { createFollowUps, type FollowUps, printFollowUp, printStillAtWork } from '../background.ts'
import type { Command } from '../command.ts'
import { connectionOptions, reasoningOption } from '../command.ts'
import { withConnection } from '../connect.ts'
import { comeBack, type Stage } from '../stage.ts'
import { converse, takeUp } from '../conversing.ts'
import type { ExitCode } from '../exit.ts'
import { exitCodes } from '../exit.ts'
import { printFailure } from '../failure.ts'
import { table } from '../help.ts'
import { parameterOptions, readParameters } from '../parameters.ts'
import { readUsers, userOption } from '../participants.ts'
import type { Terminal } from '../terminal.ts'
import { columnsOf, createLineReader, print } from '../terminal.ts'
import { clearRow } from '../tree/screen.ts'
import { scriptNotice } from '../welcome.ts'

export const chatCommand: Command = {
  name: 'chat',
  summary: 'Talk with an agent, one message on each line; /help lists the commands.',
  operands: [{ name: 'AGENT' }],
  options: {
    ...parameterOptions,
    ...userOption,
    id: { value: 'ID', help: 'The conversation to continue; its open questions come first.' },
    ...reasoningOption,
    ...connectionOptions,
  },
  examples: ['witan chat company-assistant-agent --param userId=employees/3'],
  run: (given, terminal) =>
    withConnection(given, terminal, async (connection) => {
      const [agent = ''] = given.operands
      const parameters = await readParameters(given, agent, connection.client)
      const id = given.text('id')
      const chat = connection.client.conversation(agent, {
        ...{ parameters, ...readUsers(given) },
        ...(id === undefined ? {} : { id }),
      })
      const notice = await scriptNotice(connection.client, agent)
      const drawn = new Set<string>()
      const stage: Stage = { terminal, connection, chat, drawn, waits: true, reasoning: given.has('reasoning') }
      if (notice !== null) print(terminal, [{ text: `! ${notice}`, tone: 'wait' }])
      const before = id?.match(/\/./) ? await takeUp(stage) : null
      if (before === exitCodes.waits) return before
      if (terminal.input.isTTY) print(terminal, [{ text: '/help says what you can do here.', tone: 'faint' }])
      return await talk(stage, createFollowUps(stage, drawn))
    }),
}

/** Ends with the input, with `/exit`, or on a pipe at the first message that did not go well; a pipe waits for what works in the background. */
async function talk(stage: Stage, followUps: FollowUps): Promise<ExitCode> {
  const { terminal } = stage
  const alone = terminal.input.isTTY !== true
  let files: readonly FilePart[] = []
  for (;;) {
    const said = await nextLine(terminal, followUps)
    if (said === null || said === '/exit' || said === '/quit') {
      await leave(stage, followUps)
      return exitCodes.done
    }
    if (said === '') continue
    if (said === '/help') {
      printHelp(stage)
      continue
    }
    const path = /^\/attach\s+(.+)$/.exec(said)?.[1]
    if (path !== undefined) {
      files = await attachOne(stage, files, path)
      continue
    }
    if (!alone && /^\/[a-z]+$/.test(said)) {
      print(terminal, `There is no ${said}, and it was not sent. /help lists what there is.`)
      print(terminal)
      continue
    }
    const code = await answerOne(stage, promptOf(said, files))
    files = []
    if (alone && code !== exitCodes.done) return code
    print(terminal)
  }
}

/** The files for the next message, with one more if it can be read. */
async function attachOne(stage: Stage, files: readonly FilePart[], path: string): Promise<readonly FilePart[]> {
  const { terminal } = stage
  try {
    const more = await readAttachments([path], terminal.folder)
    const words = `${more.map(attachedText).join()} goes with the next message.`
    print(terminal, [{ text: `  + ${words}`, tone: 'faint' }])
    return [...files, ...more]
  } catch (error) {
    if (terminal.input.isTTY !== true) throw error
    printFailure(terminal, error)
    return files
  }
}

async function leave(stage: Stage, followUps: FollowUps): Promise<void> {
  const { terminal, connection, chat, drawn } = stage
  if (drawn === undefined || drawn.size === 0) return
  if (terminal.input.isTTY !== true) return followUps.drain((...said) => printFollowUp(terminal, ...said))
  const { tasks } = await connection.client.conversations.get(chat.id)
  printStillAtWork({ terminal, connection }, tasks)
  if (connection.lasts) print(terminal, [{ text: `Go on with: ${comeBack(stage)}`, tone: 'faint' }])
}

function printHelp(stage: Stage): void {
  const { terminal, connection, drawn } = stage
  const rows: (readonly [string, string])[] = [
    ['any words', `A message to ${stage.chat.agent}. Its run is drawn, with the answer below.`],
    ['/attach FILE', 'Send a file with the next message.'],
    ['/help', 'Show this.'],
    ['/exit', 'Leave; so do /quit and Ctrl+D.'],
    ['Ctrl+C', 'Cancel the running run; a second time, exit at once. At an empty prompt, exit.'],
  ]
  for (const line of table(rows, columnsOf(terminal.output, 80))) print(terminal, line)
  const hasBegun = drawn !== undefined && drawn.size > 0
  if (hasBegun && connection.lasts) {
    print(terminal)
    print(terminal, `Later it goes on with: ${comeBack(stage)}`)
  }
  print(terminal)
}

/** A refused message is no reason to end the conversation. */
async function answerOne(stage: Stage, said: Prompt): Promise<ExitCode> {
  try {
    return await converse(stage, said)
  } catch (error) {
    if (stage.terminal.input.isTTY !== true) throw error
    printFailure(stage.terminal, error)
    return exitCodes.failed
  }
}

const piped = new WeakMap<object, AsyncIterator<string>>()

/** The next line without its ends, or null when there is none. On a terminal the reader is closed between lines, so that an action may be asked for. */
async function nextLine(terminal: Terminal, followUps: FollowUps): Promise<string | null> {
  if (terminal.input.isTTY !== true) {
    const lines = piped.get(terminal.input) ?? createInterface({ input: terminal.input })[Symbol.asyncIterator]()
    piped.set(terminal.input, lines)
    const next = await lines.next()
    return next.done ? null : next.value.trim()
  }
  const reader = createLineReader(terminal)
  const ended = Promise.withResolvers<string | null>()
  reader.once('close', () => ended.resolve(null))
  reader.once('SIGINT', () => reader.close())
  reader.question('› ', (line) => ended.resolve(line.trim()))
  const mute = followUps.listen((...said) => {
    clearRow(terminal.output)
    printFollowUp(terminal, ...said)
    reader.prompt(true)
  })
  const line = await ended.promise.finally(mute)
  reader.close()
  if (line === null) print(terminal)
  return line
}
