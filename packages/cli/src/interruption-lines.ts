/** Interruptions as lines of a terminal. */
import type { Interruption, Question } from '@witan/protocol'
import { type Condition, conditionOf } from '@witan/protocol/condition'
import { shownText } from '@witan/protocol/shown'
import { authorKindOf } from '@witan/protocol/entries'
import type { Line, Span } from './tree/lines.ts'
import { callerWords } from './tree/naming.ts'
import { compact } from './tree/phrase.ts'
import { shellWord } from './shell-word.ts'
import { oneLine, textWidth } from './tree/width.ts'

const plain = (text: string): Span => ({ text, tone: 'plain' })
const faint = (text: string): Span => ({ text, tone: 'faint' })
const strong = (text: string): Span => ({ text, tone: 'strong' })

/** Who asks for what, and then what it is about. */
export function askedLines(open: Interruption): Line[] {
  const head: Line = [
    { text: '◆ ', tone: 'wait' },
    strong(oneLine(open.agent)),
    ...whatFor(open),
    ...callerSpans(open),
    faint(`  ${oneLine(open.path)}${open.addressee === null ? '' : `  for ${oneLine(open.addressee)}`}`),
  ]
  return [[], head, ...promptLines(open)]
}

function whatFor(open: Interruption): Span[] {
  if (open.kind === 'action') return [plain(' asks you to do '), strong(oneLine(open.name))]
  if (open.kind === 'approval') return [plain(' wants to call '), strong(oneLine(open.tool))]
  if (open.kind === 'question') return [plain(open.questions.length === 1 ? ' has a question' : ' has questions')]
  if (open.kind === 'message') return [plain(' writes')]
  if (open.issuer === open.agent) return [plain(' has a condition')]
  return [plain(' passes on a condition of '), strong(oneLine(open.issuer))]
}

/** Who called from another server. */
function callerSpans({ caller }: Interruption): Span[] {
  return caller === undefined ? [] : [faint(`  ${callerWords(caller)}`)]
}

/** The agent on another server that asks, and whose condition it passes on. */
export function elsewhereSpans(open: Interruption): Span[] {
  if (authorKindOf(open.agent) !== 'remote') return []
  const issuer = open.kind === 'policy' && open.issuer !== open.agent ? `for ${oneLine(open.issuer)}  ` : ''
  return [faint(`  ${oneLine(open.agent)}  ${issuer}`.trimEnd()), plain(' ')]
}

/** Where it waits, in a list: below whom, which address asks, and who called. */
export function askedPlace({ path, agent, caller }: Interruption): string {
  const asks = authorKindOf(agent) === 'remote' ? oneLine(agent) : ''
  return [oneLine(path), asks, callerWords(caller)].filter((words) => words !== '').join(' ')
}

function promptLines(open: Interruption): Line[] {
  if (open.kind === 'action' || open.kind === 'approval') return fieldLines(Object.entries(open.arguments))
  if (open.kind === 'policy') return conditionLines(conditionOf(open.policy))
  if (open.kind === 'message') return textLines(open.prompt)
  return open.questions.length === 1
    ? []
    : open.questions.map(({ id, text }) => [faint(`  ${id}  `), plain(oneLine(text))])
}

/** What is asked in full, without who asks: for a pipe, where nobody is asked one question after the other. */
export function wholeLines(open: Interruption): Line[] {
  return open.kind === 'question' ? open.questions.flatMap(questionLines) : promptLines(open)
}

/** The issuer's words, and below them what else it says. Nothing of it is opened. */
function conditionLines({ title, message, kind, url, actionLabel, code, retryAfterSeconds, rest }: Condition): Line[] {
  const words = [title, message].flatMap((text) => (text === null || text === '' ? [] : textLines(text)))
  const known = { kind, code, label: actionLabel, address: url, retryAfterSeconds }
  const given = Object.entries(known).filter(([, value]) => value !== null)
  return [...words, ...fieldLines([...given, ...Object.entries(rest)])]
}

/** A question with its options, numbered. */
export function questionLines(question: Question): Line[] {
  const options = question.options.map(
    ({ id, label }, index): Line => [strong(`  ${index + 1} `), plain(oneLine(label)), faint(`  ${oneLine(id)}`)],
  )
  return [...textLines(question.text), ...options]
}

function textLines(text: string): Line[] {
  const lines = shownText(text).trimEnd().split('\n')
  return lines.map((line): Line => [plain(`  ${line}`)])
}

/** A name that is wider does not move the values of the others. */
const widestName = 40

/** Names and values below each other; the values of an approval are not cut. */
function fieldLines(fields: readonly (readonly [string, unknown])[]): Line[] {
  const named = fields.map(([name, value]) => [oneLine(name), value] as const)
  const width = named.reduce((most, [name]) => Math.max(most, textWidth(name)), 0)
  return named.map(([name, value]): Line => {
    const gap = ' '.repeat(Math.min(widestName, width) - Math.min(widestName, textWidth(name)) + 2)
    return [faint(`  ${name}${gap}`), plain(compact(value))]
  })
}

/** What is asked, in one line of a list. */
export function askedPhrase(open: Interruption): string {
  if (open.kind === 'action') return compact(open.arguments)
  if (open.kind === 'approval') return `${oneLine(open.tool)} ${compact(open.arguments)}`
  if (open.kind === 'question') return open.questions.map(({ text }) => oneLine(text)).join(' · ')
  if (open.kind === 'message') return oneLine(open.prompt)
  const { kind, title, message } = conditionOf(open.policy)
  const words = oneLine(title ?? message)
  return `${oneLine(kind)} of ${oneLine(open.issuer)}${words === '' ? '' : `: ${words}`}`
}

/** How it is answered by a command of its own. */
export function answerCommand(open: Interruption): string {
  const command = `witan interruptions answer ${shellWord(open.id)}`
  if (open.kind === 'approval') return `${command} --approve | --deny`
  if (open.kind === 'question') return `${command} ${open.questions.map(choiceWords).join(' ')}`
  if (open.kind === 'policy') return `${command} --approve | --value '{"resolution": {…}}' | --deny`
  return `${command} "…"`
}

function choiceWords({ id, options }: Question): string {
  const ids = options.map((option) => option.id)
  return ids.length === 0 ? `--text ${shellWord(id)}="…"` : `--choose ${shellWord(id)}=${ids.map(shellWord).join('|')}`
}
