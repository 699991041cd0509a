/** Folds interruptions and their answers, both for calls under way and for calls that an approval holds back. */
import type { Interruption, InterruptionKind } from '@witan/protocol'
import type { CallPlace, Entry, RequiredBody, ResolvedBody } from '@witan/protocol/entries'
import type { Answer } from '../tool/tool.ts'
import type { LiveJob } from './state.ts'

/** An entry that opens an interruption. */
export type RequiredEntry = Extract<Entry, { readonly type: `${InterruptionKind}_required` }>

/** Whether an entry opens an interruption. */
export function isRequired(entry: Entry): entry is RequiredEntry {
  return entry.type.endsWith('_required')
}

/** The interruption as readers get it. */
export function askedView({ held: _, ...view }: RequiredBody): Interruption {
  return view
}

/** Folds an opened interruption: the call waits. A held call has no start yet, so the tool call is found by the model's id. */
export function foldRequired(run: LiveJob | null, place: CallPlace, body: RequiredBody): void {
  const { held } = body
  const owner = run?.calls.get(place.parentCall ?? '')
  const toolCall =
    held === undefined
      ? run?.toolCalls.get(place.call)
      : owner?.toolCalls.find((one) => one.requested.id === held.toolCallId)
  if (toolCall === undefined) return
  toolCall.interruptions = [...toolCall.interruptions, body]
  toolCall.state = 'waiting'
  toolCall.place = place
  run?.toolCalls.set(place.call, toolCall)
}

/** Folds a settled interruption: the call continues once none of its interruptions is open. A held call is admitted again, now with the answer of its gate. */
export function foldResolved(run: LiveJob | null, place: CallPlace, body: ResolvedBody): void {
  const toolCall = run?.toolCalls.get(place.call)
  const asked = toolCall?.interruptions.find(({ id }) => id === body.id)
  if (toolCall === undefined || asked === undefined) return
  const answer = answerOf(body, asked)
  toolCall.interruptions = toolCall.interruptions.filter((one) => one !== asked)
  if (asked.held === undefined) {
    if (toolCall.interruptions.length === 0) toolCall.state = 'answered'
    toolCall.answers = [...toolCall.answers, { kind: 'interruption', asked: askedView(asked), answer }]
    return
  }
  run?.toolCalls.delete(place.call)
  toolCall.state = 'requested'
  toolCall.place = null
  toolCall.passed = { asked, answer }
}

function answerOf(body: ResolvedBody, { kind }: Pick<RequiredBody, 'kind'>): Answer {
  if (body.left === true) return { error: 'the person has left the conversation', lapsed: 'left' }
  if (body.state === 'cancelled') return { error: 'cancelled by the user', lapsed: 'cancelled' }
  if (body.state === 'expired') return { error: 'nobody answered in time', lapsed: 'expired' }
  const answer = body.answer as Answer
  return kind === 'message' && body.by !== null && 'value' in answer ? { ...answer, by: body.by } : answer
}
