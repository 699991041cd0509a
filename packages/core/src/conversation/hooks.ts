/** Folds what hooks decided: from then on the log decides, and no hook is asked again [F02, Tb12]. */
import type { Checked } from './checked.ts'
import type { Entry, HookBody, Writable } from '@witan/protocol/entries'
import { writtenText } from './callers-view.ts'
import { insertBehind } from './inbox.ts'
import { lineFor } from './line.ts'
import { openingOf } from './remembered.ts'
import type { Said } from './said.ts'
import type { AgentCall, LiveJob, ToolCall, WaitingMessage } from './state.ts'

/** Folds the entry of a hook. That of a tool stands at the tool call, every other one at the call of its agent. */
export function foldHook(run: LiveJob | null, { place, body }: Entry & { readonly type: 'hook' }): void {
  const toolCall = run?.toolCalls.get(place.call)
  if (toolCall !== undefined) {
    if (body.at === 'afterTool') foldResult(toolCall, body)
    return
  }
  const call = run?.calls.get(place.call)
  if (call === undefined) return
  if (body.at === 'beforeRun') foldOpening(call, body)
  else if (body.at === 'beforeModel') foldNote(call, body)
  else if (body.at === 'beforeTool') foldArguments(call, body)
  else if (body.at === 'afterRun' || body.at === 'afterTool') foldAnswer(call, body)
}

/** Why a hook's entry refuses, for models; null if it does not. */
function refusedBy({ hook, reason, effect, allows }: HookBody): string | null {
  if (effect === 'rewritten' || allows === true) return null
  return refusalText(hook, reason)
}

/** What a model reads of something that a hook refused. */
export function refusalText(hook: string, reason: string | null): string {
  const failed = `hook ${hook} failed`
  return reason === failed ? failed : `hook ${hook} refused: ${reason}`
}

/** What checks have decided of a call, to be added to. */
export function checksOf(call: AgentCall): Checked {
  call.checked ??= { isOpen: false, isRequest: false, refusals: 0 }
  return call.checked
}

function foldOpening(call: AgentCall, { effect, written }: HookBody): void {
  checksOf(call).isOpen = true
  if (effect !== 'rewritten' || typeof written !== 'string') return
  call.message = written
  const [body] = call.toolCalls
  if (call.remote !== null && body !== undefined) body.checked = { arguments: JSON.stringify({ message: written }) }
  const opening: Writable<WaitingMessage> | null = openingOf(call)
  if (opening === null) return
  // The same message: who follows what became of it finds it.
  opening.text = written
  delete opening.plain
}

function foldNote(call: AgentCall, { effect, written }: HookBody): void {
  checksOf(call).isRequest = true
  if (effect === 'rewritten') insertBehind(call.document.inbox, null, lineFor(call.agent.id, 'note', { text: written }))
}

function foldArguments(call: AgentCall, body: HookBody): void {
  const toolCall = call.toolCalls.find(({ requested }) => requested.id === body.toolCallId)
  if (toolCall === undefined) return
  const { effect, written } = body
  const refused = refusedBy(body)
  toolCall.checked ??= {}
  if (effect === 'rewritten' && typeof written === 'string') toolCall.checked.arguments = written
  if (refused !== null) toolCall.checked.refused = refused
}

function foldResult(toolCall: ToolCall, body: HookBody): void {
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

/** What an agent has said stands in its document as people read it. No model has read it in a step of its own yet. */
function replaceAnswer({ agent, document }: AgentCall, text: string): void {
  const { said } = document
  const answer: Writable<Said> | undefined = said.findLast((one) => one.kind === 'reply' && one.agent === agent.id)
  if (answer?.kind !== 'reply' || answer.calls.length > 0) return
  answer.text = text
  // What a model's server keeps of a reply holds the text as it was.
  delete answer.kept
  document.views = []
}

/** The answer of a call, and what its caller reads of it. */
function foldAnswer(call: AgentCall, { at, effect, written }: HookBody): void {
  const { final, gathered } = call
  if (final === null) return
  const checked = at === 'afterTool' ? ({ isChecked: true, isPassed: true } as const) : ({ isChecked: true } as const)
  if (effect !== 'rewritten') {
    call.final = { ...final, ...checked }
    return
  }
  const text = writtenText(written)
  const output = typeof written === 'string' ? {} : { output: { value: written } }
  call.final = { ...final, text, ...output, ...checked }
  if (gathered !== null) gathered.texts.splice(-1, 1, text)
  if (at === 'afterRun') replaceAnswer(call, text)
}
