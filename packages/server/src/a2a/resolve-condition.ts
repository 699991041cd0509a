/** A caller resolves a condition of its task: by the state that it was sent, once. Any other state changes nothing [E65]. */
import type { Witan } from '@witan/core'
import { openState, type OwnRun, type PublishedAgent } from '@witan/core/tooling'
import { isWitanError } from '@witan/protocol'
import type { AppOptions } from '../app-options.ts'
import { A2aError } from './a2a-error.ts'
import { isPolicy } from './conditions.ts'
import type { Caller } from './credential.ts'
import type { GivenResolution } from './message.ts'

/** Thrown for a state that is not valid: the reply is a message of its own. Nothing was stored. */
export class StateRefused extends A2aError {
  constructor() {
    super('UNSUPPORTED_OPERATION', 'This state is not valid here.')
  }
}

interface Resolving {
  readonly given: GivenResolution
  readonly caller: Caller
  readonly agent: PublishedAgent
  readonly options: Pick<AppOptions, 'runtime'>
  readonly witan: Witan
  /** The task that the message names, or the one at work in its context; null if it names neither. */
  readonly live: OwnRun | null
}

type Noting = NonNullable<Parameters<Witan['run']>[2]>

/** Resolves it in the run that demands it. Throws `StateRefused`. */
export async function resolveCondition(resolving: Resolving, noting: Noting): ReturnType<Witan['run']> {
  const { given, witan } = resolving
  const { run, id } = await demanding(resolving)
  try {
    const answers = [{ id, answer: { resolution: given.resolution } }]
    return await witan.run(run.conversationId, { answers }, noting)
  } catch (error) {
    // Somebody settled it at the same moment.
    if (isWitanError(error) && settled.has(error.code)) throw new StateRefused()
    throw error
  }
}

const settled: ReadonlySet<string> = new Set([
  'ACTION_NOT_FOUND',
  'ALREADY_ANSWERED',
  'QUESTION_EXPIRED',
  'RUN_FINISHED',
])

/** The run that a state is of, and the interruption that it resolves. */
async function demanding({ given, caller, agent, options, witan, live }: Resolving): Promise<{
  readonly run: OwnRun
  readonly id: string
}> {
  const { runtime } = options
  const state = openState(given.state, await runtime.signingKeys.list())
  const isValid =
    state !== null &&
    !caller.isAnonymous &&
    state.caller === caller.principal.id &&
    state.issuer === agent.address.text &&
    state.task === (live?.runId ?? state.task) &&
    state.until > runtime.keyLookup.now()
  if (!isValid) throw new StateRefused()
  // Its run is read last: whether it still asks is known only then.
  const run = await witan.ownRuns.get(state.task).catch(notFound)
  const asked = run.asked.find(({ id }) => id === state.interruption)
  if (asked === undefined || !isPolicy(asked)) throw new StateRefused()
  return { run, id: asked.id }
}

function notFound(error: unknown): never {
  throw isWitanError(error) && error.code === 'NOT_FOUND' ? new StateRefused() : error
}
