/**
 * A process that runs several agents, each on its own store. Each asks its model once; the tools that the reply calls never return. The process
 * prints "held" once all these calls are stored. Its argument is a list of `HeldLoop`, as JSON.
 */
import { createRuntime, postgresStore, sqliteStore, type Store } from '@witan/core'
import { prompt, ways, weatherAgent } from '../../support/vendors/weather.ts'

/** Where a store is. */
export type Place = { readonly file: string } | { readonly url: string; readonly schema: string }

/** The store, the vendor and the model server of one agent. */
export interface HeldLoop {
  readonly place: Place
  /** The name of a dialect. */
  readonly way: string
  readonly baseUrl: string
}

/** Short, as the next worker waits for it to run out. */
export const leaseMs = 2_000

export function storeAt(place: Place): Store {
  return 'file' in place ? sqliteStore(place) : postgresStore(place)
}

/** A runtime of the loop. */
export function openLoop({ place, way, baseUrl }: HeldLoop, look: (city: string) => Promise<string>) {
  const model = ways.find(({ dialect }) => dialect.name === way)?.model(baseUrl)
  if (model === undefined) throw new Error(`there is no way ${way}`)
  const { agent, tool } = weatherAgent(model, look)
  return createRuntime({ store: storeAt(place), leaseMs, agents: [agent], tools: [tool], retry: { tries: 1 } })
}

async function hold(loop: HeldLoop): Promise<void> {
  const runtime = openLoop(loop, () => new Promise(() => {}))
  await runtime.start({ agent: 'root', id: 'chats/1', prompt })
  let begun = 0
  for await (const event of runtime.followEvents('chats/1', { verbose: true, signal: new AbortController().signal })) {
    if (event.type === 'start' && event.kind === 'tool') begun += 1
    if (begun === 2) return
  }
}

if (import.meta.main) {
  await Promise.all((JSON.parse(process.argv[2] ?? '[]') as readonly HeldLoop[]).map(hold))
  console.log('held')
  setInterval(() => {}, 60_000)
}
