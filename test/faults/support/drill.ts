/** Three real servers in a row, each of which can be made to die at a step of its work, and is then started again at once. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { faultPointNames } from '@witan/core/testing'
import { commandLine } from '../../acceptance/support/program.ts'
import { finish, readyUrl } from '../../acceptance/support/witan.ts'
import { killedAtEnd } from '../../support/child.ts'
import { createForwarder } from '../../support/forwarder.ts'

export const sides = ['a', 'b', 'c'] as const
export type Side = (typeof sides)[number]

/** A step of a server's work: a fault point, and the how many-th time that it is passed. */
export interface Step {
  readonly side: Side
  readonly point: string
  readonly at: number
}

interface Running {
  readonly child: ChildProcess
  readonly output: string[]
  readonly url: string
}

export interface Drill {
  /** What the tool has done, by call. */
  readonly deeds: string[]
  /** Where the API of a server is, as long as it lives. */
  url(side: Side): string
  /** Starts a server anew. With a fault it dies there, and is started again without one: then `fired` counts. */
  arm(side: Side, faults: string | null): Promise<void>
  readonly fired: number
  /** Which points a server has passed since its start, and how often. */
  passed(side: Side): ReadonlyMap<string, number>
  close(): Promise<void>
}

const config = fileURLToPath(new URL('drill.config.ts', import.meta.url))
/** Of each point so many passings are told. */
const mostPassings = 12

/** Tells every point that is passed. */
export const tellAll = faultPointNames
  .filter((name) => name !== 'heartbeat')
  .flatMap((name) => Array.from({ length: mostPassings }, (_, index) => `${name}#${index + 1}:tell`))
  .join(',')

export async function openDrill(): Promise<Drill> {
  const folder = await mkdtemp(join(tmpdir(), 'witan-drill-'))
  const deeds: string[] = []
  const book = createServer((request, response) => {
    request.setEncoding('utf8')
    request.on('data', (text: string) => deeds.push(text))
    request.on('end', () => response.end('noted'))
  })
  await new Promise<void>((resolve) => book.listen(0, '127.0.0.1', resolve))
  const ledger = `http://127.0.0.1:${(book.address() as AddressInfo).port}`
  const doors = await Promise.all(sides.map(() => createForwarder()))
  const resolve = Object.fromEntries(sides.map((side, at) => [`${side}.test`, doors[at]?.url ?? '']))
  const running = {} as Record<Side, Running>
  let [fired, isOver] = [0, false]
  const door = (side: Side) => doors[sides.indexOf(side)]

  async function start(side: Side, faults: string | null): Promise<void> {
    const drill = JSON.stringify({ side, store: join(folder, `${side}.db`), resolve, ledger })
    const started = await launch({ DRILL: drill, ...(faults === null ? {} : { FAULTS: faults }) })
    if (started === null && faults === null) throw new Error(`server ${side} does not start`)
    if (started === null) {
      // It has died before it was ready.
      fired += 1
      return start(side, null)
    }
    running[side] = started
    door(side)?.lead(running[side].url)
    door(side)?.release()
    running[side].child.once('exit', (_, signal) => {
      if (isOver || signal !== 'SIGKILL') return
      fired += 1
      // Who calls meanwhile is cut off once, and then waits: otherwise it would give up a server that takes seconds to start.
      door(side)?.hold()
      void start(side, null)
    })
  }

  await Promise.all(sides.map((side) => start(side, null)))
  return {
    deeds,
    url: (side) => running[side].url,
    async arm(side, faults) {
      door(side)?.lead(null)
      await finish(running[side].child, 'SIGTERM')
      await start(side, faults)
    },
    get fired() {
      return fired
    },
    passed: (side) => passingsIn(running[side].output.join('')),
    async close() {
      isOver = true
      for (const { child } of Object.values(running)) await finish(child, 'SIGTERM')
      for (const one of doors) await one.close()
      book.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function passingsIn(output: string): ReadonlyMap<string, number> {
  const passed = new Map<string, number>()
  for (const [, name = ''] of output.matchAll(/^fault point ([a-z-]+)$/gm))
    passed.set(name, 1 + (passed.get(name) ?? 0))
  return passed
}

/** Null for one that ends before it is ready. */
async function launch(more: Readonly<Record<string, string>>): Promise<Running | null> {
  const { PATH, HOME, NODE_COMPILE_CACHE, WITAN_TEST_PROGRAM } = process.env
  const env = { PATH, HOME, NODE_COMPILE_CACHE, WITAN_TEST_PROGRAM, WITAN_PORT: '0', ...more }
  const words = [...commandLine, 'serve', '--config', config]
  const child = killedAtEnd(spawn(process.execPath, words, { env, stdio: ['ignore', 'pipe', 'pipe'] }))
  const output: string[] = []
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (data) => output.push(String(data)))
  const gone = once(child, 'exit')
  for (;;) {
    const url = readyUrl(output.join(''))
    if (url !== undefined) return { child, output, url }
    const isGone = await Promise.race([gone.then(() => true), delay(20, false)])
    if (isGone) return null
  }
}
