/** One run in the terminal: the tree as it grows, the actions it waits for, the answer and what it used. */
import type { Chat, Client } from '@witan/client'
import type { Interruption, RunResult } from '@witan/protocol'
import { isWitanError } from '@witan/protocol'
import { askFor } from './answering.ts'
import { printStillAtWork } from './background.ts'
import type { Connection } from './connect.ts'
import type { ExitCode } from './exit.ts'
import { exitCodes } from './exit.ts'
import { printFailure } from './failure.ts'
import type { Terminal } from './terminal.ts'
import { painter, print } from './terminal.ts'
import { answerCommand, askedLines } from './interruption-lines.ts'
import { compact } from './tree/phrase.ts'
import { usageLines } from './tree/usage.ts'
import type { RunView } from './tree/view.ts'
import { createRunView } from './tree/view.ts'
import { printable } from './tree/width.ts'

/** Where a run takes place. */
export interface Stage {
  readonly terminal: Terminal
  readonly connection: Connection
  readonly chat: Chat
  /** The runs that were drawn here; kept where others are told of later. */
  readonly drawn?: Set<string>
  /** Whoever sits here waits for its tasks, and need not be told that they still work. */
  readonly waits?: boolean
}

/** Sends a prompt, draws the run, asks for what it waits for where somebody sits at the terminal, and prints the outcome. */
export async function converse(stage: Stage, prompt: string): Promise<ExitCode> {
  const { terminal, chat } = stage
  const view = createRunView(terminal)
  chat.onUnhandledAction(() => {})
  const stop = cancelOnInterrupt(stage)
  try {
    const stream = chat.stream(prompt, { verbose: true, signal: stop.left })
    let lastSeq = 0
    for await (const event of stream) {
      stop.runs(event.rootCallId)
      stage.drawn?.add(event.rootCallId)
      lastSeq = event.seq ?? lastSeq
      view.take(event)
    }
    const result = await answerActions(stage, view, { result: await stream.result(), lastSeq })
    view.finish()
    return printOutcome(stage, result)
  } catch (error) {
    view.finish()
    throw error
  } finally {
    stop.done()
  }
}

/** Sends a prompt and prints every stored event and then the result, one JSON a line. An action leaves the run waiting. */
export async function converseAsJson({ terminal, chat }: Stage, prompt: string): Promise<ExitCode> {
  chat.onUnhandledAction(() => {})
  const stream = chat.stream(prompt, { verbose: true })
  for await (const event of stream) if (event.type !== 'delta') print(terminal.output, JSON.stringify(event))
  const result = await stream.result()
  print(terminal.output, JSON.stringify({ type: 'result', ...result }))
  return exitOf(result)
}

/** Asks for the open actions of a conversation that was left waiting, and goes on with its run. */
export async function takeUp(stage: Stage): Promise<ExitCode | null> {
  const { terminal, connection, chat } = stage
  const conversation = await connection.client.conversations.get(chat.id)
  if (conversation.status !== 'waiting' || conversation.interruptions.length === 0) return null
  chat.onUnhandledAction(() => {})
  const view = createRunView(terminal)
  const result = await chat.resume()
  const page = await eventsSince(connection.client, chat.id, 0)
  for (const event of page) if (event.rootCallId === result.runId) view.take(event)
  const after = await answerActions(stage, view, { result, lastSeq: page.at(-1)?.seq ?? 0 })
  view.finish()
  return printOutcome(stage, after)
}

interface Rest {
  readonly result: RunResult
  readonly lastSeq: number
}

/** Until nothing waits, or somebody leaves a question open. */
async function answerActions(stage: Stage, view: RunView, rest: Rest): Promise<RunResult> {
  const { terminal, connection, chat } = stage
  const { client } = connection
  let { result, lastSeq } = rest
  while (result.status === 'waiting' && canAsk(terminal)) {
    view.pause()
    for (const open of result.interruptions) if (!(await askUntilTaken(stage, view, open))) return result
    const stop = new AbortController()
    const follow = followInto(view, client.events(chat.id, { from: lastSeq, verbose: true, signal: stop.signal }))
    result = await chat.resume().finally(() => stop.abort())
    lastSeq = Math.max(lastSeq, await follow)
    for (const event of await eventsSince(client, chat.id, lastSeq)) {
      view.take(event)
      lastSeq = event.seq ?? lastSeq
    }
  }
  return result
}

/** False where it is left open. An answer that the server does not take is asked for again, with what is wrong. */
async function askUntilTaken({ terminal, connection }: Stage, view: RunView, open: Interruption): Promise<boolean> {
  for (let trouble: string | null = null; ; ) {
    const asked = await askFor(terminal, open, trouble)
    view.wrote(asked.columns)
    if (asked.answer === null) return false
    try {
      await connection.client.interruptions.answer(open.id, asked.answer)
      return true
    } catch (error) {
      if (!isWitanError(error) || error.code !== 'ANSWER_INVALID') throw error
      trouble = error.message
    }
  }
}

async function followInto(view: RunView, events: ReturnType<Client['events']>): Promise<number> {
  let lastSeq = 0
  for await (const event of events) {
    view.take(event)
    lastSeq = event.seq ?? lastSeq
  }
  return lastSeq
}

async function eventsSince(client: Client, conversationId: string, from: number) {
  const events = []
  for (;;) {
    const page = await client.conversations.events(conversationId, { from: events.at(-1)?.seq ?? from, verbose: true })
    events.push(...page.events)
    if (!page.more || page.events.length === 0) return events
  }
}

function canAsk(terminal: Terminal): boolean {
  return terminal.input.isTTY === true && terminal.output.isTTY === true
}

function printOutcome(stage: Stage, result: RunResult): ExitCode {
  const { terminal } = stage
  const paint = painter(terminal)
  const text = result.text || (result.output === null ? '' : compact(result.output))
  print(terminal.output)
  if (text !== '') print(terminal.output, `${printable(text).trimEnd()}\n`)
  if (result.status === 'waiting') printWaiting(stage, result)
  if (result.status === 'cancelled')
    print(terminal.output, `${paint([{ text: 'The run was cancelled.', tone: 'wait' }])}\n`)
  for (const line of usageLines(result, terminal.output.columns ?? 100)) print(terminal.output, paint(line))
  if (result.error !== null) printFailure(terminal, result.error)
  if (!stage.waits) printStillAtWork(stage, result.tasks)
  return exitOf(result)
}

function exitOf(result: RunResult): ExitCode {
  if (result.status === 'completed') return exitCodes.done
  return result.status === 'waiting' ? exitCodes.waits : exitCodes.failed
}

function printWaiting({ terminal, connection, chat }: Stage, result: RunResult): void {
  const paint = painter(terminal)
  for (const open of result.interruptions) {
    const [, , ...asked] = askedLines(open)
    print(
      terminal.output,
      paint([
        { text: '◆ ', tone: 'wait' },
        { text: open.path, tone: 'strong' },
        { text: ' waits for an answer', tone: 'wait' },
      ]),
    )
    for (const line of asked) print(terminal.output, paint([{ text: '  ', tone: 'plain' }, ...line]))
    const how = connection.lasts ? `${answerCommand(open)}${connection.options}` : ''
    if (how !== '') print(terminal.output, paint([{ text: `    ${how}`, tone: 'faint' }]))
  }
  const go = `witan chat ${chat.agent} --id ${result.conversationId}${connection.options}`
  const how = connection.lasts
    ? `Answer it in a terminal with: ${go}`
    : 'The store is in memory: with this process the question is gone.'
  print(terminal.output, `${paint([{ text: how, tone: 'faint' }])}\n`)
}

interface Interrupt {
  readonly left: AbortSignal
  runs(runId: string): void
  done(): void
}

/** What a shell expects of a program that Ctrl+C ended. */
const interrupted = 130

/** The first Ctrl+C cancels the run and lets it end; the second leaves at once. */
function cancelOnInterrupt({ connection }: Stage): Interrupt {
  const left = new AbortController()
  let runId: string | null = null
  let asked = false
  const onSignal = () => {
    if (asked) process.exit(interrupted)
    if (runId === null) return left.abort(new Error('Stopped from the keyboard.'))
    asked = true
    connection.client.runs.cancel(runId).catch((error: unknown) => left.abort(error))
  }
  process.on('SIGINT', onSignal)
  return {
    left: left.signal,
    runs: (id) => {
      runId ??= id
    },
    done: () => {
      process.removeListener('SIGINT', onSignal)
    },
  }
}
