/** Folds what hooks and guardrails decided. From then on the log decides: no hook or guardrail is asked again [F02, Tb12]. */
import { isBody } from './body.ts'
import type { Checked } from './checked.ts'
import type { CallPlace, Writable } from '@witan/protocol/entries'
import { refuseGathered, writeGathered, writtenText } from './callers-view.ts'
import { type Decision, isRefusal } from '../hook/decision.ts'
import { foldGuardDecision } from './guards.ts'
import { lineFor } from './line.ts'
import { asksOutput } from '../model/output.ts'
import type { Said } from './said.ts'
import type { AgentCall, LiveJob, ToolCall, WaitingMessage } from './state.ts'

/** Folds a decision. That on a tool stands at the tool call, every other one at the call of its agent. */
export function foldDecision(run: LiveJob | null, place: CallPlace, body: Decision): void {
  if (body.at === 'onInterruption') return foldAsked(run?.calls.get(place.parentCall ?? ''), body)
  const toolCall = run?.toolCalls.get(place.call)
  if (toolCall !== undefined && !isBody(toolCall)) {
    if (body.at === 'afterTool') foldResult(toolCall, body)
    return
  }
  const call = run?.calls.get(place.call)
  if (call === undefined) return
  foldGuardDecision(call, body)
  if (body.at === 'answered') foldRefusedAnswer(call, body)
  if (body.at === 'beforeRun') foldOpening(call, body)
  else if (body.at === 'joined') foldJoined(call, body)
  else if (body.at === 'beforeModel') foldNote(call, body)
  else if (body.at === 'beforeTool') foldArguments(call, body)
  else if (body.at === 'afterRun' || body.at === 'afterTool') foldAnswer(call, body)
}

/** Why a decision refuses, for models; null if it does not. */
function refusedBy(decision: Decision): string | null {
  return isRefusal(decision) ? refusalText(decision) : null
}

/** What a model reads of something that was refused. */
export function refusalText({ name, reason, action }: Pick<Decision, 'name' | 'reason' | 'action'>): string {
  if (action !== undefined) return reason ?? `guardrail ${name} refused`
  const failed = `hook ${name} failed`
  return reason === failed ? failed : `hook ${name} refused: ${reason}`
}

/** What checks have decided of a call, to be added to. */
export function checksOf(call: AgentCall): Checked {
  call.checked ??= { isOpen: false, isRequest: false, refusals: 0, refusedAnswers: 0, passed: new Set() }
  return call.checked
}

function foldOpening(call: AgentCall, body: Decision): void {
  const { effect, written } = body
  checksOf(call).isOpen = true
  const { opening, document } = call
  // What a hook refused is read by no later call either.
  if (isRefusal(body) && opening !== null) {
    if (document.inbox.includes(opening)) document.inbox.splice(document.inbox.indexOf(opening), 1)
    else replaceRead(call, opening.text, refusedAnswer)
  }
  if (effect !== 'rewritten' || typeof written !== 'string') return
  call.message = written
  const [tool] = call.toolCalls
  if (call.remote !== null && tool !== undefined) tool.checked = { arguments: JSON.stringify({ message: written }) }
  if (opening === null) return
  if (!document.inbox.includes(opening)) replaceRead(call, opening.text, written)
  // The same message: who follows what became of it finds it.
  const words: Writable<WaitingMessage> = opening
  words.text = written
  delete words.plain
}

/** A message that joins the work of a call is read as it was written then, or not at all. */
function foldJoined(call: AgentCall, decision: Decision): void {
  const { inbox } = call.document
  const at = decision.waiting ?? 0
  const waiting: Writable<WaitingMessage> | undefined = inbox[at]
  if (waiting === undefined) return
  if (isRefusal(decision)) inbox.splice(at, 1)
  else waiting.guardedFor = call.place.call
  if (typeof decision.written !== 'string') return
  waiting.text = decision.written
  delete waiting.plain
}

/** Initial queries stand behind the words that began the call: these are in the document already. */
function replaceRead({ document }: AgentCall, before: string, text: string): void {
  const from = document.callStarts.at(-1)?.from ?? 0
  const said: Writable<Said> | undefined = document.said
    .slice(from)
    .findLast((one) => one.kind === 'words' && one.text === before)
  if (said?.kind !== 'words') return
  said.text = text
  document.views = []
}

function foldNote(call: AgentCall, { effect, written, waiting }: Decision): void {
  checksOf(call).isRequest = true
  const { inbox } = call.document
  if (effect === 'rewritten')
    inbox.splice(waiting ?? inbox.length, 0, lineFor(call.agent.id, 'note', { text: written }))
}

function foldArguments(call: AgentCall, body: Decision): void {
  const toolCall = call.toolCalls.find(({ requested }) => requested.id === body.toolCallId)
  if (toolCall === undefined) return
  const { effect, written } = body
  const refused = refusedBy(body)
  toolCall.checked ??= {}
  if (effect === 'rewritten' && typeof written === 'string') toolCall.checked.arguments = written
  if (refused !== null) toolCall.checked.refused = refused
}

/** A refusal of something that has an answer by now stands in place of what the tool call comes to. */
function foldAsked(owner: AgentCall | undefined, body: Decision): void {
  const toolCall = owner?.toolCalls.find(({ requested }) => requested.id === body.toolCallId)
  const refused = refusedBy(body)
  if (toolCall === undefined || refused === null) return
  if (toolCall.interruptions.some(({ id }) => id === body.interruption)) return
  toolCall.checked = { ...toolCall.checked, refused, result: { refused } }
}

function foldResult(toolCall: ToolCall, body: Decision): void {
  const { effect, written = null } = body
  const refused = refusedBy(body)
  toolCall.checked ??= {}
  const { result = {} } = toolCall.checked
  toolCall.checked.result = {
    ...result,
    ...(effect === 'rewritten' ? { written } : {}),
    ...(refused === null ? {} : { refused }),
  }
}

/** What stands in a document in place of an answer that was refused. */
export const refusedAnswer = '[refused]'

/** What an agent has said stands in its document as people read it, unless its model has read it since: what that has read stays. */
function replaceAnswer({ agent, document }: AgentCall, text: string): void {
  if (agent.enableReflection || asksOutput(agent)) return
  const { said } = document
  const at = said.findLastIndex((one) => one.kind === 'reply' && one.agent === agent.id)
  const answer: Writable<Said> | undefined = said[at]
  if (answer?.kind !== 'reply' || answer.calls.length > 0 || at < said.length - 1) return
  document.views = []
  // What a model's server keeps of a reply holds the text as it was.
  delete answer.kept
  // What was rewritten is the same answer for who follows it, and what was refused is none.
  if (text === refusedAnswer) said[at] = { ...answer, text }
  else answer.text = text
}

/** An answer that an agent refused is none: its model is asked for another one. */
function foldRefusedAnswer(call: AgentCall, decision: Decision): void {
  if (!isRefusal(decision) || call.final === null) return
  checksOf(call).refusedAnswers += 1
  replaceAnswer(call, refusedAnswer)
  if (call.gathered !== null) refuseGathered(call.gathered)
  call.final = null
}

/** The answer of a call, and what its caller reads of it. */
function foldAnswer(call: AgentCall, body: Decision): void {
  const { at, effect, written } = body
  const refuses = refusedBy(body) !== null
  const { final, gathered } = call
  if (final === null) return
  const checked = at === 'afterTool' ? ({ isChecked: true, isPassed: true } as const) : ({ isChecked: true } as const)
  if (effect !== 'rewritten') {
    call.final = { ...final, ...checked }
    if (at === 'afterRun' && refuses) replaceAnswer(call, refusedAnswer)
    return
  }
  const text = writtenText(written)
  const isText = typeof written === 'string'
  // A structured answer that was written as a text has no other form any more.
  const output = !isText
    ? { output: { value: written } }
    : final.output === undefined
      ? {}
      : { output: { value: null } }
  call.final = { ...final, text, ...output, ...checked }
  if (gathered !== null) writeGathered(gathered, at, text)
  if (at === 'afterRun') replaceAnswer(call, text)
}
