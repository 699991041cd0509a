/** Three logical workers on one store in memory, in one process: who goes on when is the scheduler's to say, and so a seed is a story. */
import { createRuntime, memoryStore, type Model, type Store } from '@witan/core'
import { type Ids, scriptedModel } from '@witan/core/testing'
import { emptyEvidence, type Evidence, readStored } from '../../faults/rig/evidence.ts'
import { newHistory } from '../../faults/rig/history.ts'
import { memoryLedger } from '../../faults/rig/ledger.ts'
import { worldAgents, worldKnowledge, worldScript, worldTools, zoo } from '../../faults/rig/world.ts'
import { answer, cancel, cancelTask, say } from './clients.ts'
import { Gate, gatedStore, SimulatedTime } from './gate.ts'
import { conversation, type Scene, type Simulator, type Tally, type Worker } from './scene.ts'

/** The lease of simulated workers. */
export const simulatedLeaseMs = 3_000

/** A simulation from its first worker to its evidence. `place` is the worker that something goes to. */
export interface Simulation {
  readonly tally: Tally
  /** Opens its first workers: what they do for that is no story. */
  open(): Promise<void>
  say(place: number, plan: string): void
  answer(place: number): void
  cancel(place: number): void
  cancelTask(place: number): void
  /** The worker is gone for good, and another takes its place. */
  crash(place: number): void
  freeze(place: number): void
  /** It goes on where it was, and does not know how long it stood. */
  thaw(place: number): void
  advance(ms: number): void
  steps(most: number): Promise<void>
  /** No more faults: everybody goes on until all is at rest, or time enough has passed for that. */
  heal(): Promise<void>
  /** What the checker looks at. */
  evidence(): Promise<Evidence>
  /** Nothing of it goes on any more. */
  end(): void
}

const places = 3
const enough = 20_000

/** Sets up a story. */
export function createSimulation(simulator: Simulator): Simulation {
  const time = new SimulatedTime()
  const tally: Tally = { crashes: 0, freezes: 0, thaws: 0, fenced: 0, recovered: 0 }
  const [ledger, history] = [memoryLedger(), newHistory()]
  const root = memoryStore({ now: time.now })
  const scene: Scene = { simulator, time, root, ledger, workers: [], history, tally, made: 0, said: 0 }
  for (let place = 0; place < places; place += 1) scene.workers.push(makeWorker(scene))
  const at = (place: number): Worker => scene.workers[place % places] as Worker
  return {
    tally,
    open: () => steps(scene, enough),
    say: (place, plan) => say(scene, at(place), plan),
    answer: (place) => answer(scene, at(place)),
    cancel: (place) => cancel(scene, at(place)),
    cancelTask: (place) => cancelTask(scene, at(place)),
    crash(place) {
      at(place).gate.die()
      tally.crashes += 1
      scene.workers[place % places] = makeWorker(scene)
    },
    freeze(place) {
      at(place).gate.freeze()
      tally.freezes += 1
    },
    thaw: (place) => thaw(scene, at(place)),
    advance: (ms) => time.advance(ms),
    steps: (most) => steps(scene, most),
    heal: () => heal(scene),
    evidence: () => evidenceOf(scene),
    end() {
      for (const { gate } of scene.workers) gate.die()
    },
  }
}

function makeWorker(scene: Scene): Worker {
  scene.made += 1
  const name = `w${scene.made}`
  const gate = new Gate(name, scene.simulator.turns)
  const store = counting(memoryStore({ beside: scene.root }), scene.tally)
  const runtime = createRuntime({
    store: gatedStore(store, gate),
    clock: scene.time.clockOf(gate, scene.made % places === 2 ? scene.simulator.skewMs : 0),
    ids: idsOf(name),
    random: () => 0.5,
    leaseMs: simulatedLeaseMs,
    models: { 'play/model': gatedModel(gate) },
    agents: [...worldAgents],
    knowledge: [worldKnowledge],
    tools: [
      ...worldTools(async (deed) => {
        await gate.pass(`does ${deed.tool}`)
        scene.ledger.perform(deed)
        await gate.pass(`did ${deed.tool}`)
      }, zoo),
    ],
    retry: { tries: 1 },
    // What a dying worker reports is no trouble of the others; what comes of it is checked.
    report: () => {},
  })
  return { gate, runtime }
}

async function steps({ simulator }: Scene, most: number): Promise<void> {
  for (let taken = 0; taken < most && simulator.count() > 0; taken += 1) await simulator.step()
}

function thaw({ tally, time }: Scene, { gate }: Worker): void {
  if (!gate.isFrozen) return
  gate.thaw()
  tally.thaws += 1
  time.ring()
}

async function heal(scene: Scene): Promise<void> {
  for (const worker of scene.workers) thaw(scene, worker)
  // What stood still goes on first.
  await new Promise((resolve) => setImmediate(resolve))
  for (let round = 0; round < 60; round += 1) {
    await steps(scene, enough)
    if (await isAtRest(scene)) return
    scene.time.advance(simulatedLeaseMs / 3 + 1)
  }
}

async function isAtRest({ root }: Scene): Promise<boolean> {
  const jobs = await root.listJobs('default', conversation, { live: true })
  return jobs.every(({ status, wake }) => status === 'waiting' && !wake)
}

async function evidenceOf({ root, tally, history, ledger, said }: Scene): Promise<Evidence> {
  const stored = await readStored(root, 'default', conversation)
  const isRecovery = ({ type, body }: (typeof stored.entries)[number]): boolean =>
    type === 'notice' && 'code' in body && body.code === 'RUN_RECOVERED'
  tally.recovered += stored.entries.filter(isRecovery).length
  const evidence = emptyEvidence(history)
  return {
    ...evidence,
    ledger: ledger.read(),
    // Everything said is tried; what comes of it is the scheduler's to say.
    faults: { intended: said, fired: said },
    conversations: [stored],
    // Time may jump between a cancel and the next turn of whoever must hear of it.
    bounds: { ...evidence.bounds, graceMs: Number.POSITIVE_INFINITY },
  }
}

/** The play's model; a reply takes its turn. */
function gatedModel(gate: Gate): Model {
  const model = scriptedModel(worldScript)
  return {
    id: model.id,
    async *stream(request, options) {
      await gate.pass('asks its model')
      yield* model.stream(request, options)
    },
  }
}

/** Counts the appends that were refused as `fenced`: late writes that got nowhere. */
function counting(store: Store, tally: Tally): Store {
  return new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target)
      if (name !== 'append' || typeof member !== 'function')
        return typeof member === 'function' ? member.bind(target) : member
      return async (append: Parameters<Store['append']>[0]) => {
        const result = await target.append(append)
        if (!result.ok && result.reason === 'fenced') tally.fenced += 1
        return result
      }
    },
  })
}

/** Ids that a seed gives again. */
function idsOf(name: string): Ids {
  let count = 0
  const next = (): string => String(++count)
  const number = Number(name.slice(1))
  return {
    append: () => -(number * 1_000_000 + ++count),
    call: () => `c_${name}_${next()}`,
    interruption: () => `i_${name}_${next()}`,
    conversation: () => `${name}-${next()}`,
    owner: () => name,
  }
}
