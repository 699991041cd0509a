/** Asks the person at the terminal for the answer to what waits. */
import type { InterruptionAnswer } from '@witan/client'
import type { Interruption, Question } from '@witan/protocol'
import { actionAnswer, approvalAnswer, type Choice, policyAnswer, questionChoice } from './answer-words.ts'
import { askedLines, questionLines } from './interruption-lines.ts'
import type { Terminal } from './terminal.ts'
import { columnsOf, createLineReader, print } from './terminal.ts'
import type { Line } from './tree/lines.ts'
import { lineWidth } from './tree/lines.ts'
import { wrapLine } from './tree/wrap.ts'
import { oneLine, textWidth } from './tree/width.ts'

/** What was said: null leaves it open. `columns` are the widths of all lines that were written. */
interface Asked {
  readonly answer: InterruptionAnswer | null
  readonly columns: readonly number[]
}

const promptText = '  › '

/** What may be shown with a question, and what ends it. */
interface AskOptions {
  /** Why the answer before was not taken. */
  readonly trouble?: string | undefined
  /** On what condition an approval is asked for. */
  readonly condition?: string | null
  /** Ends the question when it aborts; its reason is a phrase for the person who was asked. */
  readonly settled?: AbortSignal
}

/** Shows what waits and reads its answer. A line that cannot be understood is asked for again. */
export async function askFor(terminal: Terminal, open: Interruption, options: AskOptions = {}): Promise<Asked> {
  const { trouble, settled, condition = null } = options
  const dialogue = createDialogue(terminal, settled)
  for (const line of askedLines(open)) dialogue.write(line)
  if (condition !== null) dialogue.write([{ text: `  waits if ${oneLine(condition)}`, tone: 'faint' }])
  if (trouble !== undefined) dialogue.write([{ text: `  ! ${trouble}`, tone: 'bad' }])
  const answer = await answerOf(dialogue, open)
  if (settled?.aborted === true) dialogue.write([{ text: `  ${String(settled.reason)}`, tone: 'wait' }])
  return { answer, columns: dialogue.columns }
}

interface Dialogue {
  readonly columns: readonly number[]
  /** Nothing is cut: what is answered is seen in full. */
  write(line: Line): void
  read(hint: string): Promise<string | null>
}

function createDialogue(terminal: Terminal, settled: AbortSignal | undefined): Dialogue {
  const widest = columnsOf(terminal.output, 80) - 1
  const columns: number[] = []
  const write = (line: Line) => {
    for (const part of wrapLine(line, widest, 4)) {
      columns.push(lineWidth(part))
      print(terminal, part)
    }
  }
  return {
    columns,
    write,
    async read(hint) {
      write([{ text: `  ${hint}`, tone: 'faint' }])
      const { said, typed } = await readLine(terminal, settled)
      columns.push(textWidth(promptText + typed) + 1)
      return said
    },
  }
}

async function answerOf(dialogue: Dialogue, open: Interruption): Promise<InterruptionAnswer | null> {
  if (open.kind === 'question') return questionsAnswer(dialogue, open.questions)
  if (open.kind === 'action')
    return understood(
      dialogue,
      'What came of it, as text or JSON? “!reason” refuses, an empty line leaves it open.',
      actionAnswer,
    )
  if (open.kind === 'approval')
    return understood(
      dialogue,
      'y approves, n or “!reason” denies, {…} changes the arguments; empty: later.',
      approvalAnswer,
    )
  if (open.kind === 'message')
    return understood(dialogue, 'Your reply; an empty line leaves it open.', (said) =>
      said.trim() === '' ? null : { answer: said.trim() },
    )
  return understood(dialogue, 'y accepts, {…} resolves it with data, n declines; empty: later.', policyAnswer)
}

type Reader = (said: string) => InterruptionAnswer | null | undefined

async function understood(dialogue: Dialogue, hint: string, reader: Reader): Promise<InterruptionAnswer | null> {
  for (;;) {
    const said = await dialogue.read(hint)
    if (said === null) return null
    const answer = reader(said)
    if (answer !== undefined) return answer
  }
}

/** One after the other; a required one that gets an empty line leaves all of them open. */
async function questionsAnswer(dialogue: Dialogue, questions: readonly Question[]): Promise<InterruptionAnswer | null> {
  const answers: Record<string, Choice> = {}
  for (const question of questions) {
    for (const line of questionLines(question)) dialogue.write(line)
    const choice = await choose(dialogue, question)
    if (choice === null) return null
    if (Object.keys(choice).length > 0) answers[question.id] = choice
    else if (question.required) return null
  }
  return { answer: answers }
}

async function choose(dialogue: Dialogue, question: Question): Promise<Choice | null> {
  for (;;) {
    const said = await dialogue.read(choiceHint(question))
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

/** `typed` is what stands on the screen, also where the question ended before the line did. */
async function readLine(terminal: Terminal, settled: AbortSignal | undefined) {
  const reader = createLineReader(terminal, terminal.input.isTTY === true)
  const over = Promise.withResolvers<null>()
  const end = () => {
    print(terminal)
    over.resolve(null)
  }
  reader.once('close', () => over.resolve(null))
  if (settled?.aborted === true) end()
  settled?.addEventListener('abort', end, { once: true })
  try {
    const asked = new Promise<string>((settle) => reader.question(promptText, settle))
    const said = await Promise.race([asked, over.promise])
    return { said, typed: said ?? reader.line }
  } finally {
    settled?.removeEventListener('abort', end)
    reader.close()
  }
}
