/** `witan conversations diagram`: who said what to whom in a run. */
import type { Client } from '@witan/client'
import { UsageError } from '../exit.ts'
import { type Command, connectionOptions, type Given } from '../command.ts'
import { connected } from '../connect.ts'
import { oneLine } from '../tree/width.ts'
import { print, printText, type Terminal } from '../terminal.ts'

/** Prints the sequence diagram of one run. */
export const diagramCommand: Command = {
  name: 'conversations diagram',
  summary: 'Print a run as a sequence diagram: who said what to whom.',
  operands: [{ name: 'ID' }],
  options: {
    run: { value: 'RUN', help: 'A run of the conversation; default: its latest.' },
    format: { value: 'FORMAT', help: 'text (default) or mermaid.' },
    ...connectionOptions,
  },
  examples: ['witan conversations diagram chats/1 --format mermaid > chat.mmd'],
  run: (given, terminal) => connected(given, terminal, (client) => show(client, given, terminal)),
}

async function show(client: Client, given: Given, terminal: Terminal): Promise<void> {
  const [id = ''] = given.operands
  const format = formatOf(given)
  const { activeRunId, runs } = await client.conversations.get(id)
  const run = given.text('run') ?? activeRunId ?? runs.at(-1)?.runId
  if (run === undefined) return print(terminal, `${id} has no run yet; witan run starts one.`)
  const isOurs = runs.some(({ runId }) => runId === run) || (await client.runs.get(run)).conversationId === id
  if (!isOurs)
    throw new UsageError(
      `Run ${oneLine(run)} is not of the conversation ${id}.`,
      `witan conversations show ${id} --json lists its runs.`,
    )
  printText(terminal, (await client.runs.diagram(run, { format })).trimEnd())
}

function formatOf(given: Given): 'text' | 'mermaid' {
  const format = given.text('format') ?? 'text'
  if (format === 'text' || format === 'mermaid') return format
  throw new UsageError(`There is no format ${oneLine(format)}.`, 'Write --format text or --format mermaid.')
}
