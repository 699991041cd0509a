/** From entries of the log to what models and tools gave: the inverse of what the engine records. */
import type { ErrorCode } from '@witan/protocol'
import type { AgentStartBody, Entry, ModelEndBody, ModelErrorBody, RequiredBody } from '@witan/protocol/entries'
import { ModelCallError, type ModelNote, type ModelReply, type ReplyFinish } from '../model/model.ts'
import type { CallTrouble } from '../model/trouble.ts'
import type { ModelSpending, PendingOutcome, ResultOutcome } from '../tool/outcome.ts'
import type { InterruptionDraft, Spawn } from '../tool/waiting.ts'

/** The reply that a model gave. `text` replaces the logged one: the log keeps a summary apart from its reply. */
export function replyOf(body: ModelEndBody, text: string = body.text): ModelReply {
  const { toolCalls, usage, model, startedAt, kept, reasoning } = body
  return {
    text,
    toolCalls,
    finishReason: finishOf(body),
    usage,
    model,
    askedAt: startedAt,
    ...(kept === undefined ? {} : { kept }),
    ...(reasoning === undefined ? {} : { reasoning }),
  }
}

/** Of a last answer the log does not keep how the model ended. */
function finishOf({ finishReason, toolCalls }: ModelEndBody): ReplyFinish {
  if (finishReason === 'iteration_limit') return toolCalls.length > 0 ? 'tool_calls' : 'stop'
  return finishReason as ReplyFinish
}

/** The codes of notices that a model's adapter gives. */
export const toldCodes: ReadonlySet<string> = new Set<ModelNote['code']>([
  'MODEL_WARNING',
  'MODEL_RETRIED',
  'MODEL_FALLBACK',
])

/** The error that a model gave. `mayHaveCost`: the log says that the usage of its call is incomplete. */
export function failureOf(
  { detail, code }: Pick<ModelErrorBody, 'detail' | 'code'>,
  mayHaveCost: boolean,
): ModelCallError {
  return new ModelCallError(detail, { retryable: false, trouble: troubleOf(code), mayHaveCost })
}

function troubleOf(code: string): CallTrouble | null {
  if (code === 'MODEL_CONTEXT_EXCEEDED') return 'context'
  return code === 'MEDIA_TYPE_UNSUPPORTED' ? 'media' : null
}

/** The result of a tool whose end or error is in the log. `spent` are the model calls that it made itself. */
export function outcomeOf(
  entry: Entry & { readonly kind: 'tool'; readonly type: 'end' | 'error' },
  spent: readonly ModelSpending[],
): ResultOutcome {
  const { embedded } = entry.body
  const more = { ...(spent.length === 0 ? {} : { spent }), ...(embedded === undefined ? {} : { embedded }) }
  if (entry.type === 'error') {
    const { code, detail, bound } = entry.body
    const usedBound = bound === undefined ? {} : { usedBound: bound }
    return {
      kind: 'result',
      value: null,
      truncated: false,
      failure: { code: code as ErrorCode, detail },
      ...usedBound,
      ...more,
    }
  }
  const { result, forModel, truncated, bound, sources } = entry.body
  const usedBound = bound === undefined ? {} : { usedBound: bound }
  const told = forModel === undefined ? {} : { forModel }
  const read = sources === undefined ? {} : { sources }
  return { kind: 'result', value: result, ...told, truncated, failure: null, ...read, ...usedBound, ...more }
}

/** The model call of a tool that the log holds. */
export function spendingOf({ model, usage, finishReason, startedAt }: ModelEndBody): ModelSpending {
  return { model, usage, finishReason, startedAt }
}

/** What a tool asked for: the interruptions that it opened. */
export function interruptionsOf(bodies: readonly RequiredBody[]): PendingOutcome {
  return { kind: 'pending', interruptions: bodies.map(draftOf) }
}

function draftOf(body: RequiredBody): InterruptionDraft {
  const { id: _, path: __, agent: ___, callId: ____, state: _____, expiresAt: ______, held: _______, ...rest } = body
  const { addressee, caller: _caller, ...prompt } = rest
  return { ...prompt, ...(addressee === null ? {} : { addressee }) } as unknown as InterruptionDraft
}

/** The child that a tool ran. */
export function childOf(body: AgentStartBody): PendingOutcome {
  const { agent, message, generated, map, history, answer, overrides } = body
  const child: Spawn = {
    ...{ agent, message, generated, map, history },
    ...(answer === undefined ? {} : { answer }),
    ...(overrides === undefined ? {} : { overrides }),
  }
  return { kind: 'pending', child }
}
