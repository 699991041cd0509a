/** Reads what events say of critiques. */
import type { EventOf } from '@witan/protocol'
import type { Critique } from './conversation-view.ts'
import { number, text, texts } from './read-value.ts'

/** A critique of an answer. */
export function readCritique({ seq, at, content }: EventOf<'critique'>, lastSeq: number): Critique {
  const { verdict, problems, by, seq: answerSeq } = content
  return {
    seq: seq ?? lastSeq,
    at: text(at),
    verdict: verdict === 'revise' ? 'revise' : 'pass',
    problems: texts(problems),
    by: text(by),
    answerSeq: number(answerSeq) ?? 0,
  }
}
