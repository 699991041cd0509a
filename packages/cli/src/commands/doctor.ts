/** `witan doctor`: everything that a person would look at when it does not work, looked at once. Nothing is changed or run. */
import { inspectStoreFile } from '@witan/core/tooling'
import { type Config, findServer, storeFile } from '@witan/server'
import type { Command } from '../command.ts'
import { configOption, jsonOption } from '../command.ts'
import { lookAtAccess, lookAtServer } from '../doctor/address.ts'
import { lookAtAgents, lookAtServed } from '../doctor/agents.ts'
import { lookAtConnections } from '../doctor/connections.ts'
import type { DoctorFinding } from '../doctor/finding.ts'
import { refused, warning } from '../doctor/finding.ts'
import { lookAtConfiguration, lookAtDisk, lookAtNode } from '../doctor/machine.ts'
import { lookAtRemotes } from '../doctor/remotes.ts'
import { lookAtSources } from '../doctor/sources.ts'
import { lookAtStore, lookAtStoreServers, lookAtWork } from '../doctor/store.ts'
import type { ExitCode } from '../exit.ts'
import { exitCodes, StartError } from '../exit.ts'
import { readConfig } from '../loading.ts'
import { createProgress } from '../progress.ts'
import type { Terminal } from '../terminal.ts'
import { print, printProse, printJson } from '../terminal.ts'
import type { Line } from '../tree/lines.ts'
import { plural } from '../tree/phrase.ts'
import { oneLine, textWidth } from '../tree/width.ts'

/** Where something bad means that no server could start. */
const startAreas = new Set(['node', 'configuration', 'access', 'server', 'store', 'disk'])

export const doctorCommand: Command = {
  name: 'doctor',
  summary: 'Check the installation: configuration, server, store, connections, sources, remotes, agents.',
  options: { ...jsonOption, ...configOption },
  run: async (given, terminal) => {
    const findings = [lookAtNode(process.versions.node)]
    const progress = createProgress(terminal)
    progress.show('looking at the configuration, the store, connections and sources …')
    try {
      findings.push(...(await lookAt(await readConfig(given, terminal))))
    } catch (error) {
      if (!(error instanceof StartError)) throw error
      findings.push(refused('configuration', error.cause, 'Correct the file.'))
    } finally {
      progress.end()
    }
    const exit = exitOf(findings)
    if (given.has('json')) printJson(terminal, { ok: exit === exitCodes.done, findings })
    else printFindings(terminal, findings)
    return exit
  },
}

/** Everything, in the order in which one depends on the other. */
async function lookAt(config: Config): Promise<DoctorFinding[]> {
  const file = storeFile(config)
  const running = file === null ? null : await findServer(file)
  const report = file === null ? null : inspectStoreFile(file)
  const [server, connections, sources, remotes, agents] = await Promise.all([
    lookAtServer(config, running),
    lookAtConnections(config),
    lookAtSources(config),
    lookAtRemotes(config),
    running === null
      ? lookAtAgents(config, report?.agents ?? [])
      : lookAtServed({ ...running, token: running.token ?? (config.env.WITAN_TOKEN || null) }),
  ])
  const found = [lookAtConfiguration(config), lookAtAccess(config), server]
  if (config.store.url !== 'memory:' && report === null) {
    found.push(...(await lookAtStoreServers(config)))
  } else if (file === null || report === null) {
    const fix = 'Set store.url to a file if it shall last: file:./.witan/witan.db.'
    found.push(warning('store', 'It is in memory: everything is gone when the process ends.', fix))
  } else {
    found.push(...(await lookAtStore(file, report, running !== null)), await lookAtDisk(file))
  }
  found.push(...connections, ...sources, ...remotes, ...agents)
  if (report?.state === 'readable' && (report.version ?? 0) <= report.knownVersion) found.push(lookAtWork(report))
  return found
}

function exitOf(findings: readonly DoctorFinding[]): ExitCode {
  const wrong = findings.filter(({ state }) => state === 'bad')
  if (wrong.length === 0) return exitCodes.done
  return wrong.some(({ area, text }) => startAreas.has(area) || /\bCONFIG_INVALID\b/.test(text))
    ? exitCodes.configuration
    : exitCodes.failed
}

const marks = { good: '✓', warning: '!', bad: '✗' } as const
const tones = { good: 'good', warning: 'wait', bad: 'bad' } as const

function printFindings(terminal: Terminal, findings: readonly DoctorFinding[]): void {
  const width = Math.max(...findings.map(({ area }) => textWidth(area)))
  for (const { area, state, text, fix } of findings) {
    const line: Line = [
      { text: `${marks[state]} `, tone: tones[state] },
      { text: `${area}${' '.repeat(width - textWidth(area))}  `, tone: 'strong' },
      { text: oneLine(text), tone: 'plain' },
    ]
    printProse(terminal, line, { indent: width + 4 })
    if (fix !== null) printProse(terminal, [{ text: `  → ${oneLine(fix)}`, tone: 'faint' }], { indent: 4 })
  }
  const count = (wanted: DoctorFinding['state']) => findings.filter(({ state }) => state === wanted).length
  const isWell = count('bad') === 0
  print(terminal)
  printProse(terminal, [
    { text: isWell ? '✓ ' : '✗ ', tone: isWell ? 'good' : 'bad' },
    { text: `${plural(count('bad'), 'problem')}, ${plural(count('warning'), 'warning')}`, tone: 'plain' },
  ])
}
