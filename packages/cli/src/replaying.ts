/** Goes on from a step of an exported conversation with another model, and draws what became of the tree. */
import { findModel, replayFrom, type ReplaySource, type TreeChange } from '@witan/core/export'
import { createLog, runtimeOptions } from '@witan/server'
import { readCount } from './arguments.ts'
import type { Given } from './command.ts'
import { type ExitCode, exitCodes, UsageError } from './exit.ts'
import { quiet, readConfig } from './loading.ts'
import { createProgress } from './progress.ts'
import { columnsOf, print, type Terminal, printJson } from './terminal.ts'
import type { Tone } from './tree/lines.ts'
import { count } from './tree/phrase.ts'
import { cutText, oneLine } from './tree/width.ts'

/** The greatest number of a step. */
const mostSteps = 1_000_000

/** Asks the model that `--model` names from the step `--from` on. It is found in the configuration; nothing is stored. */
export async function playOn(given: Given, terminal: Terminal, source: ReplaySource): Promise<ExitCode> {
  const name = given.text('model')
  if (name === undefined) throw new UsageError('--from is a step for another model.', 'Add --model NAME.')
  if (given.has('to'))
    throw new UsageError('--to stores the same log, and --model makes another one.', 'Leave out one of both.')
  const config = quiet(await readConfig(given, terminal))
  const model = findModel(runtimeOptions(config, createLog('error')), name)
  if (model === null)
    throw new UsageError(
      `The configuration has no model "${oneLine(name)}".`,
      'Write the name of a connection, a slash and its model, or name the configuration with --config.',
    )
  const from = readCount(given, 'from', mostSteps) ?? 1
  const progress = createProgress(terminal)
  const options = {
    onProgress: (entries: number) => progress.show(`${entries} entries …`),
  }
  const { difference, tree, conversation } = await replayFrom(source, { model, from }, options).finally(() =>
    progress.end(),
  )
  if (given.has('json')) printJson(terminal, { conversation, model: name, from, difference, tree })
  else if (difference !== null)
    print(
      terminal,
      `${oneLine(conversation)}  the log differs at seq ${difference.seq}, before step ${from}: no model was asked`,
    )
  else draw(terminal, { conversation, name, from, tree })
  return difference === null ? exitCodes.done : exitCodes.failed
}

const marks: Readonly<Record<TreeChange['status'], readonly [mark: string, tone: Tone]>> = {
  same: [' ', 'faint'],
  changed: ['~', 'wait'],
  added: ['+', 'good'],
  removed: ['-', 'bad'],
}

interface Drawn {
  readonly conversation: string
  readonly name: string
  readonly from: number
  readonly tree: readonly TreeChange[]
}

function draw(terminal: Terminal, { conversation, name, from, tree }: Drawn): void {
  const columns = columnsOf(terminal.output, 80)
  print(terminal, [
    { text: oneLine(conversation), tone: 'strong' },
    { text: `  from step ${from} with ${oneLine(name)}`, tone: 'plain' },
  ])
  for (const { status, depth, name: call, changes, tokens } of tree) {
    const [mark, tone] = marks[status]
    const indent = '  '.repeat(Math.min(depth, deepest))
    print(terminal, [
      { text: `${mark} ${indent}${oneLine(call)}`, tone },
      { text: tokensOf(tokens), tone: 'faint' },
    ])
    for (const { what, before, after } of changes) {
      const line = (sign: string, text: string) => cutText(`  ${indent}  ${sign} ${what} ${oneLine(text)}`, columns)
      print(terminal, [{ text: line('-', before), tone: 'bad' }])
      print(terminal, [{ text: line('+', after), tone: 'good' }])
    }
  }
  print(terminal, summaryOf(tree))
}

function tokensOf({ before, after }: TreeChange['tokens']): string {
  if (before === after || ((before ?? 0) === 0 && (after ?? 0) === 0)) return ''
  return `  ${before === null ? '–' : count(before)} → ${after === null ? '–' : count(after)} tokens`
}

function summaryOf(tree: readonly TreeChange[]): string {
  const sum = (status: TreeChange['status']) => tree.filter((one) => one.status === status).length
  const total = (side: 'before' | 'after') => count(tree.reduce((all, { tokens }) => all + (tokens[side] ?? 0), 0))
  const calls = `${sum('same')} the same, ${sum('changed')} changed, ${sum('added')} added, ${sum('removed')} removed`
  return `${calls} · ${total('before')} → ${total('after')} tokens`
}

/** The depth from which on calls are no longer indented. */
const deepest = 16
