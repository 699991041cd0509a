/** The loop of a client: send, let the handlers answer, send the answers. */
import type { Event, RunResult } from '@witan/protocol'
import type { ChatOptions, ChatRunOptions } from './chat.ts'
import { ClientError } from './error.ts'
import type { ActionResponse, Actions } from './handlers.ts'
import { followRun, isResult, type Reading, type RunReply, streamRun } from './stream.ts'
import { conversationSegment, type Transport } from './transport.ts'

/** The state of one conversation between its calls. */
export interface ChatState {
  readonly transport: Transport
  readonly agent: string
  readonly options: ChatOptions
  readonly actions: Actions
  id: string | null
  starting: Promise<string> | null
  lastSeq: number
}

/** One request of a run, with its own headers. */
interface Post {
  readonly body: Readonly<Record<string, unknown>>
  readonly headers?: Readonly<Record<string, string>>
}

/** The first request: a prompt, answers, or none because the run is only followed. */
export type FirstRequest = Post | { readonly runId: string }

/** How a request is sent. `streamed` is the only difference between reading a run and waiting for it. */
interface Manner {
  readonly streamed: boolean
  readonly options: ChatRunOptions
}

/** Sends the first request and every answer the handlers give, until the run ends or nothing is left to send [Rb50]. */
export async function* drive(
  state: ChatState,
  first: FirstRequest,
  manner: Manner,
): AsyncGenerator<Event, RunResult, undefined> {
  const { signal, verbose = false, onDisconnect } = manner.options
  const conversationId = idOf(state)
  const reading: Reading = { conversationId, verbose, signal, lastSeq: state.lastSeq }
  const constant = { verbose, ...(onDisconnect ? { onDisconnect } : {}) }
  let request = first
  for (;;) {
    const isFollowed = 'runId' in request
    const result: RunResult =
      'runId' in request
        ? yield* followRun(state.transport, reading, request.runId)
        : yield* send(state, reading, { ...request, body: { ...request.body, ...constant }, streamed: manner.streamed })
    state.lastSeq = Math.max(state.lastSeq, reading.lastSeq)
    const { responses, isStale } = await state.actions.answer(result, signal)
    if (responses.length > 0) request = { body: responseBody(responses) }
    else if (isStale && !isFollowed) request = { runId: result.runId }
    else return result
  }
}

/** Posts one request; its answers count as delivered once the server has accepted the request. */
async function* send(
  state: ChatState,
  reading: Reading,
  { streamed, ...post }: Post & { readonly streamed: boolean },
): AsyncGenerator<Event, RunResult, undefined> {
  const path = `/api/v1/conversations/${conversationSegment(reading.conversationId)}/runs`
  const reply: RunReply = streamed
    ? yield* streamRun(state.transport, reading, post)
    : await state.transport.json('POST', path, { ...post, signal: reading.signal })
  if (Array.isArray(post.body.actionResponses)) state.actions.taken(post.body.actionResponses)
  return isResult(reply) ? reply : yield* followRun(state.transport, reading, reply.runId)
}

/** The request that answers open actions. */
export function responseBody(actionResponses: readonly ActionResponse[]): Readonly<Record<string, unknown>> {
  return { actionResponses }
}

/** The conversation's id, or an error before there is one [Rb34]. */
export function idOf(state: ChatState): string {
  if (state.id !== null) return state.id
  throw new ClientError('CONVERSATION_NOT_STARTED', `The conversation with "${state.agent}" has no id yet.`, {
    hint: 'The server sets the id with the first run. Or pass a complete id when you create the conversation.',
  })
}
