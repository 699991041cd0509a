/** Folds the tool calls of a step: requested, started, resumed, and settled together. */
import type { CallPlace, CheckpointBody, Entry, ErrorBody, ToolStartBody } from '@witan/protocol/entries'
import { plainDetail } from '@witan/protocol/entries'
import { jsonForModel } from '../model/attribution.ts'
import type { Scrubber } from '../parameter/scrub.ts'
import { gatheredText, allowHandOvers } from './fold-hand-over.ts'
import { refusedResult, type Reply, type SaidResult } from './said.ts'
import type { AgentCall, LiveJob, ToolCall } from './state.ts'
import { countersOf } from './merge-usage.ts'

/** Shared by nearly all calls. */
const noAnswers: readonly never[] = []

/** Begins a step with the tool calls of a reply. All but the first `admitted` are refused. */
export function beginStep(call: AgentCall, reply: Reply, admitted: number = reply.calls.length): void {
  call.document.said.push(reply)
  call.reply = reply
  call.toolCalls = reply.calls.slice(0, admitted).map((requested) => newToolCall(requested, call))
  call.refused = reply.calls.slice(admitted)
}

/** A tool call that nothing is recorded of yet. */
export function newToolCall(requested: ToolCall['requested'], owner: AgentCall): ToolCall {
  return {
    requested,
    owner,
    state: 'requested',
    place: null,
    name: requested.name,
    interruptions: noAnswers,
    answers: noAnswers,
    note: undefined,
    passed: null,
    result: null,
    isLast: false,
    checked: null,
    epoch: 0,
  }
}

/** Folds the start of a tool call. */
export function foldToolStart(run: LiveJob | null, entry: Entry & { body: ToolStartBody }): void {
  const call = run?.calls.get(entry.place.parentCall ?? '')
  const toolCall = call?.toolCalls.find((one) => one.requested.id === entry.body.toolCallId)
  if (call === undefined) return
  countersOf(call).toolCalls += 1
  if (toolCall === undefined) return
  toolCall.state = 'started'
  toolCall.place = entry.place
  toolCall.name = entry.body.name
  toolCall.epoch = entry.epoch
  toolCall.isLast = entry.body.isLast === true
  run?.toolCalls.set(entry.place.call, toolCall)
}

/** Folds a checkpoint: a saved note, or a resumed call. Sets the tool call's epoch, so that a later owner knows the call ran in it. */
export function foldCheckpoint(run: LiveJob | null, entry: Entry & { body: CheckpointBody }): void {
  const toolCall = run?.toolCalls.get(entry.place.call)
  if (toolCall === undefined) return
  const { note, resumed } = entry.body
  if (note !== undefined) toolCall.note = note
  toolCall.epoch = entry.epoch
  if (resumed === true) toolCall.state = 'started'
}

/** Errors of the runtime, which say nothing that could change what an agent does next. */
const ownErrors: ReadonlySet<string> = new Set([
  'BUDGET_EXCEEDED',
  'DEPTH_EXCEEDED',
  'OUTCOME_UNKNOWN',
  'PROTOCOL_VIOLATION',
  'RUN_CANCELLED',
  'TOOL_ARGS_INVALID',
  'TOOL_UNKNOWN',
  'TRANSFER_REFUSED',
])

/** Folds the error of a tool call. */
export function foldToolError(run: LiveJob | null, place: CallPlace, body: ErrorBody): void {
  const call = run?.calls.get(place.parentCall ?? '')
  if (call !== undefined) {
    gatherError(call, body)
    if (!ownErrors.has(body.code)) allowHandOvers(call)
  }
  foldToolOver(run, place, jsonForModel({ error: body.detail }))
}

/** Collects an error for the call's caller, scrubbed of values that the call may not see [D15]. */
export function gatherError(call: AgentCall, body: ErrorBody): void {
  const { gathered, scrub } = call
  if (gathered === null) return
  const clean = (detail: string) => gatheredText(call, scrub === null ? detail : scrub(detail))
  gathered.errors.push(clean(body.detail))
  gathered.plainErrors.push(clean(plainDetail(body)))
}

/** Folds the end of a tool call. `content` is the result that the model reads. */
export function foldToolOver(run: LiveJob | null, place: CallPlace, content: string): void {
  const toolCall = run?.toolCalls.get(place.call)
  if (toolCall === undefined) return
  run?.toolCalls.delete(place.call)
  settle(toolCall, content)
}

/** Folds a call of `exit_loop`: it ends the call that made it, with the text of that reply [C26]. */
export function foldExit(run: LiveJob | null, place: CallPlace, content: string): void {
  const call = run?.toolCalls.get(place.call)?.owner
  const text = call?.reply?.text ?? ''
  foldToolOver(run, place, content)
  if (call !== undefined)
    call.final = { text, finishReason: 'stop', offered: true, output: { value: null }, exits: true }
}

/** Folds the end of a tool mode. A reply that did nothing else takes nothing from the iterations of its agent [Tb09]. */
export function foldToolModeEnd(run: LiveJob | null, place: CallPlace): void {
  const call = run?.toolCalls.get(place.call)?.owner
  if (call === undefined || call.endedToolMode) return
  call.endedToolMode = true
  if (call.toolCalls.length === 1 && call.refused.length === 0) call.uncountedIterations += 1
}

/** Settles a tool call. Once all calls of a step are settled, their results are added in call order [C14]. `scrub` is an answering agent's. */
export function settle(toolCall: ToolCall, content: string, scrub: Scrubber = null): void {
  toolCall.state = 'settled'
  const { requested, owner: call } = toolCall
  const by = writersOf(toolCall)
  const plain = { toolCallId: requested.id, name: requested.name, content, scrub }
  toolCall.result = by.length === 0 ? plain : { ...plain, by }
  if (call.reply === null || call.toolCalls.some((one) => one.state !== 'settled')) return
  const results = call.toolCalls.map(({ result }) => result as SaidResult)
  const all = call.refused.length === 0 ? results : [...results, ...refusals(call)]
  call.document.said.push({ kind: 'results', of: call.reply, results: all })
  call.toolCalls = []
  call.reply = null
  call.refused = []
}

/** The people whose answers a call got. */
function writersOf({ answers }: ToolCall): readonly string[] {
  if (answers.length === 0) return noAnswers
  return answers.flatMap((one) => {
    const by = one.kind === 'interruption' && 'value' in one.answer ? one.answer.by : undefined
    return by?.startsWith('user:') === true ? [by.slice('user:'.length)] : []
  })
}

/** The results of the calls beyond what one reply may make. */
function refusals({ refused, toolCalls }: AgentCall): readonly SaidResult[] {
  const content = JSON.stringify(refusedResult(toolCalls.length))
  return refused.map(({ id, name }) => ({ toolCallId: id, name, content, scrub: null }))
}

const notRun = JSON.stringify({ error: 'The run ended before this was run.' })

/** Settles the open tool calls of a call that ends during a step: providers refuse a history with unanswered calls [P21]. */
export function settleOpen(call: AgentCall): void {
  for (const toolCall of call.toolCalls) if (toolCall.state !== 'settled') settle(toolCall, notRun)
}
