/** Servers at work on one store: replaced when they die, and the first that can answer is spoken to. */
import type { Doom } from './doom.ts'
import { createSupervisor, type Ground, type Server } from './supervisor.ts'

/** The death of a server. */
export interface Death {
  readonly at: number
  readonly how: NodeJS.Signals | number | null
}

/** Servers over one store. */
export interface Crew {
  readonly servers: readonly Server[]
  readonly deaths: readonly Death[]
  /** How long one of them took to start, at most, in ms: nobody goes on before that. */
  readonly slowestStartMs: number
  /** Has every server await these deaths, and every one that takes the place of a dead one. */
  expect(doom: Doom): Promise<void>
  /** Adds a server; when it dies another takes its place. */
  add(): Promise<Server>
  /** The server that is spoken to; waits for one. */
  first(): Promise<Server>
  /** Whoever starts from now on has this in its environment, too. */
  equip(env: Readonly<Record<string, string>>): void
  /** Whoever ends from now on is not replaced. */
  retire(): void
  /** From now on another is spoken to. */
  avoid(server: Server | null): void
  /** Everything that any of them printed. */
  said(): readonly string[]
  close(): Promise<void>
}

/** Opens so many servers. */
export async function openCrew(
  ground: Ground,
  { servers: wanted, env = {} }: { readonly servers: number; readonly env?: Readonly<Record<string, string>> },
): Promise<Crew> {
  const supervisor = await createSupervisor(ground)
  const servers: Server[] = []
  const deaths: Death[] = []
  const state = { isClosing: false, avoided: null as Server | null, doom: null as Doom | null, slowestStartMs: 0, env }
  const add = async (): Promise<Server> => {
    const { doom } = state
    const from = performance.now()
    const server = await supervisor.start({ ...(doom === null ? {} : { doom }), env: state.env })
    for (let told = doom; state.doom !== null && told !== state.doom; ) {
      told = state.doom // it was told to all others while this one started
      await server.expect(told)
    }
    state.slowestStartMs = Math.max(state.slowestStartMs, Math.round(performance.now() - from))
    if (!server.isGone) servers.push(server)
    void server.gone.then(async (how) => {
      const at = servers.indexOf(server)
      if (at >= 0) servers.splice(at, 1)
      deaths.push({ at: server.goneAt, how })
      if (!state.isClosing) await add()
    })
    return server
  }
  const speaker = (): Server | undefined => servers.find((one) => one !== state.avoided)
  for (let count = 0; count < wanted; count += 1) await add()
  return {
    get servers() {
      const first = speaker()
      return first === undefined ? [] : [first, ...servers.filter((one) => one !== first)]
    },
    deaths,
    get slowestStartMs() {
      return state.slowestStartMs
    },
    add,
    async expect(doom) {
      state.doom = doom
      await Promise.all(servers.map((one) => one.expect(doom)))
    },
    async first() {
      for (;;) {
        const server = speaker()
        if (server !== undefined) return server
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    },
    equip: (more) => {
      state.env = { ...env, ...more }
    },
    retire: () => {
      state.isClosing = true
    },
    avoid: (server) => {
      state.avoided = server
    },
    said: () => supervisor.said(),
    async close() {
      state.isClosing = true
      await supervisor.close()
    },
  }
}
