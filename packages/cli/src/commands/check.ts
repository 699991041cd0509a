/** `witan check`: what is wrong with the agents, before anything runs. */
import { checkConfig, createLog } from '@witan/server'
import type { Command, Given } from '../command.ts'
import { connectionOptions, jsonOption } from '../command.ts'
import { type Connection, serverOrConfig } from '../connect.ts'
import { exitCodes, StartError } from '../exit.ts'
import { describe } from '../failure.ts'
import { asCommand } from '../hints.ts'
import { quiet } from '../loading.ts'
import { tableLines } from '../table.ts'
import type { Terminal } from '../terminal.ts'
import { columnsOf, print, printJson, printProse, writeData } from '../terminal.ts'
import { type Line, lineWidth } from '../tree/lines.ts'
import { plural } from '../tree/phrase.ts'
import { oneLine } from '../tree/width.ts'
import type { CheckReport, ErrorCode, Finding } from '@witan/protocol'
import { callerWords } from '@witan/protocol/access'

export const checkCommand: Command = {
  name: 'check',
  summary: 'Check the agents: errors, warnings, who sees which parameter, which actions need a handler.',
  options: { ...jsonOption, ...connectionOptions },
  run: async (given, terminal) => {
    const { report, isEmpty } = await look(given, terminal).catch((error: unknown) => {
      if (given.has('json')) printJson(terminal, unread(error))
      throw error
    })
    if (given.has('json')) printJson(terminal, report)
    else printReport(terminal, report)
    if (isEmpty) print(terminal, noAgents, terminal.errors)
    return report.errors.length > 0 ? exitCodes.failed : exitCodes.done
  },
}

/** Who reads JSON finds what kept the agents from being looked at in the report as well. */
function unread(error: unknown): CheckReport {
  const { code, detail, path, hint } = describe(error instanceof StartError ? error.cause : error)
  const finding = {
    code: code as ErrorCode,
    severity: 'error',
    agent: '',
    path: path ?? '',
    detail,
    hint: hint ?? '',
  } as const
  return {
    errors: [finding],
    warnings: [],
    matrix: [],
    callers: [],
    handlers: [],
    protocols: [],
    acquaintances: [],
    hotSpots: [],
  }
}

const noAgents =
  'There are no agents to check: name a configuration with --config FILE, or save some with witan agents apply -f FILE.'

interface Looked {
  readonly report: CheckReport
  readonly isEmpty: boolean
}

/** Of a server, what it has stored. Without one the configuration is checked as it is written, and nothing is stored. */
async function look(given: Given, terminal: Terminal): Promise<Looked> {
  const found = await serverOrConfig(given, terminal)
  if ('client' in found) return lookAtStored(found).finally(() => found.close())
  const log = createLog(quiet(found).logLevel, (line) => writeData(terminal.errors, line.trimEnd()))
  const report = await checkConfig(found, log).catch((error: unknown) => {
    throw new StartError(error)
  })
  return { report, isEmpty: found.agents.length === 0 }
}

async function lookAtStored({ client }: Connection): Promise<Looked> {
  const [report, { items }] = await Promise.all([client.agents.check(), client.agents.list({ limit: 1 })])
  return { report, isEmpty: items.length === 0 }
}

function printReport(terminal: Terminal, report: CheckReport): void {
  const width = columnsOf(terminal.output, Number.POSITIVE_INFINITY)
  const show = (lines: readonly Line[]) => {
    for (const line of lines) print(terminal, line)
  }
  for (const finding of [...report.errors, ...report.warnings]) printProse(terminal, findingLine(finding))
  if (report.matrix.length > 0) show([...matrixLines(report.matrix, width), []])
  if (report.callers.length > 0) show([...callerLines(report.callers, width), []])
  if (report.handlers.length > 0) show([...handlerLines(report.handlers), []])
  show(acquaintanceLines(report))
  const good = report.errors.length === 0
  const sum = `${plural(report.errors.length, 'error')}, ${plural(report.warnings.length, 'warning')}`
  show([
    [
      { text: good ? '✓ ' : '✗ ', tone: good ? 'good' : 'bad' },
      { text: sum, tone: 'plain' },
    ],
  ])
}

/** One line: what is wrong, and how it is put right. */
function findingLine({ severity, agent, path, code, detail, hint }: Finding): Line {
  const tone = severity === 'error' ? 'bad' : 'wait'
  return [
    { text: severity === 'error' ? '✗ ' : '! ', tone },
    { text: oneLine(`${agent} ${path}`.trimEnd()), tone: 'strong' },
    { text: `  ${code}  `, tone },
    { text: oneLine(detail), tone: 'plain' },
    { text: hint === '' || detail.includes(hint) ? '' : ` → ${oneLine(asCommand(hint))}`, tone: 'faint' },
  ]
}

function yes(value: boolean): string {
  return value ? 'yes' : 'no'
}

const columns = [
  { title: 'PARAMETER' },
  { title: 'BOUND FROM' },
  { title: 'MODEL SEES IT' },
  { title: 'MODEL MAY MAKE IT' },
]

/** A row for each path and parameter; where the terminal is too narrow for that, each path stands above its parameters. */
function matrixLines(matrix: CheckReport['matrix'], width: number): Line[] {
  const rows = matrix.map((row) => [row.parameter, row.boundFrom, yes(row.shown), yes(row.mayGenerate)])
  const withPath = rows.map((row, index) => [matrix[index]?.path ?? '', ...row])
  const wide = tableLines([{ title: 'PATH' }, ...columns], withPath, Number.POSITIVE_INFINITY)
  if (wide.every((line) => lineWidth(line) <= width)) return wide
  const indented = tableLines(columns, rows, width - 2).map((line): Line => [{ text: '  ', tone: 'plain' }, ...line])
  const [head = [], ...lines] = indented
  const of = (path: string) => lines.filter((_, index) => matrix[index]?.path === path)
  const paths = [...new Set(matrix.map(({ path }) => path))]
  return [head, ...paths.flatMap((path): Line[] => [[{ text: oneLine(path), tone: 'strong' }], ...of(path)])]
}

const callerColumns = [{ title: 'AGENT' }, { title: 'CALLER' }, { title: 'MAY CALL' }, { title: 'TOOLS WITH A LIST' }]

/** A row for each agent and caller; of the tools only those count that not everybody may use. */
function callerLines(callers: CheckReport['callers'], width: number): Line[] {
  const rows = callers.map(({ agent, caller, calls, tools }) => [
    ...[agent, oneLine(callerWords(caller)), yes(calls), oneLine(tools.join(', '))],
  ])
  return tableLines(callerColumns, rows, width)
}

function handlerLines(handlers: readonly string[]): Line[] {
  return [
    [{ text: 'ACTIONS THAT A CLIENT MUST HANDLE', tone: 'faint' }],
    ...handlers.map((path): Line => [{ text: oneLine(path), tone: 'plain' }]),
  ]
}

/** Who may begin to write to whom by each protocol, and the agents where most of that meets. */
function acquaintanceLines({ acquaintances, hotSpots }: Pick<CheckReport, 'acquaintances' | 'hotSpots'>): Line[] {
  if (acquaintances.length === 0) return []
  const targets = new Map<string, { from: string; protocol: string; to: string[] }>()
  for (const { from, to, protocol } of acquaintances) {
    const known = targets.get(`${from} ${protocol}`)
    if (known === undefined) targets.set(`${from} ${protocol}`, { from, protocol, to: [to] })
    else known.to.push(to)
  }
  const spots = hotSpots.map((spot) => [spot.id, String(spot.in), String(spot.out)])
  return [
    [{ text: 'WHO WRITES TO WHOM', tone: 'faint' }],
    ...[...targets.values()].map(
      ({ from, to, protocol }): Line => [
        { text: oneLine(`${from} → ${to.join(', ')}`), tone: 'plain' },
        { text: `  ${oneLine(protocol)}`, tone: 'faint' },
      ],
    ),
    [],
    ...tableLines(
      [{ title: 'HOT SPOTS' }, { title: 'WRITTEN TO BY' }, { title: 'WRITES TO' }],
      spots,
      Number.POSITIVE_INFINITY,
    ),
    [],
  ]
}
