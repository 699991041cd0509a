/** Hooks as code: functions that are asked before and behind what agents do, and may refuse or rewrite it [F02, Tb12]. */
import { type Interruption, type RunResult, WitanError } from '@witan/protocol'
import { hookNamePattern, type HookPoint, hookPoints, type ModelUsage } from '@witan/protocol/entries'
import type { Principal } from '../identity/principal.ts'
import type { ModelMessage, ModelToolCall } from '../model/message.ts'
import type { ModelTool } from '../model/model.ts'

/** The kind of a tool, as hooks know it. `agent`: a sub-agent or an agent as a tool; `builtin`: one that comes with a setting of the agent. */
export type HookedKind = 'function' | 'query' | 'action' | 'agent' | 'transfer' | 'peer' | 'remote' | 'builtin'

/** What every hook may know: the agent's call that is at work, and whom it works for. Frozen. */
export interface HookedCall {
  readonly runId: string
  /** The call of the agent. */
  readonly callId: string
  readonly conversationId: string
  readonly agent: string
  readonly agentPath: string
  readonly principal: Principal
  /** The bound values of the parameters that the agent declares, hidden ones included. */
  readonly parameters: Readonly<Record<string, unknown>>
  /** Aborts at a cancel, and when the time of the hook is over. */
  readonly signal: AbortSignal
}
/** A call begins. */
interface BeforeRun extends HookedCall {
  /** What the agent is asked: by a person, by another agent, or by the runtime that reports a task. */
  readonly message: string
}
/** A model is about to be asked for an answer or its next tool calls. */
interface BeforeModel extends HookedCall {
  readonly messages: readonly ModelMessage[]
  readonly tools: readonly ModelTool[]
  /** The name of the model in the agent's definition. */
  readonly model: string
}
/** A model has replied; nothing of the reply counts yet. */
interface AfterModel extends HookedCall {
  readonly text: string
  readonly toolCalls: readonly ModelToolCall[]
  readonly usage: ModelUsage | null
}
/** A tool is about to be called. */
interface BeforeTool extends HookedCall {
  readonly tool: string
  readonly kind: HookedKind
  /** The model's, which fit the tool: without bound values. */
  readonly arguments: Readonly<Record<string, unknown>>
}
/** A tool has ended; its model has read nothing of it yet. */
interface AfterTool extends BeforeTool {
  /** Null beside an error. */
  readonly result: unknown
  readonly error: { readonly code: string; readonly detail: string } | null
}
/** Something was asked of a person or a client. */
interface OnInterruption extends HookedCall {
  /** Without merged values. */
  readonly interruption: Interruption
}
/** A call has its answer. */
interface AfterRun extends HookedCall {
  readonly text: string
  readonly output: unknown
  /** Of a call that failed or was cancelled the hook is told; what it returns then changes nothing. */
  readonly status: RunResult['status']
}

/** The answer of a hook: nothing allows. `rewrite` is the new value, or an object with it under its name. */
type HookAnswer<Written> =
  | undefined
  | null
  // biome-ignore lint/suspicious/noConfusingVoidType: a hook that returns nothing allows
  | void
  | { readonly refuse: string }
  | { readonly rewrite: Written }
type Hook<Seen, Written> = (seen: Seen) => HookAnswer<Written> | Promise<HookAnswer<Written>>

/** The functions of a definition, by the point at which each is asked. */
interface HookFunctions {
  readonly beforeRun?: Hook<BeforeRun, string | { readonly message: string }>
  /** What it writes is a line at the end of the messages, which no other agent reads. */
  readonly beforeModel?: Hook<BeforeModel, string | { readonly note: string }>
  readonly afterModel?: Hook<AfterModel, string | { readonly text: string }>
  /** What it writes must fit the tool. */
  readonly beforeTool?: Hook<BeforeTool, object>
  readonly afterTool?: Hook<AfterTool, unknown>
  readonly onInterruption?: Hook<OnInterruption, never>
  readonly afterRun?: Hook<AfterRun, string | { readonly text: string }>
}

/** Hooks that belong together. */
export interface HooksDefinition extends HookFunctions {
  /** Lower-case letters, digits, `-` and `_`, at most 64. */
  readonly name: string
  /** The agents whose calls they are asked of, beside those that list them; absent: all. */
  readonly agents?: readonly string[]
  /** The tools that `beforeTool`, `afterTool` and `onInterruption` are asked of; absent: all. */
  readonly tools?: readonly string[]
  /** How long one of them may take, in ms, at most 60,000. Default 5,000. */
  readonly timeoutMs?: number
  /** What becomes of something when a hook throws or takes too long. Default `refuse`. */
  readonly onError?: 'refuse' | 'allow'
}

/** Checked hooks. */
export interface Hooks extends HooksDefinition {
  readonly timeoutMs: number
  readonly onError: 'refuse' | 'allow'
}

const mostMs = 60_000
const keys: readonly string[] = ['name', 'agents', 'tools', 'timeoutMs', 'onError', ...hookPoints]

/** Defines hooks. Throws `ID_INVALID` for a name, `UNKNOWN_KEY` for an unknown option, `CONFIG_INVALID` for other mistakes. */
export function defineHooks(definition: HooksDefinition): Hooks {
  const { name, agents, tools, timeoutMs = 5_000, onError = 'refuse' } = definition
  if (typeof name !== 'string' || !hookNamePattern.test(name)) {
    const hint = 'Use lower-case letters, digits, `-` and `_`, at most 64.'
    throw new WitanError('ID_INVALID', `Name of hooks \`${String(name)}\` is not valid.`, { path: 'name', hint })
  }
  for (const key of Object.keys(definition)) {
    if (keys.includes(key)) continue
    const hint = `Known: ${keys.join(', ')}.`
    throw new WitanError('UNKNOWN_KEY', `Hooks \`${name}\`: \`${key}\` is not an option.`, { path: key, hint })
  }
  const wrong = (path: string, what: string, hint: string) =>
    new WitanError('CONFIG_INVALID', `Hooks \`${name}\`: \`${path}\` ${what}.`, { path, hint })
  for (const [path, list] of Object.entries({ agents, tools }))
    if (list !== undefined && !isListOfTexts(list))
      throw wrong(path, 'is no list of names', 'Pass a list of texts, or leave it out for all.')
  if (!(timeoutMs >= 1 && timeoutMs <= mostMs))
    throw wrong('timeoutMs', `is not from 1 to ${mostMs}`, 'Take milliseconds.')
  if (onError !== 'refuse' && onError !== 'allow')
    throw wrong('onError', 'is neither "refuse" nor "allow"', 'Take one of them.')
  const given = hookPoints.filter((point) => definition[point] !== undefined)
  const odd = given.find((point) => typeof definition[point] !== 'function')
  if (odd !== undefined) throw wrong(odd, 'is not a function', `Pass a function: \`${odd}: (call) => …\`.`)
  if (given.length === 0)
    throw wrong('beforeRun', 'is missing, and so is every other', `Give one of ${hookPoints.join(', ')}.`)
  // An instance of a class has its functions in its prototype, and they may use `this`.
  const functions = Object.fromEntries(given.map((point) => [point, definition[point]?.bind(definition as never)]))
  const lists = { ...(agents && { agents: [...agents] }), ...(tools && { tools: [...tools] }) }
  return Object.freeze({ name, ...lists, ...functions, timeoutMs, onError })
}

/** Whether a value is what `defineHooks` makes, of whatever copy of this package. */
export function isHooks(value: unknown): value is Hooks {
  if (typeof value !== 'object' || value === null) return false
  const { name, timeoutMs, onError } = value as Partial<Hooks>
  return typeof name === 'string' && typeof timeoutMs === 'number' && onError !== undefined
}

function isListOfTexts(list: unknown): boolean {
  return Array.isArray(list) && list.every((one) => typeof one === 'string')
}

/** The function of hooks that is asked at a point, whatever it is asked; null for none. */
export function functionAt(hooks: Hooks, point: HookPoint): ((seen: object) => unknown) | null {
  return (hooks[point] as ((seen: object) => unknown) | undefined) ?? null
}
