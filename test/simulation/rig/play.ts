/** Plays one story and says what is wrong with it. */
import type { Entry } from '@witan/protocol/entries'
import type fc from 'fast-check'
import { check, type Violation } from '../../faults/rig/checker.ts'
import { type Command, carryOut } from './commands.ts'
import type { Tally } from './scene.ts'
import { createSimulation } from './simulation.ts'

/** What came of a story. */
interface Played {
  readonly violations: readonly Violation[]
  readonly tally: Tally
  readonly entries: readonly Entry[]
}

/** Plays the commands on the interleaving that the scheduler gives. */
export async function play(scheduler: fc.Scheduler, commands: readonly Command[], skewMs = 0): Promise<Played> {
  const simulation = createSimulation({
    skewMs,
    turns: (label) => scheduler.schedule(Promise.resolve(), label),
    count: () => scheduler.count(),
    async step() {
      await scheduler.waitNext(1)
      // All that follows without waiting for anybody has then happened.
      await new Promise((resolve) => setImmediate(resolve))
    },
  })
  await simulation.open()
  for (const command of commands) await carryOut(simulation, command)
  await simulation.heal()
  const evidence = await simulation.evidence()
  simulation.end()
  const entries = evidence.conversations[0]?.entries ?? []
  return { violations: check(evidence), tally: simulation.tally, entries }
}
