/** `witan conversations export`: one conversation as a file for a replay, or its log as events. */
import { Readable } from 'node:stream'
import type { Client } from '@witan/client'
import { type Command, connectionOptions, type Given } from '../command.ts'
import { connected } from '../connect.ts'
import { linesOf, openSink } from '../export-file.ts'
import { UsageError } from '../exit.ts'
import { storedEvents } from '../stored-events.ts'
import { print, printJsonLine, type Terminal } from '../terminal.ts'

/** Writes everything that `witan conversations replay` needs. */
export const conversationExportCommand: Command = {
  name: 'conversations export',
  summary: 'Write a conversation for a replay: its log, its agents and its files, without hidden values.',
  operands: [{ name: 'ID' }, { name: 'FILE', optional: true }],
  options: {
    events: { help: 'Print the log as events instead, one on each line.' },
    ...connectionOptions,
  },
  examples: ['witan conversations export chats/1 chat.jsonl', 'witan conversations replay chat.jsonl'],
  run: (given, terminal) => connected(given, terminal, (client) => write(client, given, terminal)),
}

async function write(client: Client, given: Given, terminal: Terminal): Promise<void> {
  const [id = '', file] = given.operands
  if (given.has('events')) {
    if (file !== undefined) throw new UsageError('--events prints the log.', 'Leave out the file, or --events.')
    for await (const event of storedEvents(client, id)) printJsonLine(terminal, event)
    return
  }
  const { body } = await client.conversations.export(id)
  const sink = await openSink(file, terminal)
  try {
    if (body !== null) {
      for await (const line of linesOf(Readable.fromWeb(body as Parameters<typeof Readable.fromWeb>[0])))
        await sink.write(line)
    }
    await sink.done()
  } catch (error) {
    await sink.drop()
    throw error
  }
  print(terminal, `exported ${id}`, terminal.errors)
}
