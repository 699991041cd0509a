/**
 * What traces cost: `npm run bench:telemetry -- [--sets 3] [--rounds 10] [--ms 200] [--scenarios S2,S4] [--stores memory,normal]
 * [--models instant,http,served] [--json FILE]`.
 *
 * Runs without telemetry, with spans that hold no text, and with spans that hold all of it; each in a warm process of its own, measured
 * in turn until `--ms` of CPU are spent, with a collector in another process. Models are functions, or a server in another process that is
 * called over HTTP; `served` is the whole server as a client uses it, and only its process counts. Two processes with the same code differ by
 * more than many rounds even out, so each set has new ones, and one more without telemetry: its ratio shows how large a difference without a cause is. Then
 * what a queue holds when the collector never answers, and how long the event loop is held while the spans of a run with very long texts are made.
 */
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { aboutHere } from './about.ts'
import { type Figure, figureOf } from './figure.ts'
import { gridOf, short } from './grid.ts'
import { clients, runServed } from './served.ts'
import { open, type Subprocess } from './subprocess.ts'

const { values } = parseArgs({
  options: {
    sets: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '10' },
    ms: { type: 'string', default: '200' },
    scenarios: { type: 'string', default: 'S2,S4' },
    stores: { type: 'string', default: 'memory,normal' },
    models: { type: 'string', default: 'instant,http,served' },
    json: { type: 'string' },
  },
})

/** The exports that are measured; the first is what the others are compared with. */
const contents = ['off', 'none', 'full'] as const
/** The same as the first, in another process. */
const again = 'off again'
const columns = ['off', again, 'none', 'full'] as const

/** A warm subject. `spend` gives its CPU µs per run over this much CPU, and how many spans were dropped. */
interface Measured {
  readonly content: string
  readonly process: Subprocess
  spend(ms: number): Promise<Record<string, number>>
}

async function measured(content: string, models: string, words: readonly string[]): Promise<Measured> {
  if (models !== 'served') {
    const process = await open('telemetry-child.ts', ['cost', ...words])
    return { content, process, spend: (ms) => process.ask(`${ms}`) }
  }
  const process = await open('telemetry-server.ts', words)
  const spend = (ms: number) => spendServed(process, ms)
  await spend(warmMs)
  return { content, process, spend }
}

/** CPU with which a server warms up. */
const warmMs = 8_000

async function spendServed(server: Subprocess, ms: number): Promise<Record<string, number>> {
  const used = async () => (await server.ask('cpu'))['us'] ?? Number.NaN
  const from = await used()
  let runs = 0
  let spent = 0
  while (spent < ms * 1000) {
    await runServed(server.first['port'])
    runs += clients
    spent = (await used()) - from
  }
  return { cpu: spent / runs }
}

interface Cell {
  readonly scenario: string
  readonly store: string
  readonly models: string
}

/** CPU µs per run for each column, round by round, and the spans that the collector got of those that were made. */
async function measureSet({ scenario, store, models }: Cell) {
  const sink = await open('telemetry-sink.ts', [])
  const url = `http://127.0.0.1:${sink.first['port']}/v1/traces`
  const server = models !== 'instant' ? await open('model-server.ts', [scenario]) : null
  const base = server === null ? '' : `http://127.0.0.1:${server.first['port']}/v1`
  const subjects = await Promise.all(
    columns.map(async (column) => {
      const content = column === again ? 'off' : column
      return { column, ...(await measured(content, models, [scenario, store, content, url, base])) }
    }),
  )
  const cpu = new Map<string, number[]>(columns.map((column) => [column, []]))
  let dropped = 0
  for (let round = 0; round < Number(values.rounds); round += 1) {
    for (const { column, spend } of round % 2 === 0 ? subjects : [...subjects].reverse()) {
      const said = await spend(Number(values.ms))
      cpu.get(column)?.push(said['cpu'] ?? Number.NaN)
      dropped += said['dropped'] ?? 0
    }
  }
  for (const { process: subject } of subjects) await subject.close()
  const { spans = 0 } = await sink.ask('count')
  await sink.close()
  await server?.close()
  return { cpu, spans, dropped }
}

/** The figures of several sets. The ratio of a set is the median of those of its rounds. */
async function costOf(cell: Cell) {
  const sets: Awaited<ReturnType<typeof measureSet>>[] = []
  for (let set = 1; set <= Number(values.sets); set += 1) {
    console.error(`${cell.scenario} ${cell.store} ${cell.models}: set ${set} of ${values.sets}`)
    sets.push(await measureSet(cell))
  }
  const figures = columns.map((column) => {
    const ratios = sets.map(({ cpu }) => {
      const base = cpu.get('off') ?? []
      return figureOf((cpu.get(column) ?? []).map((one, at) => one / (base[at] ?? Number.NaN))).median
    })
    return { column, cpu: figureOf(sets.flatMap(({ cpu }) => cpu.get(column) ?? [])), ratio: figureOf(ratios) }
  })
  const sum = (key: 'spans' | 'dropped') => sets.reduce((total, one) => total + one[key], 0)
  return { ...cell, figures, spans: sum('spans'), dropped: sum('dropped') }
}

/** MB that a full queue holds for a collector that never answers, beyond what the same runs leave without telemetry. */
async function heldOf() {
  const sink = await open('telemetry-sink.ts', ['silent'])
  const url = `http://127.0.0.1:${sink.first['port']}/v1/traces`
  const held: Record<string, number> = {}
  for (const content of contents) {
    const subject = await open('telemetry-child.ts', ['held', 'S4', 'memory', content, url], { flags: ['--expose-gc'] })
    held[content] = (await subject.ask('held'))['mb'] ?? Number.NaN
    await subject.close()
  }
  await sink.close()
  return held
}

/** The longest time that the event loop was held while the spans of long texts were made, in ms. */
async function longestHold() {
  const sink = await open('telemetry-sink.ts', [])
  const url = `http://127.0.0.1:${sink.first['port']}/v1/traces`
  const held: Record<string, Record<string, number>> = {}
  for (const content of contents) {
    const subject = await open('telemetry-child.ts', ['hold', 'S1', 'memory', content, url])
    held[content] = await subject.ask('hold')
    await subject.close()
  }
  await sink.close()
  return held
}

function shown({ median, min, max }: Figure): string {
  return `${short(median)} (${short(min)}..${short(max)})`
}

function shownRatio({ median, min, max }: Figure): string {
  const [middle, low, high] = [median, min, max].map((ratio) => ratio.toFixed(2))
  return `${middle} (${low}..${high})`
}

async function main(): Promise<void> {
  const about = aboutHere()
  const costs = []
  for (const scenario of values.scenarios.split(','))
    for (const store of values.stores.split(','))
      for (const models of values.models.split(',')) costs.push(await costOf({ scenario, store, models }))
  const [held, hold] = [await heldOf(), await longestHold()]
  console.log(
    `${about.text}; CPU µs per run: median (lowest..highest), and ratios to \`off\`: the median of the sets and their range\n`,
  )
  const rows = costs.map(({ scenario, store, models, figures, spans, dropped }) => [
    `${scenario} ${store} ${models}`,
    ...figures.flatMap(({ column, cpu, ratio }) => (column === 'off' ? [shown(cpu)] : [shown(cpu), shownRatio(ratio)])),
    `${spans} (${dropped})`,
  ])
  const heads = columns.flatMap((column) => (column === 'off' ? [column] : [column, 'ratio']))
  console.log(gridOf(['', ...heads, 'spans taken (dropped)'], rows))
  console.log(`\nMB after 3,000 runs, a collector that never answers: ${JSON.stringify(held)}`)
  console.log(`The loop was held, ms at most, by runs with long texts: ${JSON.stringify(hold)}`)
  if (values.json !== undefined)
    writeFileSync(values.json, `${JSON.stringify({ about, costs, held, hold }, null, 2)}\n`)
}

await main()
