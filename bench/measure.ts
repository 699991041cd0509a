/** How a figure is taken: the CPU time of the whole process, garbage collector included, over many runs. */
import { readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { prompt, type Scenario } from './scenario.ts'
import type { Subject } from './subject.ts'

/** The middle one of some measurements, and the lowest and highest beside it. */
export interface Figure {
  readonly median: number
  readonly min: number
  readonly max: number
}

/** How long everything is warmed up and measured. */
export interface Effort {
  readonly rounds: number
  readonly roundMs: number
  readonly warmMs: number
  /** Turns of the conversation that grows. */
  readonly turns: number
}

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** Runs between two refreshes. */
const chunk = 500

/** The figure of some measurements. */
export function figureOf(values: readonly number[]): Figure {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (index: number) => sorted[index] ?? Number.NaN
  const middle = sorted.length >> 1
  const median = sorted.length % 2 === 1 ? at(middle) : (at(middle - 1) + at(middle)) / 2
  return { median, min: at(0), max: at(sorted.length - 1) }
}

/** CPU microseconds of this process so far, all threads. */
export function cpuNow(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}

/** One run, checked. Throws where its text or its deltas are not what the scenario says. */
export async function runOnce(scenario: Scenario, subject: Subject): Promise<void> {
  let length = 0
  const count = (text: string) => {
    if (text.startsWith('word')) length += text.length
  }
  const streams = scenario.deltas > 0
  const text = streams ? await subject.stream(prompt, count) : await subject.run(prompt)
  if (text !== scenario.text) throw new Error(`${scenario.id}: unexpected text ${text.slice(0, 80)}`)
  if (length !== scenario.deltas * 8) throw new Error(`${scenario.id}: ${length} characters came as deltas`)
}

/** Runs until the code is compiled. */
export async function warmUp(scenario: Scenario, subject: Subject, warmMs: number): Promise<void> {
  const until = performance.now() + warmMs
  for (let runs = 0; runs < 3 || performance.now() < until; runs += 1) {
    if (runs % chunk === chunk - 1) await subject.refresh()
    await runOnce(scenario, subject)
  }
}

/** CPU microseconds per run over one round. What runs leave behind, timers too, is inside the window. */
export async function roundOf(scenario: Scenario, subject: Subject, roundMs: number): Promise<number> {
  let [cpu, runs, spent] = [0, 0, 0]
  collectGarbage()
  while (spent < roundMs || runs < 5) {
    await subject.refresh()
    const [cpuBefore, before] = [cpuNow(), performance.now()]
    for (let left = chunk; left > 0 && (spent + performance.now() - before < roundMs || runs < 5); left -= 1) {
      await runOnce(scenario, subject)
      runs += 1
    }
    spent += performance.now() - before
    if (spent >= roundMs) await wait(20)
    cpu += cpuNow() - cpuBefore
  }
  return cpu / runs
}

/** So many runs at once: CPU microseconds per run, and the wall time of all in ms. */
export async function burstOf(
  scenario: Scenario,
  subject: Subject,
  runs: number,
): Promise<{ cpu: number; wall: number }> {
  await subject.refresh()
  collectGarbage()
  const [cpuBefore, before] = [cpuNow(), performance.now()]
  await Promise.all(Array.from({ length: runs }, () => runOnce(scenario, subject)))
  const wall = performance.now() - before
  await wait(20)
  return { cpu: (cpuNow() - cpuBefore) / runs, wall }
}

/** Cost of each turn of one conversation: CPU microseconds, and bytes handed to the operating system (Linux only, else null). */
export async function growthOf(
  scenario: Scenario,
  subject: Subject,
  turns: number,
): Promise<readonly { cpu: number; written: number | null }[]> {
  for (let left = 60, other = subject.grow(); left > 0; left -= 1) {
    if (left % 10 === 0) other = subject.grow()
    await other.turn(prompt)
  }
  const conversation = subject.grow()
  const costs = []
  for (let turn = 1; turn <= turns; turn += 1) {
    const [cpuBefore, before] = [cpuNow(), writtenBytes()]
    const text = await conversation.turn(prompt)
    if (text !== scenario.text) throw new Error(`turn ${turn}: unexpected text ${text.slice(0, 80)}`)
    const after = writtenBytes()
    costs.push({ cpu: cpuNow() - cpuBefore, written: before === null || after === null ? null : after - before })
  }
  return costs
}

function writtenBytes(): number | null {
  if (process.platform !== 'linux') return null
  const found = /^wchar: (\d+)/m.exec(readFileSync('/proc/self/io', 'utf8'))
  return found === null ? null : Number(found[1])
}
