/**
 * Compares this code with another checkout of it: `node bench/pairs.ts --base FOLDER [--sets 3] [--rounds 5] [--only S4,S6] [--stores memory,normal] [--json FILE]`.
 * Each set is two fresh processes, old and new, that are warmed up and then measured in turn, so that what disturbs one disturbs both.
 * What counts is the median of the ratios of the pairs, `sets` times `rounds` of them.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { aboutHere } from './about.ts'
import { type Figure, figureOf } from './figure.ts'
import { gridOf, short } from './grid.ts'

const here = join(import.meta.dirname, '..')
const child = join(import.meta.dirname, 'pairs-child.ts')

const { values } = parseArgs({
  options: {
    base: { type: 'string' },
    sets: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '5' },
    only: { type: 'string', default: 'S4,S6' },
    stores: { type: 'string', default: 'memory,normal' },
    json: { type: 'string' },
  },
})

/** A warm process of one of the two. */
async function open(root: string, scenario: string, store: string) {
  const env = { ...process.env, NODE_ENV: 'production' }
  const execArgv = ['--no-warnings', '--conditions=witan-source']
  const measurer = fork(child, [root, scenario, store], { cwd: root, env, execArgv })
  await once(measurer, 'message')
  return {
    async round(): Promise<number> {
      measurer.send('round')
      const [cpu] = (await once(measurer, 'message')) as [number]
      return cpu
    },
    async close(): Promise<void> {
      measurer.send('end')
      await once(measurer, 'exit')
    },
  }
}

async function pairsOf(base: string, scenario: string, store: string) {
  const old: number[] = []
  const now: number[] = []
  for (let set = 0; set < Number(values.sets); set += 1) {
    const [before, after] = await Promise.all([open(base, scenario, store), open(here, scenario, store)])
    for (let round = 0; round < Number(values.rounds); round += 1) {
      const newFirst = round % 2 === 1
      if (newFirst) now.push(await after.round())
      old.push(await before.round())
      if (!newFirst) now.push(await after.round())
    }
    for (const one of [before, after]) await one.close()
    process.stderr.write(`${scenario} ${store}: ${set + 1} of ${values.sets} sets\n`)
  }
  const ratio = figureOf(now.map((one, at) => one / (old[at] as number)))
  const ofLowest = Math.min(...now) / Math.min(...old)
  return { scenario, store, old: figureOf(old), now: figureOf(now), ratio, ofLowest, pairs: now.length }
}

function range({ median, min, max }: Figure, digits: (value: number) => string): string {
  return `${digits(median)} (${digits(min)}..${digits(max)})`
}

async function main(): Promise<void> {
  if (values.base === undefined) throw new Error('--base: say which checkout to compare with')
  const base = resolve(values.base)
  const about = aboutHere()
  const results = []
  for (const scenario of values.only.split(','))
    for (const store of values.stores.split(',')) results.push(await pairsOf(base, scenario, store))
  console.log(`${about.text}; pairs of rounds, CPU µs per run: median (lowest..highest)\n`)
  const rows = results.map((one) => [
    `${one.scenario} ${one.store}`,
    range(one.old, short),
    range(one.now, short),
    range(one.ratio, (value) => value.toFixed(2)),
    one.ofLowest.toFixed(2),
    String(one.pairs),
  ])
  console.log(gridOf(['', 'old', 'new', 'ratio', 'of the lowest', 'pairs'], rows))
  if (values.json === undefined) console.log(`\n${JSON.stringify({ about, results })}`)
  else writeFileSync(values.json, `${JSON.stringify({ about, results }, null, 2)}\n`)
}

await main()
