/** Plain sentences about a process, and the facts in them. The scripts understand these and nothing else; a model reads them as English. */

/** What one sentence says. */
export type Fact =
  | { readonly kind: 'begins'; readonly activity: string }
  /** `to` has several activities if they are done at the same time. */
  | {
      readonly kind: 'follows'
      readonly from: string
      readonly to: readonly string[]
      readonly condition: string | null
    }
  | { readonly kind: 'ends'; readonly from: string }
  | { readonly kind: 'does'; readonly lane: string; readonly activities: readonly string[] }
  | { readonly kind: 'wrong'; readonly fact: Fact }

/** Who said which sentence. Words without a name are said by `people`. */
export interface Statement {
  readonly by: string
  readonly says: string
}

const quoted = /"([^"]+)"/g
const namesIn = (text: string) => [...text.matchAll(quoted)].map(([, name = '']) => name)

/** The longest sentence that is read: nobody speaks so long, and patterns take their time on more. */
const longest = 500

/** The sentences of a text, each with its full stop. */
export function sentencesOf(text: string): readonly string[] {
  const parts = text.split(/(?<=[.!?])|[:\n]/).map((part) => part.trim())
  return parts.filter((part) => part.length <= longest && /[.!?]$/.test(part))
}

/** The fact that a sentence says; null for talk. */
export function factOf(sentence: string): Fact | null {
  const denied = /^it is wrong that (.+)$/i.exec(sentence)
  if (denied !== null) {
    const fact = factOf(denied[1] ?? '')
    return fact === null ? null : { kind: 'wrong', fact }
  }
  const [first = '', ...others] = namesIn(sentence)
  if (/^it begins with "/i.test(sentence)) return { kind: 'begins', activity: first }
  if (/^after "[^"]+" it is over/i.test(sentence)) return { kind: 'ends', from: first }
  if (/^after "[^"]+" comes? "/i.test(sentence) && others.length > 0)
    return { kind: 'follows', from: first, to: others, condition: / if ([^"]+)\.$/.exec(sentence)?.[1] ?? null }
  const lane = /^(?:at|in) the ([a-z ]+?) (?:i|we|they) do "/i.exec(sentence)?.[1]
  return lane === undefined ? null : { kind: 'does', lane, activities: [first, ...others] }
}

/** A fact as a sentence. */
export function sentenceOf(fact: Fact): string {
  switch (fact.kind) {
    case 'begins':
      return `It begins with "${fact.activity}".`
    case 'ends':
      return `After "${fact.from}" it is over.`
    case 'does':
      return `In the ${fact.lane} they do ${listOf(fact.activities)}.`
    case 'wrong':
      return `It is wrong that ${sentenceOf(fact.fact).replace(/^(?:After|It|In) /, (word) => word.toLowerCase())}`
    case 'follows': {
      const [verb, when] = fact.to.length === 1 ? ['comes', ''] : ['come', ' at the same time']
      const condition = fact.condition === null ? '' : ` if ${fact.condition}`
      return `After "${fact.from}" ${verb} ${listOf(fact.to)}${when}${condition}.`
    }
  }
}

function listOf(names: readonly string[]): string {
  const all = names.map((name) => `"${name}"`)
  return all.length < 2 ? all.join('') : `${all.slice(0, -1).join(', ')} and ${all.at(-1)}`
}

/** What two facts must share to speak of the same: their order, whatever the condition. */
export function subjectOf(fact: Fact): string {
  if (fact.kind === 'follows') return `${fact.from} → ${[...fact.to].sort().join(' + ')}`
  return sentenceOf(fact)
}

/** Everything that a text says, as said by somebody. */
export function statementsIn(text: string, by = 'people'): readonly Statement[] {
  return sentencesOf(text).flatMap((says) => (factOf(says) === null ? [] : [{ by, says }]))
}
