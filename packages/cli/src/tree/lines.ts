/** The tree as lines of styled spans, at a width and a moment. Pure. */
import type { NodeState, TreeNode } from './fold.ts'
import { tokensBelow } from './fold.ts'
import { argumentsPhrase, compact, count, duration, resultPhrase } from './phrase.ts'
import { cutStart, cutText, oneLine, textWidth } from './width.ts'

/** What a piece of text is, for whoever chooses the colours. */
export type Tone = 'plain' | 'strong' | 'faint' | 'quote' | 'busy' | 'good' | 'bad' | 'wait'
/** A piece of one line. */
export interface Span {
  readonly text: string
  readonly tone: Tone
}
/** One line of the picture. */
export type Line = readonly Span[]

/** `now` is on the server's clock; `frame` turns the mark of what runs. */
export interface DrawOptions {
  readonly columns: number
  readonly now: number
  readonly frame?: number
}

const widest = 104
/** So that a result is seen beside long arguments. */
const longestArguments = 46
const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const marks: Readonly<Record<NodeState, Span>> = {
  running: { text: '⠋', tone: 'busy' },
  waiting: { text: '◆', tone: 'wait' },
  completed: { text: '✓', tone: 'good' },
  failed: { text: '✗', tone: 'bad' },
  cancelled: { text: '⊘', tone: 'faint' },
}

/** The whole tree of a run. No line is wider than `columns`; the root's own text stands below it only while it is written. */
export function drawTree(root: TreeNode, options: DrawOptions): Line[] {
  const columns = Math.max(8, Math.min(options.columns, widest))
  const lines: Line[] = []
  drawNode(root, { ...options, columns, lines, lead: '', under: '' })
  return lines
}

/** The mark of a state; `frame` turns the one of what runs. */
export function markOf(state: NodeState, frame = 0): Span {
  const mark = marks[state]
  return state === 'running' ? { ...mark, text: frames[frame % frames.length] ?? mark.text } : mark
}

/** The right-hand words of a call: its time, and for an agent the tokens of its whole subtree. */
export function figuresOf(node: TreeNode, now: number): { readonly time: string; readonly tokens: string } {
  const time = node.state === 'waiting' ? 'waits' : duration((node.endedAt ?? now) - node.startedAt)
  const sum = tokensBelow(node)
  const tokens = node.kind === 'tool' || sum.tokens === 0 ? '' : `${sum.counted ? '' : '≥ '}${count(sum.tokens)} tok`
  return { time: node.state === 'cancelled' && node.endedAt === null ? '' : time, tokens }
}

/** What a call was asked and what came of it, after its name. */
export function detailOf(node: TreeNode): Span[] {
  if (node.error !== null && node.state === 'failed') {
    return [{ text: `${node.error.code}  `, tone: 'bad' }, faint(oneLine(node.error.detail))]
  }
  if (node.kind === 'agent') return [...mannerOf(node), { text: oneLine(node.task), tone: 'quote' }]
  const given = argumentsPhrase(node.arguments, node.bound)
  if (node.state !== 'completed') return [faint(given)]
  const asked = given === '' ? [] : [faint(`${cutText(given, longestArguments)}  `)]
  return [...asked, faint('→ '), plain(resultPhrase(node.result))]
}

/** What sets a call apart from those that somebody waits for. */
function mannerOf({ background, hidden }: TreeNode): Span[] {
  if (background) return [{ text: 'in the background  ', tone: 'busy' }]
  return hidden ? [{ text: 'follow-up  ', tone: 'busy' }] : []
}

interface Place extends DrawOptions {
  readonly lines: Line[]
  /** What stands before this node, and before whatever is below it. */
  readonly lead: string
  readonly under: string
}

function drawNode(node: TreeNode, at: Place): void {
  at.lines.push(nodeLine(node, at))
  const said = lastWords(node, at.columns - textWidth(at.under) - 3)
  const children = node.children.flatMap((child) => (isDelegation(child) ? child.children : [child]))
  const parts = [...node.notices.map(noticeSpans), ...children, ...(said === null ? [] : [said])]
  for (const [index, part] of parts.entries()) {
    const last = index === parts.length - 1
    const lead = `${at.under}${last ? '└─ ' : '├─ '}`
    const under = `${at.under}${last ? '   ' : '│  '}`
    if ('callId' in part) drawNode(part, { ...at, lead, under })
    else at.lines.push(cutLine([faint(lead), ...part], at.columns))
  }
}

/** A tool call that only stands for the agent below it is drawn as that agent. */
function isDelegation(node: TreeNode): boolean {
  return node.kind === 'tool' && node.children.length > 0
}

function nodeLine(node: TreeNode, at: Place): Line {
  const name: Span = { text: oneLine(node.name), tone: node.kind === 'agent' ? 'strong' : 'plain' }
  const mark = markOf(isHeldUp(node) ? 'waiting' : node.state, at.frame)
  const left = [faint(at.lead), mark, plain(' '), name, plain('  '), ...detailOf(node)]
  const { time, tokens } = figuresOf(node, at.now)
  const right = at.columns < 44 ? '' : at.columns < 64 ? time.padStart(9) : time.padStart(9) + tokens.padStart(12)
  if (right === '') return cutLine(left, at.columns)
  return [...pad(cutLine(left, at.columns - right.length), at.columns - right.length), faint(right)]
}

/** An agent that runs only in name: all it does is wait for somebody, here or further down. */
function isHeldUp(node: TreeNode): boolean {
  if (node.kind !== 'agent' || node.state !== 'running') return node.state === 'waiting'
  const open = node.children.filter(({ state }) => state === 'running' || state === 'waiting')
  return open.length > 0 && open.every(isHeldUp)
}

/** The last line an agent wrote, its end where it is long and still growing; of a root only while it writes, since its answer is printed whole. */
function lastWords(node: TreeNode, columns: number): Span[] | null {
  if (node.kind !== 'agent') return null
  if (node.state === 'running' || node.state === 'waiting') {
    const line = node.textEnded ? '' : oneLine(node.text.trimEnd().split('\n').at(-1) ?? '')
    if (line === '') return null
    return [
      { text: cutStart(line, columns - 1), tone: 'quote' },
      { text: '▍', tone: 'busy' },
    ]
  }
  if (node.parent === null) return null
  const words = oneLine(node.text) || (node.result === null ? '' : compact(node.result))
  return words === '' ? null : [{ text: words, tone: 'quote' }]
}

function noticeSpans(notice: string): Span[] {
  return [
    { text: '! ', tone: 'wait' },
    { text: oneLine(notice), tone: 'faint' },
  ]
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
  const width = line.reduce((sum, span) => sum + textWidth(span.text), 0)
  return width >= columns ? line : [...line, plain(' '.repeat(columns - width))]
}

function plain(text: string): Span {
  return { text, tone: 'plain' }
}

function faint(text: string): Span {
  return { text, tone: 'faint' }
}
