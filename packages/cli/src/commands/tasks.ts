/** `witan tasks …`: work in the background, looked at, spoken to and stopped. */
import type { CallState, Client } from '@witan/client'
import type { Interruption, Task } from '@witan/protocol'
import { readCount } from '../arguments.ts'
import { isLive } from '../background.ts'
import type { Command, Given } from '../command.ts'
import { connectionOptions, jsonOption } from '../command.ts'
import { type Connection, connected, looking, sayWhere, withConnection } from '../connect.ts'
import { exitCodes } from '../exit.ts'
import { printFailure } from '../failure.ts'
import { answerCommand, askedLines } from '../interruption-lines.ts'
import { printList } from '../listing.ts'
import { createProgress } from '../progress.ts'
import type { Terminal } from '../terminal.ts'
import { columnsOf, print, printText, printJson } from '../terminal.ts'
import type { Line } from '../tree/lines.ts'
import { markOf } from '../tree/lines.ts'
import { compact, duration } from '../tree/phrase.ts'
import { usageLines } from '../tree/usage.ts'
import { oneLine } from '../tree/width.ts'

const one = [{ name: 'ID' }]

/** The commands about tasks. */
export const taskCommands: readonly Command[] = [
  {
    name: 'tasks list',
    summary: 'List background tasks, the newest first.',
    options: {
      live: { help: 'Only what has not ended.' },
      limit: { value: 'N', help: 'At most N; default 20.' },
      ...jsonOption,
      ...connectionOptions,
    },
    run: (given, terminal) => connected(given, terminal, list),
  },
  {
    name: 'tasks show',
    summary: 'Print the state of a task, what it waits for, and its result.',
    operands: one,
    options: { ...jsonOption, ...connectionOptions },
    run: (given, terminal) =>
      looking(given, terminal, (connection) => show(connection, given, terminal).then(() => exitCodes.done)),
  },
  {
    name: 'tasks message',
    summary: 'Send a message to a task; it reads the message at its next step.',
    operands: [...one, { name: 'TEXT' }],
    options: {
      wait: { help: 'Wait for the reply.' },
      timeout: { value: 'SECONDS', help: 'Wait at most this long; default 30.' },
      ...jsonOption,
      ...connectionOptions,
    },
    examples: ['witan tasks message c_1 "Only the open orders."', 'witan tasks message c_1 "How far are you?" --wait'],
    run: (given, terminal) =>
      waits(given)
        ? withConnection(given, terminal, ({ client }) => message(client, given, terminal)).then(() => exitCodes.done)
        : connected(given, terminal, message),
  },
  {
    name: 'tasks progress',
    summary: 'Ask what a task is doing. A separate model call answers; the task does not see the question.',
    operands: [...one, { name: 'QUESTION', optional: true }],
    options: { ...jsonOption, ...connectionOptions },
    run: (given, terminal) => connected(given, terminal, progress),
  },
  {
    name: 'tasks cancel',
    summary: 'Stop a task and all calls below it.',
    operands: one,
    options: connectionOptions,
    run: (given, terminal) =>
      looking(given, terminal, async (connection) => {
        await connection.client.tasks.cancel(idOf(given))
        print(terminal, `cancelled ${idOf(given)}`)
        sayWhere(connection, 'It ends', terminal)
        return exitCodes.done
      }),
  },
]

async function list(client: Client, given: Given, terminal: Terminal): Promise<void> {
  const limit = readCount(given, 'limit', 200) ?? 20
  const items: Task[] = []
  for await (const task of client.tasks.all({ limit: given.has('live') ? 200 : limit })) {
    if (items.length === limit) break
    if (!given.has('live') || isLive(task)) items.push(task)
  }
  printList(terminal, given, {
    items,
    columns: [
      { title: 'TASK', tone: 'strong' },
      { title: 'STATUS' },
      { title: 'AGENT' },
      { title: 'TIME' },
      { title: 'CONVERSATION' },
    ],
    cells: (task) => [task.taskId, task.status, task.path, timeOf(task), task.conversationId],
    none: given.has('live')
      ? 'Nothing works in the background.'
      : 'There are no tasks yet. A sub-agent that its caller does not wait for starts one.',
  })
}

/** How long it has worked, or did. */
function timeOf({ startedAt, endedAt }: Task): string {
  return startedAt === null ? '' : duration(Date.parse(endedAt ?? new Date().toISOString()) - Date.parse(startedAt))
}

async function show(connection: Connection, given: Given, terminal: Terminal): Promise<void> {
  const { client } = connection
  const task = await client.tasks.get(idOf(given))
  if (given.has('json')) return printJson(terminal, task)
  for (const line of headLines(task)) print(terminal, line)
  if (task.status === 'waiting')
    for (const open of await waitedFor(client, task))
      for (const line of [...askedLines(open), howLine(open, connection)]) print(terminal, line)
  const said = task.text || (task.output === null ? '' : compact(task.output))
  if (said !== '') {
    print(terminal)
    printText(terminal, said.trimEnd())
  }
  if (task.error !== null) printFailure(terminal, task.error)
  if (task.usage.modelCalls === 0) return
  print(terminal)
  const elapsedMs = Date.parse(task.endedAt ?? task.createdAt) - Date.parse(task.startedAt ?? task.createdAt)
  const lines = usageLines({ usage: task.usage, elapsedMs }, columnsOf(terminal.output, 100))
  for (const line of lines) print(terminal, line)
}

/** The open interruptions of a task: its own and those of calls below it. */
async function waitedFor(client: Client, { callId, conversationId }: Task): Promise<readonly Interruption[]> {
  const { interruptions } = await client.conversations.get(conversationId)
  const asked = new Set<unknown>()
  for (let from = 0, more = true; more; ) {
    const page = await client.conversations.events(conversationId, { from, call: callId })
    for (const { content } of page.events) if ('id' in content) asked.add(content.id)
    from = page.events.at(-1)?.seq ?? from
    more = page.more && page.events.length > 0
  }
  return interruptions.filter(({ id }) => asked.has(id))
}

/** How it is answered from here. */
function howLine(open: Interruption, { lasts, options }: Connection): Line {
  return [{ text: lasts ? `  ${answerCommand(open)}${options}` : '', tone: 'faint' }]
}

function headLines(task: Task): Line[] {
  const { status, path, conversationId } = task
  const state: CallState = status === 'queued' ? 'running' : status
  const time = timeOf(task)
  return [
    [
      markOf(state),
      { text: ` ${oneLine(path)}`, tone: 'strong' },
      { text: `  ${status}${time === '' ? '' : `  ${time}`}`, tone: 'faint' },
    ],
    [{ text: `  in ${conversationId}, for call ${oneLine(task.toolCallId)}`, tone: 'faint' }],
  ]
}

function waits(given: Given): boolean {
  return given.has('wait') || given.has('timeout')
}

async function message(client: Client, given: Given, terminal: Terminal): Promise<void> {
  const [, text = ''] = given.operands
  const timeoutSeconds = readCount(given, 'timeout', 600)
  const mode = waits(given) ? 'send_and_wait' : 'send'
  const saying = client.tasks.message(idOf(given), {
    text,
    mode,
    ...(timeoutSeconds === undefined ? {} : { timeoutSeconds }),
  })
  const said = await shown(terminal, 'waiting for what it says …', saying)
  if (given.has('json')) return printJson(terminal, said)
  if (said.status === 'replied') printText(terminal, (said.reply ?? '').trimEnd())
  else print(terminal, outcomes[said.status])
}

const outcomes = {
  saved: 'saved: it reads it at its next step',
  waiting: 'saved: it has said nothing to it yet',
  completed: 'it has ended without a word to it; witan tasks show tells what it came to',
} as const

async function progress(client: Client, given: Given, terminal: Terminal): Promise<void> {
  const [, question = 'What have you done so far, and what is left?'] = given.operands
  const told = await shown(terminal, 'asking …', client.tasks.progress(idOf(given), question))
  if (given.has('json')) return printJson(terminal, told)
  printText(terminal, told.text.trimEnd())
}

/** A word on the terminal for as long as it takes. */
async function shown<Result>(terminal: Terminal, text: string, work: Promise<Result>): Promise<Result> {
  const progress = createProgress(terminal)
  progress.show(text)
  return await work.finally(progress.end)
}

function idOf(given: Given): string {
  return given.operands[0] ?? ''
}
