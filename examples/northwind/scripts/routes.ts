/** Plays an agent by rules: what was asked picks tools, and what they return becomes the answer. No language model is involved. */
import type { Rule, ScriptedCall } from '@witan/core/testing'

/** Rows as a query returns them. */
export type Row = Readonly<Record<string, string | number | null>>

/** One step of a route: a tool to call next, or the words of the answer. */
type Step = ScriptedCall | string

/** A block of memory as the model reads it. */
interface Known {
  readonly key: string
  readonly text: string
  readonly revision: number
}

/** What a route may look at. `result` is what its last call returned: rows of a query, or text; `known`: what the agent remembers. */
export interface Asked {
  readonly message: string
  readonly result: unknown
  readonly rows: readonly Row[]
  readonly known: readonly Known[]
}

/** What to do with a message that matches: one step after the other, until one gives words. */
interface Route {
  readonly match: RegExp
  readonly steps: readonly ((asked: Asked) => Step)[]
}

/** Several routes may match one message: their tools are called at once and their answers stand one below the other. */
export function routes(list: readonly Route[], otherwise: string): Rule {
  return (request) => {
    const start = request.messages.findLastIndex(({ role }) => role === 'user')
    const message = request.messages[start]?.content?.split('\n\n[from @witan to @')[0] ?? ''
    const known = knownIn(request.messages.map(({ content }) => content ?? ''))
    const answers = request.messages.slice(start + 1).filter(({ role }) => role === 'tool')
    const played = list
      .filter(({ match }) => match.test(message))
      .map((route) => ({ route, result: undefined as unknown, words: '' }))
    let taken = 0
    for (let turn = 0; ; turn += 1) {
      const calls: ScriptedCall[] = []
      for (const one of played) {
        if (one.words !== '') continue
        const step =
          one.route.steps[turn]?.({ ...asked(message, one.result), known }) ?? failure(one.result) ?? String(one.result)
        if (typeof step === 'string') one.words = step
        else calls.push(step)
      }
      if (calls.length === 0) return played.map(({ words }) => words).join('\n\n') || otherwise
      if (taken >= answers.length) return { toolCalls: calls }
      for (const one of played.filter(({ words }) => words === '')) {
        one.result = parse(answers[taken]?.content ?? '')
        taken += 1
      }
    }
  }
}

/** A tool call. */
export function call(name: string, args: Readonly<Record<string, unknown>> = {}): ScriptedCall {
  return { name, arguments: args }
}

/** Words made from the rows; says so where there are none, and where the tool failed. */
export function tell(words: (rows: readonly Row[], asked: Asked) => string, none: string): (asked: Asked) => string {
  return (asked) => failure(asked.result) ?? (asked.rows.length === 0 ? none : words(asked.rows, asked))
}

/** The first words of a message that the pattern captures, without quotes. */
export function named(message: string, pattern: RegExp): string {
  return (pattern.exec(message)?.[1] ?? '').replace(/["“”]/g, '').trim()
}

/** A sum of money in US dollars. */
export function money(value: string | number | null | undefined): string {
  return `$${Number(value ?? 0).toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`
}

/** One line for each row. */
export function lines(rows: readonly Row[], line: (row: Row) => string): string {
  return rows.map((row) => `- ${line(row)}`).join('\n')
}

/** What stands in the last line of memory; the runtime writes it as JSON behind a message of the employee. */
function knownIn(contents: readonly string[]): readonly Known[] {
  const found = contents.findLast((content) => memoryLine.test(content))
  const { blocks = [] } = JSON.parse(memoryLine.exec(found ?? '')?.[1] ?? '{}') as {
    readonly blocks?: readonly Known[]
  }
  return blocks
}

const memoryLine = /^\[from @witan to @[\w-]+\] memory: (.*)$/m

function asked(message: string, result: unknown): Omit<Asked, 'known'> {
  return { message, result, rows: Array.isArray(result) ? (result as Row[]) : [] }
}

function failure(result: unknown): string | null {
  const failed = typeof result === 'object' && result !== null && 'error' in result
  return failed ? `That did not work: ${String(result.error)}` : null
}

function parse(content: string): unknown {
  try {
    return JSON.parse(content)
  } catch {
    return content
  }
}
