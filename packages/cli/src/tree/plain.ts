/** The tree as a log of finished lines, for a pipe: each is printed once and stays true. */
import { type CallView, type ConversationFold, type ConversationView, type Reasoned, speakersOf } from '@witan/client'
import type { AnyEvent } from '@witan/protocol'
import { critiqueSpans } from './critique.ts'
import { hookSpans } from './hook.ts'
import { retrievalSpans } from './knowledge.ts'
import type { Line, Span } from './lines.ts'
import { cutLine, detailOf, figuresOf, markOf, noticeText, reasonedSpan } from './lines.ts'
import { memorySpans } from './memory.ts'
import { isAtRoot, nameOf, returnOf } from './naming.ts'
import { planSpans, wrotePlan } from './plan.ts'
import { waitsPhrase } from './phrase.ts'
import { reasonedWords } from './reasoned.ts'
import { oneLine } from './width.ts'

/** `reasoning`: what models reason is printed too, once a model call has ended. */
export interface PlainOptions {
  readonly reasoning?: boolean
}

/**
 * Takes an event and returns the lines that are now final: an agent's name when it starts, a tool when it ends, an
 * action when it waits, an agent's final text and usage when it ends, a hand-over as the start of its target.
 */
export function plainLines(fold: ConversationFold, event: AnyEvent, { reasoning = false }: PlainOptions = {}): Line[] {
  const { view } = fold
  const before = reasoning ? (view.calls.get(event.callId)?.reasoned ?? nothing) : nothing
  const call = fold.take(event)
  if (call === null) return []
  if (reasoning && event.type === 'end' && event.kind === 'model') return reasonedPart(view, call, before)
  if (event.type === 'start' && call.kind === 'agent')
    return [[indent(view, call), { text: nameOf(view, call), tone: 'strong' }, ...gap, ...detail(view, call)]]
  if (event.type === 'transfer') return [returnLine(view, call)]
  if (event.type.endsWith('_required'))
    return [[...head(view, call), ...gap, ...detail(view, call), ...gap, waits(call)]]
  if (event.type === 'task') return event.content.status === 'queued' ? [[indent(view, call, 1), goesOn]] : []
  if (event.type === 'retrieval')
    return call.retrievals.slice(-1).map((one) => [indent(view, call, 1), ...retrievalSpans(one)])
  if (event.type === 'critique')
    return call.critiques.slice(-1).map((one) => [indent(view, call, 1), ...critiqueSpans(one, call)])
  if (event.type === 'hook') return call.hooks.slice(-1).map((one) => [indent(view, call, 1), ...hookSpans(one)])
  if (event.type === 'plan') return [[indent(view, call, 1), ...cutLine(planSpans(call), longestDetail)]]
  // What a tool call wrote stands at its end.
  if (event.type === 'memory')
    return call.kind === 'tool'
      ? []
      : call.memories.slice(-1).map((one) => [indent(view, call, 1), ...memorySpans(one)])
  if (event.type === 'notice') {
    const notice = call.notices.at(-1)
    return notice === undefined ? [] : [[indent(view, call, 1), { text: `! ${noticeText(notice)}`, tone: 'wait' }]]
  }
  const isOver = (event.type === 'end' || event.type === 'error') && event.kind !== 'model'
  if (!isOver || call.transferToAgent !== null || wrotePlan(call)) return []
  if (call.kind === 'agent') return [endLine(view, call)]
  return [[...head(view, call), ...gap, ...detail(view, call), figures(view, call)]]
}

const nothing: Reasoned = { text: '', settled: 0, ms: 0, since: null }

/** What the model call that has just ended reasoned. */
function reasonedPart(view: ConversationView, call: CallView, { settled, ...before }: Reasoned): Line[] {
  if (call.reasoned === null) return []
  const text = call.reasoned.text.slice(settled).trim()
  if (text === '') return []
  const own = { ...call.reasoned, ms: call.reasoned.ms - before.ms }
  const lines = [[reasonedSpan(own, 0)], ...reasonedWords(text, { columns: longestDetail, most: text.length })]
  return lines.map((line) => [indent(view, call, 1), ...line])
}

const longestDetail = 120
const goesOn: Span = { text: '⇢ works in the background', tone: 'busy' }
const gap: readonly Span[] = [{ text: '  ', tone: 'plain' }]

/** One call may ask several people: this is the latest. */
function waits({ asked }: CallView): Span {
  return { text: waitsPhrase(asked.at(-1)?.interruption.addressee ?? null), tone: 'wait' }
}

function endLine(view: ConversationView, call: CallView): Line {
  const isSaid = isAtRoot(view, call) || speakersOf(view, call.callId).at(-1) !== call
  const words = isSaid ? '' : oneLine(call.text)
  const said: readonly Span[] = call.error === null ? [{ text: words, tone: 'quote' }] : detail(view, call)
  return [...head(view, call), ...(words === '' && call.error === null ? [] : gap), ...said, figures(view, call)]
}

/** Control comes back. At the root its answer stands here: until now it might have been the answer of the run. */
function returnLine(view: ConversationView, call: CallView): Line {
  const words = isAtRoot(view, call) ? oneLine(call.text) : ''
  const said: readonly Span[] = words === '' ? [] : [...gap, { text: words, tone: 'quote' }]
  return [indent(view, call), { text: returnOf(view, call) ?? '', tone: 'plain' }, ...cutLine(said, longestDetail)]
}

/** The log shows what happened, not all of it: `--json` does. */
function detail(view: ConversationView, call: CallView): Line {
  return cutLine(detailOf(view, call), longestDetail)
}

function head(view: ConversationView, call: CallView): Span[] {
  return [indent(view, call), markOf(call.state), { text: ' ', tone: 'plain' }, strong(view, call)]
}

function figures(view: ConversationView, call: CallView): Span {
  const { time, tokens } = figuresOf(view, call, Date.parse(call.endedAt ?? call.startedAt))
  return { text: `  ${[time, tokens].filter((word) => word !== '').join('  ')}`, tone: 'faint' }
}

/** Where several agents of one depth are at work, a tool's name says whose it is. */
function strong(view: ConversationView, call: CallView): Span {
  const caller = parentOf(view, call)
  const others = (caller && parentOf(view, caller)?.children) ?? []
  const isCrowded = others.some((id) => {
    const other = view.calls.get(id)
    return other !== caller && other?.kind === 'agent' && other.endedAt === null
  })
  const name = call.kind === 'tool' && isCrowded ? `${caller?.name}/${call.name}` : call.name
  return { text: oneLine(name), tone: call.kind === 'agent' ? 'strong' : 'plain' }
}

function parentOf(view: ConversationView, { parentCallId }: CallView): CallView | undefined {
  return parentCallId === null ? undefined : view.calls.get(parentCallId)
}

function indent(view: ConversationView, call: CallView, more = 0): Span {
  let depth = more
  for (let at = parentOf(view, call); at !== undefined; at = parentOf(view, at)) depth += 1
  return { text: '│ '.repeat(depth), tone: 'faint' }
}
