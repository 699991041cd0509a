/** Handlers of actions: registration, wildcards, and the calls. */
import type { Interruption, RunResult } from '@witan/protocol'
import { ClientError } from './error.ts'

/** An open action as a handler sees it: the interruption, with its conversation and run. */
export interface ActionRequest<Args = Record<string, unknown>>
  extends Omit<Extract<Interruption, { kind: 'action' }>, 'arguments'> {
  readonly arguments: Args
  readonly runId: string
  readonly conversationId: string
  /** Aborts when the caller stops waiting for the run. */
  readonly signal: AbortSignal | undefined
}

/** Answers an action with its return value; `undefined` is sent as `null`. */
export type ActionHandler<Args, Result> = (args: Args, request: ActionRequest<Args>) => Result | Promise<Result>

/** Receives an action and leaves it open. */
export type ActionReceiver<Args> = (request: ActionRequest<Args>) => void | Promise<void>

/** Who gets an error that a handler throws: the model, or the caller of the run, and then the action stays open [Rb47]. */
export type HandlerErrors = 'send' | 'raise'

/** One answer, as a run takes it. */
export interface ActionResponse {
  readonly id: string
  readonly response: unknown
}

/** The function registered for a path. `answers` is false for a receiver. */
interface Registration {
  readonly answers: boolean
  readonly handlerErrors: HandlerErrors
  call(request: ActionRequest): unknown
}

/** The open actions of a result, after the handlers. */
interface Answers {
  readonly responses: readonly ActionResponse[]
  /** Whether an action that the result calls open has been answered meanwhile, so that the run is further than the result. */
  readonly isStale: boolean
}

/** The actions of one conversation. */
export interface Actions {
  register(path: string, registration: Registration): void
  setUnhandled(registration: Registration): void
  /** Calls the handler of every open action once, all in parallel [Rb50]. */
  answer(result: RunResult, signal: AbortSignal | undefined): Promise<Answers>
  /** Records that the server has accepted these answers. */
  taken(responses: readonly ActionResponse[]): void
}

/** Makes the actions of one conversation with `agent`. */
export function createActions(agent: string): Actions {
  const registered = new Map<string, Registration>()
  let unhandled: Registration | null = null
  const called = new Set<string>()
  const answered = new Set<string>()
  const ready = new Map<string, unknown>()

  function registrationOf(action: Interruption, conversationId: string): Registration {
    const found = match(registered, action.path) ?? unhandled
    if (found) return found
    const names = `action "${action.path}" of agent "${action.agent}" in conversation "${conversationId}" (root "${agent}")`
    throw new ClientError('ACTION_UNHANDLED', `Nothing handles the ${names}.`, {
      hint: `Register it with handle("${action.path}", …) or onUnhandledAction(…), then call resume().`,
    })
  }

  async function callOne(registration: Registration, request: ActionRequest): Promise<void> {
    try {
      const value = await registration.call(request)
      if (registration.answers) ready.set(request.id, value ?? null)
    } catch (error) {
      if (registration.handlerErrors === 'raise') {
        called.delete(request.id)
        throw error
      }
      ready.set(request.id, { error: describe(error) })
    }
  }

  return {
    register: (path, registration) => {
      checkPath(path)
      if (registered.has(path)) {
        throw new ClientError('HANDLER_EXISTS', `The path "${path}" has a handler already.`, {
          hint: 'Every path has one handler or receiver; a wildcard beside an exact path is allowed.',
        })
      }
      registered.set(path, registration)
    },
    setUnhandled: (registration) => {
      unhandled = registration
    },
    taken: (responses) => {
      for (const { id } of responses) {
        ready.delete(id)
        answered.add(id)
      }
    },
    answer: async (result, signal) => {
      if (result.status !== 'waiting') return { responses: [], isStale: false }
      const open = result.interruptions.filter(isOpenAction)
      const fresh = open.filter(({ id }) => !called.has(id) && !answered.has(id) && !ready.has(id))
      // Looks up all handlers before it calls any, so that an error here leaves no work half done.
      const calls = fresh.map((action) => ({ action, registration: registrationOf(action, result.conversationId) }))
      const place = { runId: result.runId, conversationId: result.conversationId, signal }
      for (const { id } of fresh) called.add(id)
      const outcomes = Promise.allSettled(
        calls.map(({ action, registration }) => callOne(registration, { ...action, ...place })),
      )
      for (const outcome of await untilAborted(outcomes, signal)) {
        if (outcome.status === 'rejected') throw outcome.reason
      }
      const responses = open.filter(({ id }) => ready.has(id) && !answered.has(id))
      return {
        responses: responses.map(({ id }) => ({ id, response: ready.get(id) })),
        isStale: open.some(({ id }) => answered.has(id)),
      }
    },
  }
}

function isOpenAction(one: Interruption): one is Extract<Interruption, { kind: 'action' }> {
  return one.kind === 'action' && one.state === 'open'
}

function checkPath(path: string): void {
  const parts = path.split('/')
  const stars = parts.filter((part) => part.includes('*'))
  const isAtOneEnd = stars.length === 1 && stars[0] === '*' && (parts[0] === '*' || parts.at(-1) === '*')
  if (parts.includes('') || (stars.length > 0 && !isAtOneEnd)) {
    throw new ClientError('HANDLER_PATH_INVALID', `"${path}" is not a path of an action.`, {
      hint: 'Write "Send", "sub-agent/Send", or a whole "*" segment at one end: "*/Send", "audit/*", "*".',
    })
  }
}

/** The exact path first, then the wildcard that fixes the most segments, then the one registered first. A `*` stands for one segment or more. */
function match(registered: ReadonlyMap<string, Registration>, path: string): Registration | undefined {
  const exact = registered.get(path)
  if (exact) return exact
  const depth = (pattern: string) => pattern.split('/').length
  const fitting = [...registered.keys()].filter((pattern) => fits(pattern, path))
  const [best] = fitting.sort((a, b) => depth(b) - depth(a))
  return best === undefined ? undefined : registered.get(best)
}

function fits(pattern: string, path: string): boolean {
  if (pattern === '*') return true
  if (pattern.startsWith('*/')) return path.endsWith(pattern.slice(1)) && path.length > pattern.length - 1
  if (pattern.endsWith('/*')) return path.startsWith(pattern.slice(0, -1)) && path.length > pattern.length - 1
  return false
}

/** The chain of causes as one text for a model: names and messages, no stacks. */
function describe(error: unknown): string {
  const parts: string[] = []
  let next = error
  while (next instanceof Error && parts.length < 8) {
    parts.push(`${next.name}: ${next.message}`)
    next = next.cause
  }
  if (parts.length === 0) return String(error)
  return parts.join(' < ')
}

async function untilAborted<Value>(value: Promise<Value>, signal: AbortSignal | undefined): Promise<Value> {
  if (!signal) return await value
  signal.throwIfAborted()
  let stop = () => {}
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
  })
  try {
    return await Promise.race([value, aborted])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
