/** What happens in a simulated story: a list of commands, each followed by some steps of whoever the scheduler picks. */
import fc from 'fast-check'
import { type Simulation, simulatedLeaseMs } from './simulation.ts'

/** One command; `place` is the worker it goes to, `steps` how many turns are taken after it. */
export interface Command {
  readonly kind: 'say' | 'answer' | 'cancel' | 'cancelTask' | 'crash' | 'freeze' | 'thaw' | 'tick' | 'expire'
  readonly place: number
  readonly plan: string
  readonly steps: number
}

const plans = [
  'pay',
  'read+book',
  'pay book',
  'leaf:act',
  'mid:leaf:act pay',
  'leaf:book+mid:pay',
  'leaf:act+leaf:act',
  'clerk:book',
  'clerk:act pay',
] as const

/** Tasks whose caller works in the background itself, or ends at about the same time. */
const plansOfTasks = [
  'mid:scribe:read',
  'mid:scribe:read,scribe:book pay',
  'mid:scribe:act,read',
  'clerk:scribe:read',
  'clerk:scribe:book,pay',
  'clerk:scribe:act,read',
  'clerk:act,scribe:read',
  'clerk:scribe:read+mid:scribe:book,read',
] as const

const weights: readonly (readonly [number, Command['kind']])[] = [
  [6, 'say'],
  [5, 'answer'],
  [1, 'cancel'],
  [3, 'crash'],
  [3, 'freeze'],
  [3, 'thaw'],
  [3, 'tick'],
  [3, 'expire'],
]

type Weights = typeof weights

/** Stories: they begin with something said. */
function storiesOf(said: readonly string[], chances: Weights): fc.Arbitrary<readonly Command[]> {
  const command: fc.Arbitrary<Command> = fc.record({
    kind: fc.oneof(...chances.map(([weight, kind]) => ({ weight, arbitrary: fc.constant(kind) }))),
    place: fc.nat(2),
    plan: fc.constantFrom(...said),
    steps: fc.nat(30),
  })
  return fc
    .tuple(fc.constantFrom(...said), fc.nat(30), fc.array(command, { minLength: 4, maxLength: 24 }))
    .map(([plan, steps, rest]) => [{ kind: 'say', place: 0, plan, steps }, ...rest])
}

/** What stories there are: of everything, and of tasks of tasks, which are cancelled, too. */
export const stories = {
  all: storiesOf(plans, weights),
  tasks: storiesOf(plansOfTasks, [...weights, [2, 'cancelTask']]),
} as const

/** Carries out one command and takes its steps. */
export async function carryOut(simulation: Simulation, { kind: what, place, plan, steps }: Command): Promise<void> {
  if (what === 'say') simulation.say(place, plan)
  else if (what === 'answer') simulation.answer(place)
  else if (what === 'cancel') simulation.cancel(place)
  else if (what === 'cancelTask') simulation.cancelTask(place)
  else if (what === 'crash') simulation.crash(place)
  else if (what === 'freeze') simulation.freeze(place)
  else if (what === 'thaw') simulation.thaw(place)
  else simulation.advance(what === 'tick' ? simulatedLeaseMs / 3 + 1 : simulatedLeaseMs + 1)
  await simulation.steps(steps)
}
