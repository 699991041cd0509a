/** Asks the person at the terminal for the answer to what waits. */
import { createInterface } from 'node:readline/promises'
import type { AnswerBody } from '@witan/client'
import type { Interruption, Question } from '@witan/protocol'
import { actionAnswer, approvalAnswer, type Choice, policyAnswer, questionChoice } from './answer-words.ts'
import { askedLines, questionLines } from './interruption-lines.ts'
import type { Terminal } from './terminal.ts'
import { painter, print } from './terminal.ts'
import type { Line } from './tree/lines.ts'
import { cutLine } from './tree/lines.ts'
import { textWidth } from './tree/width.ts'

/** What was said: null leaves it open. `columns` are the widths of all lines that were written. */
export interface Asked {
  readonly answer: AnswerBody | null
  readonly columns: readonly number[]
}

const promptText = '  › '

/** Shows what waits and reads its answer. A line that cannot be understood is asked for again; `trouble` says why an answer was not taken. */
export async function askFor(terminal: Terminal, open: Interruption, trouble: string | null = null): Promise<Asked> {
  const desk = createDesk(terminal)
  for (const line of askedLines(open)) desk.write(line, open.kind === 'approval')
  if (trouble !== null) desk.write([{ text: `  ! ${trouble}`, tone: 'bad' }], true)
  const answer = await answerOf(desk, open)
  return { answer, columns: desk.columns }
}

interface Desk {
  readonly columns: readonly number[]
  /** `whole` keeps a line that is wider than the terminal: what is approved is seen in full. */
  write(line: Line, whole?: boolean): void
  read(hint: string): Promise<string | null>
}

function createDesk(terminal: Terminal): Desk {
  const paint = painter(terminal)
  const widest = (terminal.output.columns ?? 80) - 1
  const columns: number[] = []
  const write = (line: Line, whole = false) => {
    const cut = whole ? line : cutLine(line, widest)
    columns.push(cut.reduce((sum, span) => sum + textWidth(span.text), 0))
    print(terminal.output, paint(cut))
  }
  return {
    columns,
    write,
    async read(hint) {
      write([{ text: `  ${hint}`, tone: 'faint' }])
      const said = await readLine(terminal)
      columns.push(textWidth(promptText + (said ?? '')) + 1)
      return said
    },
  }
}

async function answerOf(desk: Desk, open: Interruption): Promise<AnswerBody | null> {
  if (open.kind === 'question') return questionsAnswer(desk, open.questions)
  if (open.kind === 'action')
    return understood(
      desk,
      'What came of it, as text or JSON? “!reason” refuses, an empty line leaves it open.',
      actionAnswer,
    )
  if (open.kind === 'approval')
    return understood(
      desk,
      'y approves, n or “!reason” denies, {…} changes the arguments; empty: later.',
      approvalAnswer,
    )
  if (open.kind === 'message')
    return understood(desk, 'Your reply; an empty line leaves it open.', (said) =>
      said.trim() === '' ? null : { answer: said.trim() },
    )
  return understood(desk, '{…} resolves it, n declines, an empty line leaves it open.', policyAnswer)
}

type Reader = (said: string) => AnswerBody | null | undefined

async function understood(desk: Desk, hint: string, reader: Reader): Promise<AnswerBody | null> {
  for (;;) {
    const said = await desk.read(hint)
    if (said === null) return null
    const answer = reader(said)
    if (answer !== undefined) return answer
  }
}

/** One after the other; a required one that gets an empty line leaves all of them open. */
async function questionsAnswer(desk: Desk, questions: readonly Question[]): Promise<AnswerBody | null> {
  const answers: Record<string, Choice> = {}
  for (const question of questions) {
    for (const line of questionLines(question)) desk.write(line)
    const choice = await choose(desk, question)
    if (choice === null) return null
    if (Object.keys(choice).length > 0) answers[question.id] = choice
    else if (question.required) return null
  }
  return { answer: answers }
}

async function choose(desk: Desk, question: Question): Promise<Choice | null> {
  for (;;) {
    const said = await desk.read(choiceHint(question))
    if (said === null) return null
    const choice = questionChoice(question, said)
    if (choice !== undefined) return choice
  }
}

function choiceHint({ options, multiple, freeText, required }: Question): string {
  const number = multiple ? 'Numbers with commas' : 'A number'
  const what = options.length === 0 ? 'Your answer' : freeText ? `${number}, or your own words` : number
  return `${what}; an empty line ${required ? 'leaves it open' : 'skips it'}.`
}

async function readLine(terminal: Terminal): Promise<string | null> {
  const reader = createInterface({
    input: terminal.input,
    output: terminal.output as NodeJS.WritableStream,
    terminal: terminal.input.isTTY === true,
  })
  const closed = new Promise<null>((resolve) => reader.once('close', () => resolve(null)))
  try {
    return await Promise.race([reader.question(promptText), closed])
  } finally {
    reader.close()
  }
}
