/** The script of the agent `research`: it searches with the question, and quotes the paragraph that fits best, with its source. */
import { one, playing, type Result, type Steps } from './play.ts'

interface Passage {
  readonly id: string
  readonly base: string
  readonly text: string
}

const ofContracts =
  /\bcontracts?\b|\bnotice\b|\bterminat|\bresponse times?\b|\btechnician\b|\bservice cost|\bends?\b|\buntil\b/i
const common = new Set([
  'what',
  'when',
  'which',
  'does',
  'our',
  'the',
  'and',
  'for',
  'how',
  'much',
  'many',
  'are',
  'say',
  'says',
  'with',
  'about',
  'have',
  'may',
  'can',
  'contract',
  'handbook',
  'documents',
  'long',
])

export const researchScript = playing(function* ({ message, tools }): Steps {
  const tool = tools.find(({ name }) => name === 'search_knowledge')
  if (tool === undefined) return 'There are no documents that I may search.'
  const base = ofContracts.test(message) ? 'contracts' : 'handbook'
  const both = tool.description.includes('contracts') && tool.description.includes('handbook')
  const found = yield* one('search_knowledge', { query: message, ...(both ? { knowledge_base: base } : {}) })
  if (found.error !== null) return `The documents cannot be searched: ${found.error}`
  const passages = passagesIn(found)
  const wanted = wordsOf(message.replace(/\bends?\b/gi, 'runs until')).filter((word) => !common.has(word))
  const paragraphs = passages.flatMap(({ id, text }) =>
    paragraphsOf(text).map((paragraph) => ({ id, paragraph, fits: fitOf(paragraph, wanted) })),
  )
  const best = paragraphs.reduce((one, other) => (other.fits > one.fits ? other : one), {
    id: '',
    paragraph: '',
    fits: 0,
  })
  if (best.fits === 0) return 'The documents do not say.'
  return `${best.paragraph} [${best.id}]`
})

function passagesIn({ value }: Result): readonly Passage[] {
  const { passages = [] } = Object(value) as { readonly passages?: readonly Passage[] }
  return passages
}

function paragraphsOf(text: string): readonly string[] {
  return text.split(/\n+/).filter((paragraph) => /[a-z]/.test(paragraph) && !/^#/.test(paragraph))
}

function wordsOf(text: string): readonly string[] {
  return (text.toLowerCase().match(/[a-zäöüß\d]+/g) ?? []).filter((word) => word.length > 2)
}

/** How many of the words stand in a paragraph, by their beginnings. */
function fitOf(paragraph: string, wanted: readonly string[]): number {
  const there = wordsOf(paragraph)
  return wanted.filter((word) => there.some((other) => other.slice(0, 5) === word.slice(0, 5))).length
}
