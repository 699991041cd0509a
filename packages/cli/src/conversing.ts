/** One run in the terminal: the tree as it grows, the actions it waits for, the answer and what it used. */
import type { Prompt, RunResult } from '@witan/protocol'
import { printStillAtWork } from './background.ts'
import type { ExitCode } from './exit.ts'
import { exitCodes } from './exit.ts'
import { printFailure } from './failure.ts'
import { eventsSince, settle } from './settling.ts'
import { printSpoken } from './speaking.ts'
import { comeBack, type Stage } from './stage.ts'
import { columnsOf, print, printJsonLine, printProse } from './terminal.ts'
import { answerCommand, elsewhereSpans, wholeLines } from './interruption-lines.ts'
import { compact, waitsPhrase } from './tree/phrase.ts'
import { usageLines } from './tree/usage.ts'
import { createRunView } from './tree/view.ts'

/** Sends a prompt, draws the run, asks for its interruptions on a terminal, and prints the result. */
export async function converse(stage: Stage, prompt: Prompt): Promise<ExitCode> {
  const { terminal, chat } = stage
  const view = createRunView(terminal, stage.reasoning)
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
    const result = await settle(stage, view, { result: await stream.result(), lastSeq })
    view.finish()
    return printOutcome(stage, result)
  } catch (error) {
    view.finish()
    throw error
  } finally {
    stop.done()
  }
}

/** Sends a prompt and prints every stored event, with `--reasoning` also what models reason, and then the result, one JSON a line. An action leaves the run waiting. */
export async function converseAsJson({ terminal, chat, reasoning }: Stage, prompt: Prompt): Promise<ExitCode> {
  chat.onUnhandledAction(() => {})
  const stream = chat.stream(prompt, { verbose: true })
  for await (const event of stream) {
    if (event.type !== 'delta' || (reasoning === true && event.kind === 'reasoning')) printJsonLine(terminal, event)
  }
  const result = await stream.result()
  printJsonLine(terminal, { type: 'result', ...result })
  return exitOf(result)
}

/** Asks for the open actions of a conversation that was left waiting, and goes on with its run. */
export async function takeUp(stage: Stage): Promise<ExitCode | null> {
  const { terminal, connection, chat } = stage
  const conversation = await connection.client.conversations.get(chat.id)
  if (conversation.status !== 'waiting' || conversation.interruptions.length === 0) return null
  chat.onUnhandledAction(() => {})
  const view = createRunView(terminal, stage.reasoning)
  const result = await chat.resume()
  const page = await eventsSince(connection.client, chat.id, 0)
  for (const event of page) if (event.rootCallId === result.runId) view.take(event)
  const after = await settle(stage, view, { result, lastSeq: page.at(-1)?.seq ?? 0 })
  view.finish()
  return printOutcome(stage, after)
}

function printOutcome(stage: Stage, result: RunResult): ExitCode {
  const { terminal } = stage
  const text = result.text || (result.output === null ? '' : compact(result.output))
  print(terminal)
  if (text !== '') {
    printSpoken(terminal, { text, agent: result.agent, root: stage.chat.agent, sources: result.sources })
    print(terminal)
  }
  if (result.status === 'waiting') printWaiting(stage, result)
  if (result.status === 'cancelled') {
    print(terminal, [{ text: 'The run was cancelled.', tone: 'wait' }])
    print(terminal)
  }
  for (const line of usageLines(result, columnsOf(terminal.output, 100))) print(terminal, line)
  if (result.error !== null) printFailure(terminal, result.error)
  if (!stage.waits) printStillAtWork(stage, result.tasks)
  return exitOf(result)
}

function exitOf(result: RunResult): ExitCode {
  if (result.status === 'completed') return exitCodes.done
  return result.status === 'waiting' ? exitCodes.waits : exitCodes.failed
}

function printWaiting(stage: Stage, result: RunResult): void {
  const { terminal, connection } = stage
  for (const open of result.interruptions) {
    print(terminal, [
      { text: '◆ ', tone: 'wait' },
      { text: open.path, tone: 'strong' },
      ...elsewhereSpans(open),
      { text: ` ${waitsPhrase(open.addressee)}`, tone: 'wait' },
    ])
    for (const line of wholeLines(open)) printProse(terminal, [{ text: '  ', tone: 'plain' }, ...line], { indent: 6 })
    const how = connection.lasts ? `${answerCommand(open)}${connection.options}` : ''
    if (how !== '') print(terminal, [{ text: `    ${how}`, tone: 'faint' }])
  }
  const how = connection.lasts
    ? `Answer it in a terminal with: ${comeBack(stage)}`
    : 'The store is in memory: with this process the question is gone.'
  print(terminal, [{ text: how, tone: 'faint' }])
  print(terminal)
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
