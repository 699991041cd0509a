/** A run as a sequence diagram: who said what to whom, agents, peers and people, folded from its events [Tb27]. */
import type { Event, EventOf } from './event.ts'

/** One arrow of a diagram, numbered from 1 in the order of the log. `text` is one line. */
export interface Arrow {
  readonly number: number
  readonly seq: number
  readonly from: string
  readonly to: string
  /** An `answer` goes back to who asked; a `failure` is an answer that did not come; a `refused` message was not sent. */
  readonly kind: 'message' | 'answer' | 'failure' | 'refused'
  readonly text: string
  /** Why a message was refused: `PROTOCOL_VIOLATION` or `TOOL_ARGS_INVALID`. */
  readonly code?: string
}

/** Somebody in a diagram, in the order of appearance. */
export interface Participant {
  readonly id: string
  readonly isPerson: boolean
}

/** The diagram of one run, as far as its events have come. */
export interface Diagram {
  readonly participants: readonly Participant[]
  readonly arrows: readonly Arrow[]
}

/** A diagram that grows with each event; those of other runs change nothing. */
export interface DiagramFold extends Diagram {
  take(event: Event): void
}

interface Call {
  readonly agent: string
  readonly asker: string
  /** Its messages and replies are events of their own. */
  readonly isPeer: boolean
  /** Set if it got control from another call: that one, or the one that this one stands in for. */
  readonly position: Call | null
  /** Who has its control, and so gives its answer. */
  speaker: string
}

interface Fold {
  readonly run: string
  /** Who spoke last to the run's root, and so reads its answer. */
  author: string
  readonly people: Map<string, boolean>
  readonly arrows: Arrow[]
  readonly calls: Map<string, Call>
  /** Messages to peers that were not sent, by their calls, until it is known why. */
  readonly unsent: Map<string, { readonly from: string; readonly to: string }>
  readonly asked: Map<string, { readonly agent: string; readonly person: string }>
}

/** An empty diagram of a run. */
export function createDiagram(run: string): DiagramFold {
  const fold: Fold = {
    run,
    author: nobody,
    people: new Map(),
    arrows: [],
    calls: new Map(),
    unsent: new Map(),
    asked: new Map(),
  }
  return {
    get participants() {
      return [...fold.people].map(([id, isPerson]) => ({ id, isPerson }))
    },
    arrows: fold.arrows,
    take(event) {
      if (event.rootCallId === run && event.type !== 'delta') takeEvent(fold, event)
    },
  }
}

const nobody = 'user'

function takeEvent(fold: Fold, event: Event): void {
  if (event.type === 'message') return takeMessage(fold, event)
  if (event.type === 'start' && event.kind === 'agent') return takeStart(fold, event)
  if (event.type === 'end' && event.kind === 'agent') {
    const { text, finishReason } = event.content
    const isCancelled = finishReason === 'cancelled'
    return takeEnd(fold, event, isCancelled ? { kind: 'failure', text: 'cancelled' } : { kind: 'answer', text })
  }
  if (event.type === 'error' && event.kind === 'agent')
    return takeEnd(fold, event, { kind: 'failure', text: event.content.detail })
  if (event.type === 'start' && event.kind === 'tool') return takeUnsent(fold, event)
  if (event.type === 'error' && event.kind === 'tool') return takeRefused(fold, event)
  if (event.type === 'transfer') return takeTransfer(fold, event)
  if (event.type === 'question_required' || event.type === 'approval_required' || event.type === 'message_required')
    return takeAsked(fold, event)
  if (event.type === 'resolved') takeAnswer(fold, event)
}

function takeMessage(fold: Fold, event: EventOf<'message'>): void {
  const { author, text, to, name, isReply, body } = event.content
  if (to === undefined) {
    const agent = event.agentPath.split('/').at(-1) ?? ''
    const isPerson = event.authorKind === 'user'
    if (isPerson || event.authorKind === 'remote') fold.author = author
    if (author !== 'witan') add(fold, event, { from: author, to: agent, kind: 'message', text, isPerson })
    return
  }
  const words = typeof body === 'string' ? body : JSON.stringify(body)
  const said = isReply === true ? words : `${name} ${words}`
  add(fold, event, { from: author, to, kind: isReply === true ? 'answer' : 'message', text: said })
}

function takeStart(fold: Fold, event: EventOf<'start'> & { kind: 'agent' }): void {
  const { callId, parentCallId, author: agent, document, content, agentPath } = event
  const { handedFrom } = content
  const source = handedFrom === null ? undefined : fold.calls.get(handedFrom)
  const position = source === undefined ? null : (source.position ?? source)
  const asker = parentCallId === null ? fold.author : (agentPath.split('/').at(-2) ?? nobody)
  const isPeer = document.split('/').at(-1)?.startsWith('@') === true
  fold.calls.set(callId, { agent, asker, isPeer, position, speaker: agent })
  if (position !== null) position.speaker = agent
  else if (parentCallId !== null && !isPeer)
    add(fold, event, { from: asker, to: agent, kind: 'message', text: content.message })
}

function takeEnd(fold: Fold, event: Event, { kind, text }: Pick<Arrow, 'kind' | 'text'>): void {
  const call = fold.calls.get(event.callId)
  if (call === undefined || call.position !== null || (call.isPeer && kind === 'answer')) return
  const isPerson = event.parentCallId === null
  add(fold, event, {
    from: call.isPeer ? call.agent : call.speaker,
    to: call.asker,
    kind,
    text,
    ...(isPerson ? { toPerson: true } : {}),
  })
}

function takeUnsent(fold: Fold, event: EventOf<'start'> & { kind: 'tool' }): void {
  const { exchange } = event.content
  if (exchange === undefined) return
  const { initiator, responder } = exchange
  const isInitiator = fold.calls.get(event.parentCallId ?? '')?.agent === initiator
  const [from, to] = isInitiator ? [initiator, responder] : [responder, initiator]
  fold.unsent.set(event.callId, { from, to })
}

const refusals: ReadonlySet<string> = new Set(['PROTOCOL_VIOLATION', 'TOOL_ARGS_INVALID'])

function takeRefused(fold: Fold, event: EventOf<'error'> & { kind: 'tool' }): void {
  const unsent = fold.unsent.get(event.callId)
  fold.unsent.delete(event.callId)
  const { code, detail } = event.content
  if (unsent !== undefined && refusals.has(code)) add(fold, event, { ...unsent, kind: 'refused', text: detail, code })
}

function takeTransfer(fold: Fold, event: EventOf<'transfer'>): void {
  const { from, to, returned } = event.content
  const call = fold.calls.get(event.callId)
  if (call !== undefined) (call.position ?? call).speaker = to
  add(fold, event, {
    from,
    to,
    kind: returned ? 'answer' : 'message',
    text: returned ? 'gives control back' : 'hands over',
  })
}

type Asked = EventOf<'question_required'> | EventOf<'approval_required'> | EventOf<'message_required'>

function takeAsked(fold: Fold, event: Asked): void {
  const { id, addressee } = event.content
  const agent = event.agentPath.split('/').at(-1) ?? ''
  const person = addressee ?? nobody
  fold.asked.set(id, { agent, person })
  add(fold, event, { from: agent, to: person, kind: 'message', text: wordsOf(event), toPerson: true })
}

function wordsOf(event: Asked): string {
  if (event.type === 'question_required') return event.content.questions.map(({ text }) => text).join(' ')
  if (event.type === 'message_required') return event.content.prompt
  return `approve ${event.content.tool}?`
}

function takeAnswer(fold: Fold, event: EventOf<'resolved'>): void {
  const { id, state } = event.content
  const asked = fold.asked.get(id)
  if (asked === undefined) return
  const { answer } = event.content as { answer?: unknown }
  const text = state === 'answered' ? (typeof answer === 'string' ? answer : JSON.stringify(answer ?? null)) : state
  const kind = state === 'answered' ? 'answer' : 'failure'
  add(fold, event, { from: asked.person, to: asked.agent, kind, text, isPerson: true })
}

interface Said extends Pick<Arrow, 'from' | 'to' | 'kind' | 'text' | 'code'> {
  readonly isPerson?: boolean
  readonly toPerson?: boolean
}

/** The longest text of an arrow, in characters. */
const longest = 120

function add(fold: Fold, { seq = 0 }: Event, { isPerson = false, toPerson = false, text, ...said }: Said): void {
  const { people, arrows } = fold
  if (!people.has(said.from)) people.set(said.from, isPerson)
  if (!people.has(said.to)) people.set(said.to, toPerson)
  arrows.push({ number: arrows.length + 1, seq, ...said, text: lineOf(text) })
}

/** The beginning of a text as one line. What is cut off is not read: a text may be megabytes long. */
function lineOf(text: string): string {
  let line = ''
  for (const [word] of text.matchAll(/\S+/g)) {
    line += line === '' ? word : ` ${word}`
    if (line.length > longest) return `${line.slice(0, longest - 1).replace(/[\ud800-\udbff]$/, '')}…`
  }
  return line
}

const textArrows = { message: '→', answer: '⇢', failure: '✗', refused: '✗' } as const

/** A diagram as lines of text: number, sender, arrow, recipient, words. */
export function diagramText({ arrows }: Diagram): string {
  const widths = { number: width(arrows, 'number'), from: width(arrows, 'from'), to: width(arrows, 'to') }
  const lines = arrows.map(({ number, from, to, kind, ...arrow }) => {
    const who = `${from.padEnd(widths.from)} ${textArrows[kind]} ${to.padEnd(widths.to)}`
    return `${String(number).padStart(widths.number)}  ${who}  ${arrowWords(arrow)}`.trimEnd()
  })
  return lines.map((line) => `${line}\n`).join('')
}

/** The words of an arrow, with the code of a refusal. */
function arrowWords({ text, code }: Pick<Arrow, 'text' | 'code'>): string {
  return code === undefined ? text : `refused (${code}): ${text}`
}

function width(arrows: readonly Arrow[], field: 'number' | 'from' | 'to'): number {
  return arrows.reduce((most, arrow) => Math.max(most, String(arrow[field]).length), 0)
}

const mermaidArrows = { message: '->>', answer: '-->>', failure: '--x', refused: '-x' } as const

/** A diagram in the notation of Mermaid. */
export function diagramMermaid({ participants, arrows }: Diagram): string {
  const names = new Map(participants.map(({ id }, index) => [id, mermaidName(id, index)]))
  const actors = participants.map(({ id, isPerson }) => {
    const name = names.get(id)
    const label = name === id ? '' : ` as ${mermaidText(id)}`
    return `  ${isPerson ? 'actor' : 'participant'} ${name}${label}`
  })
  const lines = arrows.map(
    ({ number, from, to, kind, ...arrow }) =>
      `  ${names.get(from)}${mermaidArrows[kind]}${names.get(to)}: ${`${number}. ${mermaidText(arrowWords(arrow))}`.trimEnd()}`,
  )
  return ['sequenceDiagram', ...actors, ...lines, ''].join('\n')
}

/** Words that begin a line of a Mermaid diagram: even a longer id is read as one where a hyphen follows it. */
const reserved = new Set(
  'accdescr acctitle activate actor alt and as autonumber box break create critical deactivate destroy details else end link links loop note opt option over par participant properties rect sequencediagram title'.split(
    ' ',
  ),
)

function mermaidName(id: string, index: number): string {
  return /^[a-z][a-z0-9_]*$/i.test(id) && !reserved.has(id.toLowerCase()) ? id : `p${index}`
}

/** Characters that end a line, or begin a directive or an entity, are written as entities. */
function mermaidText(text: string): string {
  return text.replace(/[#;<>%]/g, (one) => `#${one.codePointAt(0)};`)
}
