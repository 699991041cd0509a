/** How the people of this world answer: a policy over the question that they read, the same for scripts and for models that ask. */
import { type Fact, factOf, sentenceOf, sentencesOf, subjectOf } from './facts.ts'
import type { Worker } from './people.ts'

/** What somebody answers to a question. */
export function answerOf(worker: Worker, question: string): string {
  const doubted = sentencesOf(question).flatMap((sentence) => factOf(sentence) ?? [])
  if (doubted.length > 0) return judgementOf(worker, doubted)
  const named = [...question.matchAll(/"([^"]+)"/g)].map(([, name = '']) => name)
  if (named.length > 0)
    return named.flatMap((name) => knownOf(worker, name)).join(' ') || 'I do not know. Ask the others.'
  const asked = worker.knows.filter((sentence) => shared(sentence, question) > 1)
  if (asked.length > 0) return asked.join(' ')
  const { tells, misremembers } = worker
  const all = misremembers === undefined ? tells : [...tells, misremembers.says]
  return all.join(' ') || 'I do none of the steps. I make the rules: ask me where something is in doubt.'
}

/** What somebody says to sentences that are in doubt: now it is looked up. */
function judgementOf(worker: Worker, doubted: readonly Fact[]): string {
  return [...new Set(doubted.flatMap((fact) => judged(worker, fact)))].join(' ') || 'I cannot say.'
}

function judged(worker: Worker, doubted: Fact): readonly string[] {
  const { misremembers, tells, knows } = worker
  const denied = sentenceOf({ kind: 'wrong', fact: doubted })
  if (misremembers !== undefined && misremembers.says === sentenceOf(doubted))
    return ['I have looked it up.', denied, misremembers.instead]
  const own = [...tells, ...knows].flatMap((sentence) => factOf(sentence) ?? [])
  const same = own.filter((fact) => subjectOf(fact) === subjectOf(doubted))
  const from = doubted.kind === 'follows' ? doubted.from : ''
  // Who does an activity knows everything that can come after it.
  const isMine = own.some((fact) => fact.kind === 'does' && fact.activities.includes(from))
  if (same.length === 0 && !isMine) return []
  const isRight = same.some((fact) => sentenceOf(fact) === sentenceOf(doubted))
  const next = own.filter((fact) => fact.kind === 'follows' && fact.from === from).map(sentenceOf)
  return isRight ? next : [denied, ...next]
}

/** What somebody knows of an activity: who does it, and what comes after it. */
function knownOf({ tells, knows }: Worker, activity: string): readonly string[] {
  return [...tells, ...knows].filter((sentence) => {
    const fact = factOf(sentence)
    if (fact?.kind === 'does') return fact.activities.includes(activity)
    return (fact?.kind === 'follows' || fact?.kind === 'ends') && fact.from === activity
  })
}

/** Words that say nothing here: small ones, and those of the process itself. */
const empty = new Set(
  'a after all and are as at before by come comes do does for happen happens how if in is it of on or part parts that the then there they this to we what when which who with you your bike repair repaired step steps'.split(
    ' ',
  ),
)

/** How many words that say something two texts share. */
function shared(one: string, other: string): number {
  const words = new Set(one.toLowerCase().match(/[a-z]+/g))
  return [...new Set(other.toLowerCase().match(/[a-z]+/g))].filter((word) => !empty.has(word) && words.has(word)).length
}
