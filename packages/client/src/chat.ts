/** What a conversation offers its client. */
import type { GivenParameter, Interruption, Prompt, RunRequest, RunResult } from '@witan/protocol'
import type { ActionHandler, ActionReceiver, HandlerErrors } from './handlers.ts'
import type { RunStream } from './stream.ts'

/** How a conversation starts. */
export interface ChatOptions {
  /** A whole id (`chats/7`) goes on with that conversation or starts it; a prefix (`chats/`, the default) lets the server finish it. */
  readonly id?: string
  readonly parameters?: Readonly<Record<string, GivenParameter>>
  /** Who takes part: ids of people whom its agents name; without it all of them. */
  readonly users?: readonly string[]
  readonly maxModelIterationsPerCall?: number
  /** From its creation on [Rb35]; a conversation that exists keeps its own. */
  readonly expiresInSeconds?: number
  /** `send` by default [Rb47]. */
  readonly handlerErrors?: HandlerErrors
}

/** How one run is sent; the words are those of the API. */
export interface ChatRunOptions
  extends Partial<
    Pick<
      RunRequest,
      'artificialActions' | 'cancelPendingActions' | 'ifLastSeq' | 'onActive' | 'onDisconnect' | 'verbose'
    >
  > {
  /** Stops waiting; the run itself goes on unless `onDisconnect` is `cancel`. */
  readonly signal?: AbortSignal
}

/** A run's result whose `output` has the type that the agent's output schema promises; null where the run gave none. */
export type ChatResult<Output = unknown> = Omit<RunResult, 'output'> & { readonly output: Output | null }

/** One conversation with one root agent. Nothing is sent before the first run. */
export interface Chat {
  readonly agent: string
  /** The conversation's id. Reading it before the server has given one is an error [Rb34]. */
  readonly id: string
  /** Answers every action of that path with what `fn` returns. A second registration of a path is an error. */
  handle<Args = Record<string, unknown>, Result = unknown>(
    path: string,
    fn: ActionHandler<Args, Result>,
    options?: { readonly handlerErrors?: HandlerErrors },
  ): Chat
  /** Sees every action of that path and leaves it open for `respond`, here or in another client [Rb46]. */
  receive<Args = Record<string, unknown>>(path: string, fn: ActionReceiver<Args>): Chat
  /** Sees the actions that nothing else takes, and leaves them open. Without it such an action is an error [Rb48]. */
  onUnhandledAction(fn: ActionReceiver<Record<string, unknown>>): Chat
  /** Sends a prompt and answers actions until the run ends, or waits for somebody else. A failed run is a result, not an error. */
  run<Output = unknown>(prompt: Prompt, options?: ChatRunOptions): Promise<ChatResult<Output>>
  /** The same run, read as events. */
  stream<Output = unknown>(prompt: Prompt, options?: ChatRunOptions): RunStream<ChatResult<Output>>
  /** Answers one open action and goes on like `run`. */
  respond<Output = unknown>(id: string, value: unknown, options?: ChatRunOptions): Promise<ChatResult<Output>>
  /** Goes on with the run that is active, or returns the last result. */
  resume<Output = unknown>(options?: { readonly signal?: AbortSignal }): Promise<ChatResult<Output>>
  /** The actions that are open now. Before the conversation has an id it is an error [Rb48]. */
  requiredActions(): Promise<readonly Interruption[]>
}
