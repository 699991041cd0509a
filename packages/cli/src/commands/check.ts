/** `witan check`: what is wrong with the agents, before anything runs. */
import type { Command } from '../command.ts'
import { connectionOptions, jsonOption } from '../command.ts'
import { connect } from '../connect.ts'
import { exitCodes } from '../exit.ts'
import { printJson } from '../listing.ts'
import { tableLines } from '../table.ts'
import type { Terminal } from '../terminal.ts'
import { painter, print } from '../terminal.ts'
import type { Line } from '../tree/lines.ts'
import { plural } from '../tree/phrase.ts'
import { oneLine } from '../tree/width.ts'
import type { CheckReport, Finding } from '@witan/protocol'

export const checkCommand: Command = {
  name: 'check',
  summary: 'Check the agents: errors, warnings, who sees which parameter, which actions need a handler.',
  options: { ...jsonOption, ...connectionOptions },
  run: async (given, terminal) => {
    const connection = await connect(given, terminal)
    try {
      const report = await connection.client.agents.check()
      if (given.has('json')) printJson(terminal, report)
      else printReport(terminal, report)
      return report.errors.length > 0 ? exitCodes.failed : exitCodes.done
    } finally {
      await connection.close()
    }
  },
}

function printReport(terminal: Terminal, report: CheckReport): void {
  const paint = painter(terminal)
  const width = terminal.output.isTTY ? (terminal.output.columns ?? 80) : Number.POSITIVE_INFINITY
  const show = (lines: readonly Line[]) => {
    for (const line of lines) print(terminal.output, paint(line))
  }
  for (const finding of [...report.errors, ...report.warnings]) show(findingLines(finding))
  if (report.matrix.length > 0) {
    const columns = [
      { title: 'PATH' },
      { title: 'PARAMETER' },
      { title: 'BOUND FROM' },
      { title: 'MODEL SEES IT' },
      { title: 'MODEL MAY MAKE IT' },
    ]
    const rows = report.matrix.map((row) => [
      row.path,
      row.parameter,
      row.boundFrom,
      yes(row.shown),
      yes(row.mayGenerate),
    ])
    show([...tableLines(columns, rows, width), []])
  }
  if (report.handlers.length > 0)
    show([
      [
        { text: 'Actions that a client must handle: ', tone: 'faint' },
        { text: report.handlers.join(', '), tone: 'plain' },
      ],
    ])
  const good = report.errors.length === 0
  const sum = `${plural(report.errors.length, 'error')}, ${plural(report.warnings.length, 'warning')}`
  show([
    [
      { text: good ? '✓ ' : '✗ ', tone: good ? 'good' : 'bad' },
      { text: sum, tone: 'plain' },
    ],
  ])
}

function findingLines(finding: Finding): Line[] {
  const isError = finding.severity === 'error'
  return [
    [
      { text: isError ? '✗ ' : '! ', tone: isError ? 'bad' : 'wait' },
      { text: oneLine(`${finding.agent} ${finding.path}`), tone: 'strong' },
      { text: `  ${finding.code}  `, tone: isError ? 'bad' : 'wait' },
      { text: oneLine(finding.detail), tone: 'plain' },
    ],
    [{ text: `  → ${oneLine(finding.hint)}`, tone: 'faint' }],
  ]
}

function yes(value: boolean): string {
  return value ? 'yes' : 'no'
}
