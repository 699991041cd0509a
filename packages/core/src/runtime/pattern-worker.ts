/** The thread of patterns: it answers one question after another. */
import { parentPort } from 'node:worker_threads'
import type { RE2JS } from 're2js'
import { steady } from '../identity/clock.ts'
import { expressionOf, type GuardQuestion, guardText } from '../guard/work.ts'

/** A question to the thread. */
export interface SentQuestion extends GuardQuestion {
  readonly id: number
}

/** Its answer. */
export type PatternReply =
  | { readonly id: number; readonly found: boolean | string }
  | { readonly id: number; readonly failed: string }

const mostKept = 200
const known = new Map<string, RE2JS>()

function compiled(pattern: string): RE2JS {
  const expression = known.get(pattern) ?? expressionOf(pattern)
  if (known.size >= mostKept) known.clear()
  known.set(pattern, expression)
  return expression
}

/** How long one question may take, in ms: others wait for it. */
const mostMs = 2_000

function answer({ id, ...question }: SentQuestion): PatternReply {
  const end = steady() + mostMs
  try {
    const found = guardText(compiled(question.pattern), question, () => steady() < end)
    return found === null ? { id, failed: `it took longer than ${mostMs / 1000} s` } : { id, found }
  } catch (error) {
    return { id, failed: error instanceof Error ? error.message : 'unknown trouble' }
  }
}

parentPort?.on('message', (question: SentQuestion) => parentPort?.postMessage(answer(question)))
