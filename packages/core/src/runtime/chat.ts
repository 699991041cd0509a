/** A conversation driven by library code: handlers for actions, and a run that calls them in a loop. */
import {
  conversationIdPattern,
  type Interruption,
  isWitanError,
  type Prompt,
  type RunResult,
  WitanError,
} from '@witan/protocol'
import { ownCopy } from '../identity/frozen.ts'
import { refuseMixedInput } from './body.ts'
import type { AcceptedRun, Chat, Witan } from './contract.ts'

type Handler = (args: Record<string, unknown>) => unknown

/** A chat with `agent`. Its first run creates the conversation. */
export function createChat(witan: Witan, agent: string, options: Readonly<Record<string, unknown>>): Chat {
  const handlers = new Map<string, Handler>()
  const named = typeof options['id'] === 'string' && conversationIdPattern.test(options['id']) ? options['id'] : null
  let id: string | null = null
  const first = async (prompt: Prompt): Promise<AcceptedRun> => {
    refuseMixedInput({ prompt, actionResponses: [], answers: [], artificialActions: [] })
    const opened = await witan.start({ ...options, agent, prompt })
    id = opened.id
    return opened.run as AcceptedRun
  }
  const settle = async (initial: RunResult): Promise<RunResult> => {
    let result = initial
    for (let open = handled(result, handlers); open.length > 0; open = handled(result, handlers)) {
      const actionResponses = await Promise.all(open.map(respond))
      result = await (await witan.run(result.conversationId, { actionResponses })).result
    }
    return result
  }
  const chat: Chat = {
    get id() {
      const known = id ?? named
      if (known === null)
        throw new WitanError('NOT_FOUND', 'The conversation has no id before its first run.', {
          hint: 'Call run first, or pass a complete id in the options.',
        })
      return known
    },
    handle(path, handler) {
      if (path.includes('*'))
        throw new WitanError('ID_INVALID', `\`${path.slice(0, 200)}\` is not the path of one action.`, {
          path: 'path',
          hint: 'Write the full path, such as `profile/ChangeName`; `check` lists the paths. Only the client supports wildcards.',
        })
      if (handlers.has(path))
        throw new WitanError('NAME_TAKEN', `\`${path}\` has a handler already.`, {
          hint: 'Register one handler per path.',
        })
      handlers.set(path, handler)
      return chat
    },
    run: async (prompt) => settle(await (id === null ? await first(prompt) : await witan.run(id, { prompt })).result),
    async resume() {
      const known = id ?? named
      if (known === null) return null
      const live = await witan.liveRun(known).catch(nothingThere)
      id = live === null ? id : known
      return live === null ? null : settle(await live.result)
    },
  }
  return chat
}

/** A conversation that was never created has no live run to resume. */
function nothingThere(error: unknown): null {
  if (isWitanError(error) && error.code === 'NOT_FOUND') return null
  throw error
}

interface Handled {
  readonly interruption: Extract<Interruption, { kind: 'action' }>
  readonly handler: Handler
}

/** The actions that have a handler; empty if one lacks it, so that the waiting result is returned. */
function handled(result: RunResult, handlers: ReadonlyMap<string, Handler>): readonly Handled[] {
  if (result.status !== 'waiting') return []
  return result.interruptions.flatMap((interruption) => {
    if (interruption.kind !== 'action') return []
    const handler = handlers.get(interruption.path)
    return handler === undefined ? [] : [{ interruption, handler }]
  })
}

/** What a handler throws goes to the model as text [Rb47]. */
async function respond({ interruption, handler }: Handled): Promise<{ id: string; response: unknown }> {
  try {
    return { id: interruption.id, response: (await handler(ownCopy(interruption.arguments))) ?? null }
  } catch (error) {
    return { id: interruption.id, response: { error: error instanceof Error ? error.message : 'the handler failed' } }
  }
}
