/** Puts a question to the hooks of a process: what they see of a call, and what of theirs may be taken [F02, Tb12]. */
import type { CheckPoint } from '../hook/decision.ts'
import type { AgentCall } from '../conversation/state.ts'
import { askRow, type Question, type Taken, type Verdict } from '../hook/ask.ts'
import type { HookedCall } from '../hook/define-hooks.ts'
import type { HookRow } from '../hook/rows.ts'
import { frozen } from '../identity/frozen.ts'
import { whereOf, type Job } from '../job/job.ts'
import type { ModelRequest } from '../model/model.ts'
import { errorText } from '../parameter/scrub.ts'

/** A question, and who is asked it. */
interface Asked<Written> {
  readonly at: CheckPoint
  readonly row: HookRow
  signal(): AbortSignal
  /** What it is about, with what was written so far. */
  about(written: Written | undefined): object
  /** The request that it is about: made once a hook looks. */
  request?(written: Written | undefined): ShownRequest
  take(rewrite: unknown): Taken<Written> | null | Promise<Taken<Written> | null>
}

/** Asks, in the name of a call. */
export function ask<Written>(
  call: AgentCall,
  job: Job,
  asked: Asked<Written>,
): Verdict<Written> | Promise<Verdict<Written>> {
  return asked.row.length === 0 ? nothing : askRow(questionOf(call, job, asked))
}

/** The question as hooks get it, which may be asked once the call is over. */
export function questionOf<Written>(
  call: AgentCall,
  job: Job,
  { at, row, signal, about, request, take }: Asked<Written>,
): Question<HookedCall, Written> {
  const shared = sharedOf(call, job)
  return {
    ...{ at, row, signal, take },
    seen: (written, own) => {
      const late = request === undefined ? undefined : () => request(written)
      return Object.assign(new Seen(shared, { own, request: late }), about(written))
    },
    clean: (text) => errorText(cleanFor(call, text)),
    report: (why) => job.env.report(new Error(cleanFor(call, why)), whereOf(job, call.place.call)),
  }
}

/** What of a request hooks see. */
export type ShownRequest = Pick<ModelRequest, 'messages' | 'tools'>

interface Late {
  readonly own: Pick<HookedCall, 'signal'>
  readonly request: (() => ShownRequest) | undefined
}

/** What a hook sees. What few look at is made when they do. */
class Seen implements HookedCall {
  readonly runId: string
  readonly callId: string
  readonly conversationId: string
  readonly agent: string
  readonly agentPath: string
  readonly principal: HookedCall['principal']
  readonly parameters: HookedCall['parameters']
  readonly #late: Late

  constructor(shared: Omit<HookedCall, 'signal'>, late: Late) {
    this.runId = shared.runId
    this.callId = shared.callId
    this.conversationId = shared.conversationId
    this.agent = shared.agent
    this.agentPath = shared.agentPath
    this.principal = shared.principal
    this.parameters = shared.parameters
    this.#late = late
  }

  get signal(): AbortSignal {
    return this.#late.own.signal
  }

  /** Of a request alone. */
  get messages(): ShownRequest['messages'] | undefined {
    return this.#late.request?.().messages
  }

  /** Of a request alone. */
  get tools(): ShownRequest['tools'] | undefined {
    return this.#late.request?.().tools
  }
}

const nothing: Verdict<never> = { bodies: [], written: undefined, refused: null }

function sharedOf({ place, agent, parameters }: AgentCall, { log, run }: Job): Omit<HookedCall, 'signal'> {
  return {
    runId: place.run,
    callId: place.call,
    conversationId: log.state.id,
    agent: agent.id,
    agentPath: place.agentPath,
    principal: frozen(run.principal),
    parameters: valuesOf(parameters),
  }
}

const noValues: Readonly<Record<string, unknown>> = Object.freeze({})

function valuesOf(parameters: AgentCall['parameters']): Readonly<Record<string, unknown>> {
  if (parameters.size === 0) return noValues
  const values: Record<string, unknown> = {}
  for (const [name, value] of parameters) values[name] = value.box.reveal()
  return Object.freeze(values)
}

/** A text of a hook without what the model of a call may not see: models and logs read it. */
function cleanFor({ scrubOthers }: AgentCall, text: string): string {
  const whole = text.toWellFormed()
  return scrubOthers === null ? whole : scrubOthers(whole)
}

/** The longest text that a hook may write, in characters. */
const longestText = 1_000_000

/** A text that a hook wrote, alone or under its name, without what models may not see; null for none that can be taken. */
export function textOfHook(call: AgentCall, rewrite: unknown, name: string): Taken<string> | null {
  const text = textIn(rewrite, name)
  return text === null ? null : { value: cleanFor(call, text) }
}

/** A text that a hook wrote, alone or under its name; null for anything else, and for one that is too long. */
function textIn(rewrite: unknown, name: string): string | null {
  const text = typeof rewrite === 'string' ? rewrite : valueIn(rewrite, name)
  return typeof text === 'string' && text.length <= longestText ? text : null
}

/** A value that a hook wrote, alone or as the only field of an object under its name. */
export function valueIn(rewrite: unknown, name: string): unknown {
  if (typeof rewrite !== 'object' || rewrite === null || Array.isArray(rewrite)) return rewrite
  const [only, ...more] = Object.keys(rewrite)
  return only === name && more.length === 0 ? (rewrite as Readonly<Record<string, unknown>>)[name] : rewrite
}
