/** Fills the queue of an exporter whose server does not answer, and says what memory that holds. Runs in a process of its own. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createRuntime, defineAgent, type Runtime, type RuntimeOptions } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'

/** What is exported, and how: texts of so many characters in runs of so many replies. */
export interface Filling {
  readonly kind: 'otlp' | 'mlflow'
  readonly protocol: 'http/protobuf' | 'http/json'
  readonly characters: number
  readonly runs: number
}

export interface Filled {
  /** In MB, after a collection of garbage. */
  readonly held: number
  readonly queued: number
  readonly dropped: number
}

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

async function megabytes(): Promise<number> {
  for (let round = 0; round < 4; round += 1) {
    collect()
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const { heapUsed, external } = process.memoryUsage()
  return (heapUsed + external) / 1_048_576
}

/** Runs agents beside a server that takes requests and never answers. */
export async function fill({ kind, protocol, characters, runs }: Filling): Promise<Filled> {
  const server = createServer((request) => request.resume())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`
  const target = { url, content: 'full' as const, maxQueue: 100_000 }
  const telemetry = kind === 'otlp' ? { otlp: { ...target, protocol } } : { mlflow: target }
  const before = await played(characters, runs, { telemetry: { metrics: true } })
  const after = await played(characters, runs, { telemetry: { ...telemetry, metrics: true } })
  server.closeAllConnections()
  server.close()
  return { held: after.held - before.held, queued: after.queued, dropped: after.dropped }
}

/** What a runtime holds after so many runs, whose conversations are gone. */
async function played(characters: number, runs: number, options: RuntimeOptions): Promise<Filled> {
  const isExported = 'otlp' in (options.telemetry ?? {}) || 'mlflow' in (options.telemetry ?? {})
  const text = 'xyz '.repeat(characters / 4)
  const model = scriptedModel(() => text, { id: 'script/talker' })
  const agents = [defineAgent({ id: 'talker', instructions: 'Talk.', model })]
  const start = await megabytes()
  const runtime = createRuntime({ agents, report: () => {}, ...options })
  const done: string[] = []
  for (let run = 0; run < runs; run += 1) {
    const chat = runtime.conversation('talker')
    await chat.run('Go on.')
    done.push(chat.id)
    if (run % 50 === 49 || run === runs - 1) {
      // Their spans are made first: two for each run.
      const isMade = async () => {
        const { queued, dropped } = await figuresOf(runtime)
        return queued + dropped >= 2 * (run + 1)
      }
      while (isExported && !(await isMade())) await new Promise((resolve) => setTimeout(resolve, 5))
      for (const id of done.splice(0)) await runtime.deleteConversation(id)
    }
  }
  await new Promise((resolve) => setTimeout(resolve, 700))
  const held = (await megabytes()) - start
  const figures = await figuresOf(runtime)
  await runtime.close({ tracesWithinMs: 0 })
  return { held, ...figures }
}

async function figuresOf(runtime: Runtime): Promise<Omit<Filled, 'held'>> {
  const page = await runtime.metrics()
  const figure = (name: string) => Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(page)?.[1])
  return { queued: figure('witan_telemetry_queued'), dropped: figure('witan_telemetry_dropped_total') }
}
