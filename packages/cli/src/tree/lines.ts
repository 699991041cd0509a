/** The tree as lines of styled spans, at a width and a moment. Pure. */
import {
  type CallNotice,
  type CallState,
  type CallView,
  type ConversationView,
  type Reasoned,
  speakersOf,
} from '@witan/client'
import { sizeText } from '@witan/protocol/files'
import { progressText } from '@witan/protocol/shown'
import { critiqueSpans } from './critique.ts'
import { hookSpans } from './hook.ts'
import { retrievalSpans } from './knowledge.ts'
import { memorySpans, recalledSpans } from './memory.ts'
import { callerWords, nameOf, returnOf, stepOf } from './naming.ts'
import { planLines, wrotePlan } from './plan.ts'
import { argumentsPhrase, compact, count, duration, resultPhrase } from './phrase.ts'
import { cutStart, cutText, oneLine, textWidth } from './width.ts'

/** The role of a piece of text; the terminal chooses its colour. */
export type Tone = 'plain' | 'strong' | 'faint' | 'quote' | 'busy' | 'good' | 'bad' | 'wait'
/** A piece of one line. */
export interface Span {
  readonly text: string
  readonly tone: Tone
}
/** One line of the picture. */
export type Line = readonly Span[]

/** `now` is on the server's clock; `frame` turns the mark of what runs; `words` unfolds what a model reasoned. */
export interface DrawOptions {
  readonly columns: number
  readonly now: number
  readonly frame?: number
  readonly words?: (reasoned: string, columns: number) => readonly Line[]
}

const widest = 104
/** So that a result is seen beside long arguments. */
const longestArguments = 46
const mostNames = 3
const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const marks: Readonly<Record<CallState, Span>> = {
  running: { text: '⠋', tone: 'busy' },
  waiting: { text: '◆', tone: 'wait' },
  completed: { text: '✓', tone: 'good' },
  failed: { text: '✗', tone: 'bad' },
  cancelled: { text: '⊘', tone: 'faint' },
}

/** The complete tree of a run. No line is wider than `columns`; the answer of the run is in it only while it is written. */
export function drawTree(view: ConversationView, runId: string, options: DrawOptions): Line[] {
  const columns = Math.max(8, Math.min(options.columns, widest))
  const lines: Line[] = []
  const root = view.calls.get(runId)
  const speaker = speakersOf(view, runId).at(-1)
  if (root !== undefined) drawCall(root, { ...options, view, speaker, columns, lines, lead: '', under: '' })
  return lines
}

/** The mark of a state; `frame` turns the one of what runs. */
export function markOf(state: CallState, frame = 0): Span {
  const mark = marks[state]
  return state === 'running' ? { ...mark, text: frames[frame % frames.length] ?? mark.text } : mark
}

/** The right-hand words of a call: its time, and for an agent the tokens of its whole subtree. */
export function figuresOf(view: ConversationView, call: CallView, now: number): Figures {
  const { state, startedAt, endedAt } = call
  const time = state === 'waiting' ? 'waits' : duration(momentOf(endedAt, now) - momentOf(startedAt, now))
  const sum = call.kind === 'tool' ? noTokens : tokensBelow(view, call)
  const tokens = sum.used === 0 ? '' : `${sum.complete ? '' : '≥ '}${count(sum.used)} tok`
  return { time: state === 'cancelled' && endedAt === null ? '' : time, tokens }
}

interface Figures {
  readonly time: string
  readonly tokens: string
}

const noTokens = { used: 0, complete: true }

function tokensBelow(view: ConversationView, { tokens, children }: CallView): typeof noTokens {
  let sum = { used: tokens.input + tokens.output, complete: tokens.complete }
  for (const id of children) {
    const child = view.calls.get(id)
    const below = child === undefined ? noTokens : tokensBelow(view, child)
    sum = { used: sum.used + below.used, complete: sum.complete && below.complete }
  }
  return sum
}

/** Milliseconds of the server's clock. */
function momentOf(at: string | null, otherwise: number): number {
  return at === null ? otherwise : Date.parse(at)
}

/** What a call was asked and what came of it, after its name. */
export function detailOf(view: ConversationView, call: CallView): Span[] {
  if (call.error !== null && call.state === 'failed') {
    return [{ text: `${call.error.code}  `, tone: 'bad' }, faint(oneLine(call.error.detail))]
  }
  // What a target is asked stands at the agent that handed over.
  const task: Span = { text: call.handedFrom === null ? oneLine(call.task) : '', tone: 'quote' }
  if (call.kind === 'agent') return [...placeSpans(call), ...stepSpans(view, call), ...mannerOf(call), task]
  const [kept] = call.memories
  if (kept !== undefined) return memorySpans(kept)
  const given = argumentsPhrase(call.arguments, call.bound)
  const saved = savedSpans(call)
  if (call.state !== 'completed' && saved.length === 0) return [faint(given)]
  const asked = given === '' ? [] : [faint(`${cutText(given, longestArguments)}  `)]
  if (call.state !== 'completed') return [...asked, ...saved]
  return [...asked, ...saved, ...(recalledSpans(call) ?? [faint('→ '), plain(resultPhrase(call.result))])]
}

/** The files that a tool call has saved. */
function savedSpans({ artifacts }: CallView): Span[] {
  if (artifacts.length === 0) return []
  const names = artifacts.slice(0, mostNames).map(({ name, bytes }) => `${oneLine(name)}, ${sizeText(bytes)}`)
  const more = artifacts.length - names.length
  return [faint('saved '), plain(`${names.join('; ')}${more > 0 ? `; ${more} more` : ''}  `)]
}

/** The other server: where a call goes, or where the run's came from. */
function placeSpans({ remote, caller }: CallView): Span[] {
  const words = remote === null ? callerWords(caller) : oneLine(remote)
  return words === '' ? [] : [faint(`${words}  `)]
}

/** Which step of a workflow a call is. */
function stepSpans(view: ConversationView, call: CallView): Span[] {
  const step = stepOf(view, call)
  return step === '' ? [] : [faint(`${step}  `)]
}

/** The mark of a call that its caller does not wait for. */
function mannerOf({ background, hidden, isCritic, guardrail }: CallView): Span[] {
  if (guardrail !== null) return [faint(`checks ${guardrail}  `)]
  if (isCritic) return [faint('criticises  ')]
  if (background) return [{ text: 'in the background  ', tone: 'busy' }]
  return hidden ? [{ text: 'follow-up  ', tone: 'busy' }] : []
}

interface Place extends DrawOptions {
  readonly view: ConversationView
  /** The call whose answer is printed below the tree. */
  readonly speaker: CallView | undefined
  readonly lines: Line[]
  /** The indentation of this call, and of the calls below it. */
  readonly lead: string
  readonly under: string
}

function drawCall(call: CallView, at: Place): void {
  at.lines.push(callLine(call, at))
  const said = lastWords(call, at)
  const reasoned = reasonedOf(call, at)
  const retrievals = call.retrievals.map((one) => [retrievalSpans(one)])
  const memories = call.kind === 'agent' ? call.memories.map((one) => [memorySpans(one)]) : []
  const critiques = call.critiques.map((one) => [critiqueSpans(one, call)])
  const hooks = call.hooks.map((one) => [hookSpans(one)])
  const notices = call.notices.filter(isForPeople).map((notice) => [noticeSpans(notice)])
  const children = childrenOf(at.view, call).flatMap((one) => drawnAs(at.view, one))
  const plan = planLines(call)
  const parts = [
    ...memories,
    ...retrievals,
    ...(plan.length === 0 ? [] : [plan]),
    ...(reasoned.length === 0 ? [] : [reasoned]),
    ...notices,
    ...children,
    ...critiques,
    ...hooks,
    ...(said === null ? [] : [[said]]),
  ]
  for (const [index, part] of parts.entries()) {
    const last = index === parts.length - 1
    const lead = `${at.under}${last ? '└─ ' : '├─ '}`
    const under = `${at.under}${last ? '   ' : '│  '}`
    if ('callId' in part) drawCall(part, { ...at, lead, under })
    else
      for (const [row, line] of part.entries())
        at.lines.push(cutLine([faint(row === 0 ? lead : under), ...line], at.columns))
  }
}

/** One line with the time that the model reasoned, and its words if they are unfolded. */
function reasonedOf({ reasoned }: CallView, { under, columns, now, words }: Place): Line[] {
  if (reasoned === null || reasoned.text === '') return []
  return [[reasonedSpan(reasoned, now)], ...(words?.(reasoned.text, columns - textWidth(under) - 3) ?? [])]
}

/** How long a model reasoned, or has been reasoning. */
export function reasonedSpan({ ms, since }: Reasoned, now: number): Span {
  if (since === null) return faint(`thought for ${duration(ms)}`)
  return faint(`thinking for ${duration(ms + Math.max(0, now - Date.parse(since)))}`)
}

/**
 * A tool call that only starts an agent is drawn as that agent, and one that handed over as the target. Below a target stands the
 * line of its return. A call that wrote a plan is not drawn: the plan is.
 */
function drawnAs(view: ConversationView, call: CallView): (CallView | Line[])[] {
  if (call.kind === 'tool' && call.children.length > 0) return childrenOf(view, call)
  if (call.transferToAgent !== null || wrotePlan(call)) return []
  const back = returnOf(view, call)
  return back === null ? [call] : [call, [[plain(back)]]]
}

function callLine(call: CallView, at: Place): Line {
  const name: Span = { text: nameOf(at.view, call), tone: call.kind === 'agent' ? 'strong' : 'plain' }
  const mark = markOf(isHeldUp(at.view, call) ? 'waiting' : call.state, at.frame)
  const left = [faint(at.lead), mark, plain(' '), name, plain('  '), ...detailOf(at.view, call)]
  const { time, tokens } = figuresOf(at.view, call, at.now)
  const right = at.columns < 44 ? '' : at.columns < 64 ? time.padStart(9) : time.padStart(9) + tokens.padStart(12)
  if (right === '') return cutLine(left, at.columns)
  return [...pad(cutLine(left, at.columns - right.length), at.columns - right.length), faint(right)]
}

/** True for a running agent that only waits for answers, itself or in calls below it. */
function isHeldUp(view: ConversationView, call: CallView): boolean {
  if (call.kind !== 'agent' || call.state !== 'running') return call.state === 'waiting'
  const open = childrenOf(view, call).filter(({ state }) => state === 'running' || state === 'waiting')
  return open.length > 0 && open.every((child) => isHeldUp(view, child))
}

/**
 * The last line an agent wrote, its end where it is long and still growing. The answer of the run is shown only while it is
 * written, because it is printed whole; that of an agent that handed over stands at its target.
 */
function lastWords(call: CallView, { view, speaker, columns, under }: Place): Span[] | null {
  if (call.progress !== null)
    return [{ text: cutText(progressText(call.progress), columns - textWidth(under) - 4), tone: 'faint' }]
  if (call.kind !== 'agent') return null
  if (call.state === 'running' || call.state === 'waiting') {
    const line = call.textEnded ? '' : oneLine(call.text.trimEnd().split('\n').at(-1) ?? '')
    if (line === '') return null
    return [
      { text: cutStart(line, columns - textWidth(under) - 4), tone: 'quote' },
      { text: '▍', tone: 'busy' },
    ]
  }
  if (call === speaker || speakersOf(view, call.callId).at(-1) !== call) return null
  const words = oneLine(call.text) || (call.output === null ? '' : compact(call.output))
  return words === '' ? null : [{ text: words, tone: 'quote' }]
}

function childrenOf(view: ConversationView, { children }: CallView): CallView[] {
  return children.flatMap((id) => view.calls.get(id) ?? [])
}

/** Messages of the runtime to an agent, such as a request to answer again, are not drawn. */
function isForPeople({ code }: CallNotice): boolean {
  return code !== 'RUNTIME'
}

/** A notice as one text. */
export function noticeText({ code, detail }: CallNotice): string {
  return oneLine(`${code}: ${detail}`)
}

function noticeSpans(notice: CallNotice): Span[] {
  return [
    { text: '! ', tone: 'wait' },
    { text: noticeText(notice), tone: 'faint' },
  ]
}

/** The columns that a line takes. */
export function lineWidth(line: Line): number {
  return line.reduce((sum, { text }) => sum + textWidth(text), 0)
}

/** Cuts spans to a width. */
export function cutLine(spans: readonly Span[], columns: number): Line {
  const out: Span[] = []
  let left = columns
  for (const span of spans) {
    const text = cutText(span.text, left)
    if (span.text === '') continue
    if (text === '') break
    out.push({ ...span, text })
    left -= textWidth(text)
    if (text !== span.text) break
  }
  return out
}

function pad(line: Line, columns: number): Line {
  const width = lineWidth(line)
  return width >= columns ? line : [...line, plain(' '.repeat(columns - width))]
}

function plain(text: string): Span {
  return { text, tone: 'plain' }
}

function faint(text: string): Span {
  return { text, tone: 'faint' }
}
