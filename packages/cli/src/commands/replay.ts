/** `witan conversations replay`: plays an exported conversation again, and says whether it comes to the same log. */
import { isAbsolute, resolve } from 'node:path'
import { readReplaySource, replay, type ReplayReport, type ReplaySource, storeReplay } from '@witan/core/export'
import { storeOf } from '@witan/server'
import { type Command, configOption, type Given, jsonOption } from '../command.ts'
import { type ExitCode, exitCodes, StartError, UsageError } from '../exit.ts'
import { fileLines } from '../export-file.ts'
import { playOn } from '../replaying.ts'
import { createProgress } from '../progress.ts'
import { columnsOf, print, type Terminal, printJson } from '../terminal.ts'
import { count, plural } from '../tree/phrase.ts'
import { cutText, oneLine } from '../tree/width.ts'

/** Plays a conversation again. It needs no server, no configuration, no model and no tool. */
export const replayCommand: Command = {
  name: 'conversations replay',
  summary: 'Play an exported conversation again, with the replies in it, and compare the logs.',
  operands: [{ name: 'FILE' }],
  options: {
    conversation: { value: 'ID', help: 'The one to use if the file holds several.' },
    to: { value: 'URL', help: 'Store the result here: file:… or postgres://…; the store must be empty.' },
    model: { value: 'NAME', help: 'From a step on ask this model of the configuration, and compare both trees.' },
    from: { value: 'STEP', help: 'The first model reply, counted from 1, that --model gives; default 1.' },
    ...jsonOption,
    ...configOption,
  },
  examples: ['witan conversations replay chat.jsonl', 'witan conversations replay chat.jsonl --to file:./replay.db'],
  run: play,
}

async function play(given: Given, terminal: Terminal): Promise<ExitCode> {
  const [file = ''] = given.operands
  const url = storeUrl(given.text('to'), terminal)
  const lines = await fileLines(file, terminal, 'witan conversations export')
  const source = await readReplaySource(lines(), { conversation: given.text('conversation') ?? null })
  if (given.has('model') || given.has('from')) return playOn(given, terminal, source)
  const total = source.whole.entries.length
  const progress = createProgress(terminal)
  const report = await replay(source, {
    onProgress: (entries) => progress.show(`${entries} of ${total} entries …`),
  }).finally(() => progress.end())
  if (url !== null && report.difference === null) await storeAt(url, source, report)
  if (given.has('json')) {
    const { store: _, copied, ...shown } = report
    printJson(terminal, copied === 0 ? shown : { ...shown, copied })
  } else {
    tell(terminal, report)
    if (url !== null)
      print(terminal, report.difference === null ? `stored in ${given.text('to')}` : 'Nothing was stored.')
  }
  return report.difference === null ? exitCodes.done : exitCodes.failed
}

/** The address of a store to write to, with a file's path from here. */
function storeUrl(given: string | undefined, { folder }: Terminal): string | null {
  if (given === undefined) return null
  if (/^postgres(ql)?:\/\//.test(given)) return given
  if (given.startsWith('file:')) {
    const path = given.slice('file:'.length)
    return isAbsolute(path) ? given : `file:${resolve(folder, path)}`
  }
  throw new UsageError('--to names no store.', 'Write --to file:./replay.db or --to postgres://….')
}

async function storeAt(url: string, source: ReplaySource, report: ReplayReport): Promise<void> {
  const store = storeOf({ env: {}, store: { url } })
  try {
    await store.open().catch((error: unknown) => {
      throw new StartError(error)
    })
    await storeReplay(store, source, report)
  } finally {
    await store.close()
  }
}

function tell(terminal: Terminal, { conversation, entries, copied, runs, difference }: ReplayReport): void {
  const fork = copied === 0 ? '' : ` (${count(copied)} copied by the fork)`
  const sum = `${count(entries)} ${entries === 1 ? 'entry' : 'entries'}${fork}, ${plural(runs.length, 'run')}`
  const isEqual = difference === null
  const said = isEqual ? 'the same log and the same trace ids' : `the log differs at seq ${difference.seq}`
  print(terminal, [
    { text: oneLine(conversation), tone: 'strong' },
    { text: `  ${sum}: `, tone: 'plain' },
    { text: said, tone: isEqual ? 'good' : 'bad' },
  ])
  if (isEqual) for (const { id, traceId } of runs) print(terminal, `  ${id}  trace ${traceId}`)
  else showDifference(terminal, difference)
}

function showDifference(terminal: Terminal, { expected, came, path }: NonNullable<ReplayReport['difference']>): void {
  const at = path === '' ? '' : ` at ${path}`
  for (const [name, entry] of [
    ['expected', expected],
    ['came', came],
  ] as const) {
    const what = entry === null ? 'nothing' : `${entry.type}${entry.kind === null ? '' : ` ${entry.kind}`}`
    const value = entry === null ? '' : `: ${valueAt(entry, path)}`
    print(terminal, cutText(`  ${name.padEnd(8)}  ${what}${at}${value}`, columnsOf(terminal.output, 80)))
  }
}

function valueAt(entry: unknown, path: string): string {
  const names = path === '' ? [] : path.split('.')
  const value = names.reduce((one, name) => (one as Record<string, unknown> | null | undefined)?.[name], entry)
  return oneLine(JSON.stringify(value) ?? 'nothing')
}
