/** Makes conversations: handlers, runs, streams. */
import type { Conversation, Event, Prompt, RunLine, RunResult, StartedConversation } from '@witan/protocol'
import { conversationIdPattern } from '@witan/protocol'
import type { Chat, ChatOptions, ChatResult, ChatRunOptions } from './chat.ts'
import { type ChatState, drive, idOf, responseBody, type FirstRequest } from './drive.ts'
import { ClientError } from './error.ts'
import {
  type ActionHandler,
  type ActionReceiver,
  type ActionRequest,
  createActions,
  type HandlerErrors,
} from './handlers.ts'
import { eachItem, type Page, type PageQuery } from './page.ts'
import { toRunStream } from './stream.ts'
import { conversationSegment, keyHeader, type Transport } from './transport.ts'
import { refuseUnknown } from './options.ts'

const optionNames = [
  'id',
  'parameters',
  'users',
  'maxModelIterationsPerCall',
  'expiresInSeconds',
  'handlerErrors',
] satisfies (keyof ChatOptions)[]

/** Makes a conversation. */
export function createChat(transport: Transport, agent: string, options: ChatOptions = {}): Chat {
  const known = options.id !== undefined && conversationIdPattern.test(options.id) ? options.id : null
  refuseUnknown('a conversation', options, optionNames)
  const state: ChatState = {
    transport,
    agent,
    options,
    actions: createActions(agent),
    id: known,
    starting: null,
    lastSeq: 0,
  }
  const waited = async <Output>(first: FirstRequest, given: ChatRunOptions) =>
    (await lastOf(drive(state, first, { streamed: false, options: given }))) as ChatResult<Output>
  const chat: Chat = {
    agent,
    get id() {
      return idOf(state)
    },
    ...registrations(state, () => chat),
    run: async <Output>(prompt: Prompt, given: ChatRunOptions = {}) => {
      await start(state, given.signal)
      return await waited<Output>(promptTurn(prompt, given), given)
    },
    stream: <Output>(prompt: Prompt, given: ChatRunOptions = {}) => {
      async function* run(): AsyncGenerator<Event, RunResult, undefined> {
        await start(state, given.signal)
        return yield* drive(state, promptTurn(prompt, given), { streamed: true, options: given })
      }
      return toRunStream<ChatResult<Output>>(run())
    },
    respond: async <Output>(id: string, value: unknown, given: ChatRunOptions = {}) =>
      await waited<Output>({ body: responseBody([{ id, response: value ?? null }]) }, given),
    resume: async <Output>(given: { readonly signal?: AbortSignal } = {}) =>
      await waited<Output>({ runId: await activeRun(state, given.signal) }, given),
    requiredActions: async () => {
      const { interruptions } = await readConversation(state)
      return interruptions.filter((one) => one.kind === 'action')
    },
  }
  return chat
}

function registrations(state: ChatState, self: () => Chat): Pick<Chat, 'handle' | 'receive' | 'onUnhandledAction'> {
  const { actions, options } = state
  const handlerErrors = options.handlerErrors ?? 'send'
  return {
    handle: <Args, Result>(
      path: string,
      fn: ActionHandler<Args, Result>,
      own: { readonly handlerErrors?: HandlerErrors } = {},
    ) => {
      const call = (request: ActionRequest) => fn(request.arguments as Args, request as ActionRequest<Args>)
      actions.register(path, { answers: true, handlerErrors: own.handlerErrors ?? handlerErrors, call })
      return self()
    },
    receive: <Args>(path: string, fn: ActionReceiver<Args>) => {
      const call = (request: ActionRequest) => fn(request as ActionRequest<Args>)
      actions.register(path, { answers: false, handlerErrors, call })
      return self()
    },
    onUnhandledAction: (fn) => {
      actions.setUnhandled({ answers: false, handlerErrors, call: fn })
      return self()
    },
  }
}

function promptTurn(prompt: Prompt, options: ChatRunOptions): FirstRequest {
  const { signal: _signal, verbose: _verbose, onDisconnect: _onDisconnect, idempotencyKey, ...rest } = options
  return { body: { prompt, ...rest }, headers: keyHeader(idempotencyKey) }
}

/** Starts the conversation at the server, once for this object; a failure may be tried again. */
async function start(state: ChatState, signal: AbortSignal | undefined): Promise<void> {
  const { handlerErrors: _handlerErrors, ...options } = state.options
  state.starting ??= state.transport
    .json<StartedConversation>('POST', '/api/v1/conversations', { body: { agent: state.agent, ...options }, signal })
    .then(({ id }) => id)
  try {
    state.id = await state.starting
  } catch (error) {
    state.starting = null
    throw error
  }
}

async function readConversation(state: ChatState, signal?: AbortSignal): Promise<Conversation> {
  return await state.transport.json('GET', `/api/v1/conversations/${conversationSegment(idOf(state))}`, { signal })
}

async function activeRun(state: ChatState, signal: AbortSignal | undefined): Promise<string> {
  const { id, activeRunId, runs, runCount, lastSeq } = await readConversation(state, signal)
  state.lastSeq = Math.max(state.lastSeq, lastSeq)
  const isShown = ({ hidden }: RunLine) => !hidden
  const earlier = () => (runCount > runs.length ? latest(state, isShown, signal) : undefined)
  const runId = activeRunId ?? (runs.findLast(isShown) ?? (await earlier()))?.runId
  if (runId !== undefined) return runId
  throw new ClientError('CONVERSATION_NOT_STARTED', `The conversation "${id}" has no run to resume.`, {
    hint: 'Send a prompt with `run` or `stream`.',
  })
}

/** The latest matching run of all pages: a conversation itself lists only the latest ones. */
async function latest(
  { transport, id }: ChatState,
  isWanted: (run: RunLine) => boolean,
  signal: AbortSignal | undefined,
): Promise<RunLine | undefined> {
  const path = `/api/v1/conversations/${conversationSegment(id ?? '')}/runs`
  const read = (query: PageQuery) => transport.json<Page<RunLine>>('GET', path, { query: { ...query }, signal })
  for await (const run of eachItem(read)) if (isWanted(run)) return run
  return undefined
}

async function lastOf(run: AsyncGenerator<Event, RunResult, undefined>): Promise<RunResult> {
  for (;;) {
    const step = await run.next()
    if (step.done) return step.value
  }
}
