/** The conversation object of the client. */
import type { GivenParameter, Interruption, Prompt, RunRequest, RunResult } from '@witan/protocol'
import type { ParticipantRequest } from '@witan/protocol/schemas'
import type { ActionHandler, ActionReceiver, HandlerErrors } from './handlers.ts'
import type { RunStream } from './stream.ts'

/** How a conversation starts. */
export interface ChatOptions {
  /** A full id (`chats/7`) continues that conversation or starts it; for a prefix (`chats/`, the default) the server generates the rest. */
  readonly id?: string
  readonly parameters?: Readonly<Record<string, GivenParameter>>
  /** The people who take part: ids from its agents' `users`, or people with their names; everybody whom the agents name if omitted. */
  readonly users?: readonly (string | ParticipantRequest)[]
  readonly maxModelIterationsPerCall?: number
  /** Counted from its creation [Rb35]; an existing conversation keeps its own expiry. */
  readonly expiresInSeconds?: number
  /** `send` by default [Rb47]. */
  readonly handlerErrors?: HandlerErrors
}

/** The options of one run, named as in the API. */
export interface ChatRunOptions
  extends Partial<
    Pick<
      RunRequest,
      | 'artificialActions'
      | 'author'
      | 'cancelPendingActions'
      | 'ifLastSeq'
      | 'onActive'
      | 'onDisconnect'
      | 'toolMode'
      | 'verbose'
    >
  > {
  /** Stops waiting; the run itself goes on unless `onDisconnect` is `cancel`. */
  readonly signal?: AbortSignal
  /** Names the message (1 to 255 characters): the same message sent again under the same key is taken once. Default: a new key for each call. */
  readonly idempotencyKey?: string
}

/** A run's result whose `output` has the type of the agent's output schema; null if the run has no output. */
export type ChatResult<Output = unknown> = Omit<RunResult, 'output'> & { readonly output: Output | null }

/** One conversation with one root agent. Nothing is sent before the first run. */
export interface Chat {
  readonly agent: string
  /** The conversation's id. Throws if read before the server has assigned it [Rb34]. */
  readonly id: string
  /** Answers every action of that path with what `fn` returns. A second registration of a path is an error. */
  handle<Args = Record<string, unknown>, Result = unknown>(
    path: string,
    fn: ActionHandler<Args, Result>,
    options?: { readonly handlerErrors?: HandlerErrors },
  ): Chat
  /** Calls `fn` for every action of that path and leaves it open for `respond`, here or in another client [Rb46]. */
  receive<Args = Record<string, unknown>>(path: string, fn: ActionReceiver<Args>): Chat
  /** Calls `fn` for actions without a handler or receiver, and leaves them open. Without it such an action is an error [Rb48]. */
  onUnhandledAction(fn: ActionReceiver<Record<string, unknown>>): Chat
  /** Sends a prompt and answers actions until the run ends or waits for something without a handler. A failed run is a result, not an error. */
  run<Output = unknown>(prompt: Prompt, options?: ChatRunOptions): Promise<ChatResult<Output>>
  /** The same run, read as events. */
  stream<Output = unknown>(prompt: Prompt, options?: ChatRunOptions): RunStream<ChatResult<Output>>
  /** Answers one open action and continues like `run`. */
  respond<Output = unknown>(id: string, value: unknown, options?: ChatRunOptions): Promise<ChatResult<Output>>
  /** Continues the active run, or returns the last result. */
  resume<Output = unknown>(options?: { readonly signal?: AbortSignal }): Promise<ChatResult<Output>>
  /** The actions that are open now. Throws before the conversation has an id [Rb48]. */
  requiredActions(): Promise<readonly Interruption[]>
}
