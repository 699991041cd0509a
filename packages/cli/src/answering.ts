/** Asks the person at the terminal for the answer to an open action. */
import { createInterface } from 'node:readline/promises'
import type { AnswerBody } from '@witan/client'
import type { Interruption } from '@witan/protocol'
import type { Terminal } from './terminal.ts'
import { painter, print } from './terminal.ts'
import type { Line } from './tree/lines.ts'
import { cutLine } from './tree/lines.ts'
import { compact } from './tree/phrase.ts'
import { oneLine, textWidth } from './tree/width.ts'

/** What was said: null leaves the action open. `columns` are the widths of all lines that were written. */
export interface Asked {
  readonly answer: AnswerBody | null
  readonly columns: readonly number[]
}

const promptText = '  › '

/** Shows the action with its arguments and reads one line. */
export async function askForAction(terminal: Terminal, open: Interruption): Promise<Asked> {
  const paint = painter(terminal)
  const columns = (terminal.output.columns ?? 80) - 1
  const lines = questionLines(open).map((line) => cutLine(line, columns))
  for (const line of lines) print(terminal.output, paint(line))
  const said = await readLine(terminal)
  const widths = lines.map((line) => line.reduce((sum, span) => sum + textWidth(span.text), 0))
  return {
    answer: said === null ? null : toAnswer(said),
    columns: [...widths, textWidth(promptText + (said ?? '')) + 1],
  }
}

/** The question as lines. */
export function questionLines(open: Interruption): Line[] {
  const names = Object.keys(open.arguments)
  const width = Math.max(0, ...names.map(textWidth))
  const fields = Object.entries(open.arguments).map(([name, value]): Line => {
    const gap = ' '.repeat(width - textWidth(name) + 2)
    return [
      { text: `  ${oneLine(name)}${gap}`, tone: 'faint' },
      { text: compact(value), tone: 'plain' },
    ]
  })
  return [
    [],
    [
      { text: '◆ ', tone: 'wait' },
      { text: oneLine(open.agent), tone: 'strong' },
      { text: ' asks you to do ', tone: 'plain' },
      { text: oneLine(open.name), tone: 'strong' },
      { text: `  ${oneLine(open.path)}`, tone: 'faint' },
    ],
    ...fields,
    [{ text: '  What came of it, as text or JSON? “!reason” refuses, an empty line leaves it open.', tone: 'faint' }],
  ]
}

/** Text or JSON as an answer; a leading `!` is the reason why there is none; an empty line is no answer. */
export function toAnswer(said: string): AnswerBody | null {
  const text = said.trim()
  if (text === '') return null
  if (text.startsWith('!')) return { error: text.slice(1).trim() || 'Refused at the terminal.' }
  try {
    return { answer: JSON.parse(text) as unknown }
  } catch {
    return { answer: text }
  }
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
