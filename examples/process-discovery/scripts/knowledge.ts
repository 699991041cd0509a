/** What the scripts make of statements: which of them stand, which contradict each other, and what nobody has said yet. */
import { type Fact, factOf, type Statement, sentenceOf, subjectOf } from '../world/facts.ts'

/** A fact that somebody holds, with the number of people who do, less those who deny it. */
interface Held {
  readonly fact: Fact
  readonly support: number
}

/** What somebody holds, in the order in which it was first said. The last word of a person counts. */
function heldIn(statements: readonly Statement[]): readonly Held[] {
  const voices = new Map<string, { fact: Fact; for: Set<string>; against: Set<string> }>()
  for (const { by, says } of statements) {
    const said = factOf(says)
    if (said === null) continue
    const fact = said.kind === 'wrong' ? said.fact : said
    const key = sentenceOf(fact)
    const voice = voices.get(key) ?? { fact, for: new Set(), against: new Set() }
    voices.set(key, voice)
    const [to, from] = said.kind === 'wrong' ? [voice.against, voice.for] : [voice.for, voice.against]
    from.delete(by)
    to.add(by)
  }
  const held = [...voices.values()].filter((voice) => voice.for.size > 0)
  return held.map(({ fact, for: pro, against }) => ({ fact, support: pro.size - against.size }))
}

/** What is held, without what more people contradict. */
function unbeaten(statements: readonly Statement[]): readonly Fact[] {
  const held = heldIn(statements)
  const isBeaten = ({ fact, support }: Held) =>
    held.some((other) => contradicts(fact, other.fact) && other.support > support)
  return held.filter((one) => !isBeaten(one)).map(({ fact }) => fact)
}

/** The facts that stand: of several versions the one that most people hold, of equals the one said last. */
export function standing(statements: readonly Statement[]): readonly Fact[] {
  return [...new Map(unbeaten(statements).map((fact) => [subjectOf(fact), fact])).values()]
}

/** The sentences of which not all can be true, as far as the statements do not settle it. */
export function disputed(statements: readonly Statement[]): readonly string[] {
  const left = unbeaten(statements)
  return left.filter((fact) => left.some((other) => contradicts(fact, other))).map(sentenceOf)
}

/** Two versions of the same, or two ways on of which neither says when. */
function contradicts(one: Fact, other: Fact): boolean {
  if (one === other || one.kind !== 'follows' || other.kind !== 'follows' || one.from !== other.from) return false
  return subjectOf(one) === subjectOf(other) || (one.condition === null && other.condition === null)
}

/** A question that the statements leave open, and who is to be asked: whoever spoke of it. */
interface OpenEnd {
  readonly by: string
  readonly question: string
}

/** Activities after which nothing is said to come, decisions of which only one side was told, and activities that nobody does. */
export function openEnds(statements: readonly Statement[]): readonly OpenEnd[] {
  const facts = standing(statements)
  const done = new Set(facts.flatMap((fact) => (fact.kind === 'does' ? fact.activities : [])))
  const ends = new Map<string, OpenEnd>()
  for (const { by, says } of statements) {
    const fact = factOf(says)
    if (fact?.kind === 'does')
      for (const activity of fact.activities) {
        const question = questionAfter(activity, facts)
        if (question !== null) ends.set(activity, { by, question })
      }
    if (fact?.kind === 'follows')
      for (const activity of fact.to.filter((name) => !done.has(name)))
        ends.set(activity, { by, question: `Who does "${activity}", and what comes after it?` })
  }
  return [...ends.values()]
}

function questionAfter(activity: string, facts: readonly Fact[]): string | null {
  const next = facts.filter((one) => (one.kind === 'follows' || one.kind === 'ends') && one.from === activity)
  const [only] = next
  if (only === undefined) return `What comes after "${activity}"?`
  const isHalf = next.length === 1 && only.kind === 'follows' && only.condition !== null
  return isHalf ? `What else can come after "${activity}", and when?` : null
}

/** A summary: everything that was said, each thing once as it was said last, and not by whom. */
export function summaryOf(statements: readonly Statement[]): string {
  const last = new Map<string, string>()
  for (const { says } of statements) {
    const fact = factOf(says)
    if (fact !== null) last.set(subjectOf(fact), says)
  }
  return [...last.values()].join(' ')
}
