/** Interruptions as lines of a terminal. */
import type { Interruption, Question } from '@witan/protocol'
import { shownText } from '@witan/protocol/shown'
import type { Line, Span } from './tree/lines.ts'
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

function promptLines(open: Interruption): Line[] {
  if (open.kind === 'action' || open.kind === 'approval') return fieldLines(open.arguments)
  if (open.kind === 'policy') return fieldLines(open.policy)
  if (open.kind === 'message') return textLines(open.prompt)
  return open.questions.length === 1
    ? []
    : open.questions.map(({ id, text }) => [faint(`  ${id}  `), plain(oneLine(text))])
}

/** What is asked in full, without who asks: for a pipe, where nobody is asked one question after the other. */
export function wholeLines(open: Interruption): Line[] {
  return open.kind === 'question' ? open.questions.flatMap(questionLines) : promptLines(open)
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
function fieldLines(fields: Readonly<Record<string, unknown>>): Line[] {
  const named = Object.entries(fields).map(([name, value]) => [oneLine(name), value] as const)
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
  return `${oneLine(open.issuer)} ${compact(open.policy)}`
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
