/** Witan as it is used: a runtime with the agents of a scenario on one of the stores. */
import { join } from 'node:path'
import {
  createRuntime,
  defineAgent,
  defineTool,
  memoryStore,
  openaiCompatible,
  type Runtime,
  type RuntimeOptions,
  sqliteStore,
  type Store,
} from '@witan/core'
import { z } from 'zod'
import { instantModel, type Latency } from './instant-model.ts'
import { instructionsOf, lookUp, type Role, type Scenario } from './scenario.ts'
import type { Growing, OnDelta, Subject } from './subject.ts'

/** The stores that are measured: `sqlite` survives a power cut, `normal` is SQLite that survives the end of the process. */
export const storeNames = ['memory', 'sqlite', 'normal'] as const
export type StoreName = (typeof storeNames)[number]

/** Where a subject keeps its things, and how long its models take. */
export interface Place {
  readonly store: StoreName
  /** An empty folder of its own. */
  readonly folder: string
  readonly latency: Latency
  /** The address of the server that has a model for each role; without it models are functions that answer at once. */
  readonly models?: string
  /** Where traces go; nowhere by default. */
  readonly telemetry?: RuntimeOptions['telemetry'] & object
  readonly report?: (error: unknown) => void
}

/** The tool of the scenarios. */
export const lookUpTool = defineTool({
  name: 'lookup',
  description: 'Look up the current weather for a city in the given unit.',
  parameters: z.object({ city: z.string(), unit: z.string() }),
  effect: 'none',
  execute: ({ city, unit }) => lookUp(city, unit),
})

/** The edges to the agents that a role asks. */
export function subAgentsOf({ subAgents }: Role): readonly { readonly agent: string; readonly description: string }[] {
  return subAgents.map((agent) => ({ agent, description: `Sub-agent ${agent}: give it one task.` }))
}

/** Builds a scenario on Witan, on this store, which is closed with it. Nothing is dropped between runs. */
export async function witanOn(scenario: Scenario, store: Store, latency: Latency): Promise<Subject> {
  const runtime = runtimeOf(scenario, store, { latency })
  await runtime.ready
  return subjectOf(
    () => runtime,
    async () => {},
  )
}

/** Builds a scenario on Witan. */
export async function witan(scenario: Scenario, place: Place): Promise<Subject> {
  const make = () => runtimeOf(scenario, storeOf(place.store, place.folder), place)
  let runtime = make()
  await runtime.ready
  return subjectOf(
    () => runtime,
    async () => {
      if (place.store !== 'memory') return
      await runtime.close()
      runtime = make()
      await runtime.ready
    },
  )
}

function subjectOf(runtime: () => Runtime, refresh: () => Promise<void>): Subject {
  return {
    run: (prompt) => runOnce(runtime(), prompt),
    stream: (prompt, onDelta) => streamOnce(runtime(), prompt, onDelta),
    grow: () => growing(runtime()),
    refresh,
    close: () => runtime().close(),
  }
}

function runtimeOf(
  scenario: Scenario,
  store: Store,
  { latency, models, telemetry = {}, report }: Pick<Place, 'latency' | 'models' | 'telemetry' | 'report'>,
): Runtime {
  const agents = Object.entries(scenario.roles).map(([id, role]) =>
    role.parallel === undefined
      ? defineAgent({
          id,
          instructions: instructionsOf(id),
          model:
            models === undefined ? instantModel(id, role, latency) : openaiCompatible({ baseUrl: models, model: id }),
          tools: role.tool ? [lookUpTool] : [],
          transfers: role.target === undefined ? [] : [{ agent: role.target, description: 'Knows the weather.' }],
          subAgents: subAgentsOf(role),
        })
      : defineAgent({ id, workflow: { kind: 'parallel', agents: [...role.parallel] } }),
  )
  return createRuntime({ agents, store, telemetry, ...(report === undefined ? {} : { report }) })
}

function storeOf(name: StoreName, folder: string): Store {
  if (name === 'memory') return memoryStore()
  return sqliteStore({ file: join(folder, 'witan.db'), synchronous: name === 'normal' ? 'normal' : 'full' })
}

async function runOnce(runtime: Runtime, prompt: string): Promise<string> {
  const opened = await runtime.start({ agent: 'root', prompt })
  return textOf(await opened.run?.result)
}

/** The reader is there before the run, and reads everything of the tree until the root has ended. */
async function streamOnce(runtime: Runtime, prompt: string, onDelta: OnDelta): Promise<string> {
  const { id } = await runtime.start({ agent: 'root' })
  const stop = new AbortController()
  const read = async () => {
    for await (const event of runtime.followEvents(id, { verbose: true, signal: stop.signal })) {
      if (event.type === 'delta' && event.kind === 'agent') onDelta(event.content['text'] as string)
      else if (event.type === 'end' && event.kind === 'agent' && event.callId === event.rootCallId) return
    }
  }
  const reading = read()
  const { result } = await runtime.run(id, { prompt })
  const text = textOf(await result)
  await reading
  stop.abort()
  return text
}

function growing(runtime: Runtime): Growing {
  let id: string | null = null
  return {
    async turn(prompt) {
      if (id !== null) return textOf(await (await runtime.run(id, { prompt })).result)
      const opened = await runtime.start({ agent: 'root', prompt })
      id = opened.id
      return textOf(await opened.run?.result)
    },
  }
}

function textOf(result: { readonly status: string; readonly text: string } | undefined): string {
  if (result?.status !== 'completed') throw new Error(`the run ended as ${result?.status ?? 'nothing'}`)
  return result.text
}
