/** The stem of an English word, by the algorithm Porter2 of the Snowball project. */

const vowel = /[aeiouy]/
const doubled = /(?:bb|dd|ff|gg|mm|nn|pp|rr|tt)$/
/** A vowel, and a consonant other than w, x and Y behind it; before it a consonant, or nothing. */
const shortEnd = /(?:^[aeiouy][^aeiouy]|[^aeiouy][aeiouy][^aeiouywxY])$/

/** Words that the rules would spoil. */
const exceptions: ReadonlyMap<string, string> = new Map([
  ...[['skis', 'ski'] as const, ['skies', 'sky'] as const, ['dying', 'die'] as const, ['lying', 'lie'] as const],
  ...[['tying', 'tie'] as const, ['idly', 'idl'] as const, ['gently', 'gentl'] as const, ['ugly', 'ugli'] as const],
  ...[['early', 'earli'] as const, ['only', 'onli'] as const, ['singly', 'singl'] as const],
  ...['sky', 'news', 'howe', 'atlas', 'cosmos', 'bias', 'andes'].map((word) => [word, word] as const),
])
/** Words that end with the first step. */
const endings: ReadonlySet<string> = new Set(
  ['inning', 'outing', 'canning', 'herring', 'earring', 'proceed', 'exceed', 'succeed'], // prettier to read in one line
)

/** The suffixes of a step, the longest first, each with what stands for it. */
type Suffixes = readonly (readonly [suffix: string, replacement: string])[]

const second: Suffixes = [
  ...[['ational', 'ate'] as const, ['fulness', 'ful'] as const, ['iveness', 'ive'] as const],
  ...[['ization', 'ize'] as const, ['ousness', 'ous'] as const, ['biliti', 'ble'] as const],
  ...[['lessli', 'less'] as const, ['tional', 'tion'] as const, ['alism', 'al'] as const, ['aliti', 'al'] as const],
  ...[['ation', 'ate'] as const, ['entli', 'ent'] as const, ['fulli', 'ful'] as const, ['iviti', 'ive'] as const],
  ...[['ousli', 'ous'] as const, ['abli', 'able'] as const, ['alli', 'al'] as const, ['anci', 'ance'] as const],
  ...[['ator', 'ate'] as const, ['enci', 'ence'] as const, ['izer', 'ize'] as const, ['bli', 'ble'] as const],
  ...[['ogi', 'og'] as const, ['li', ''] as const],
]
const third: Suffixes = [
  ...[['ational', 'ate'] as const, ['tional', 'tion'] as const, ['alize', 'al'] as const, ['ative', ''] as const],
  ...[['icate', 'ic'] as const, ['iciti', 'ic'] as const, ['ical', 'ic'] as const, ['ness', ''] as const],
  ['ful', ''],
]
const fourth: Suffixes = [
  ...['ement', 'able', 'ance', 'ence', 'ible', 'ment', 'ant', 'ate', 'ent', 'ion', 'ism', 'iti', 'ive', 'ize', 'ous'],
  ...['al', 'er', 'ic'],
].map((suffix) => [suffix, ''] as const)

/** The regions behind the first and the second vowel that has a consonant behind it. */
interface Regions {
  readonly first: number
  readonly second: number
}

/** The stem of a word of the letters a to z. A word of one or two letters is its own stem. */
export function stemOf(word: string): string {
  if (word.length < 3) return word
  const exception = exceptions.get(word)
  if (exception !== undefined) return exception
  const marked = word.includes('y') ? word.replace(/^y|(?<=[aeiouy])y/g, 'Y') : word
  const regions = regionsOf(marked)
  const plain = withoutPlural(marked)
  if (endings.has(plain)) return plain
  let stem = withoutTense(plain, regions)
  if (stem.length > 2 && /[^aeiouy][yY]$/.test(stem)) stem = `${stem.slice(0, -1)}i`
  stem = replaced(stem, second, (suffix, at) => {
    if (at < regions.first) return false
    if (suffix === 'li') return /[cdeghkmnrt]$/.test(stem.slice(0, at))
    return suffix !== 'ogi' || stem[at - 1] === 'l'
  })
  stem = replaced(stem, third, (suffix, at) => at >= (suffix === 'ative' ? regions.second : regions.first))
  stem = replaced(stem, fourth, (suffix, at) => {
    return at >= regions.second && (suffix !== 'ion' || stem[at - 1] === 's' || stem[at - 1] === 't')
  })
  return withoutLast(stem, regions).replaceAll('Y', 'y')
}

function regionsOf(word: string): Regions {
  const prefix = /^(?:gener|commun|arsen)/.exec(word)?.[0].length
  const first = prefix ?? behind(word, 0)
  return { first, second: behind(word, first) }
}

/** The place behind the first consonant that has a vowel before it. */
function behind(word: string, from: number): number {
  for (let at = from + 1; at < word.length; at += 1) if (isVowel(word[at - 1]) && !isVowel(word[at])) return at + 1
  return word.length
}

function isVowel(letter: string | undefined): boolean {
  return letter !== undefined && vowel.test(letter)
}

function withoutPlural(word: string): string {
  if (word.endsWith('sses')) return word.slice(0, -2)
  if (/ie[ds]$/.test(word)) return word.slice(0, word.length > 4 ? -2 : -1)
  if (!word.endsWith('s') || /[us]s$/.test(word)) return word
  return vowel.test(word.slice(0, -2)) ? word.slice(0, -1) : word
}

function withoutTense(word: string, { first }: Regions): string {
  const ee = /eed(?:ly)?$/.exec(word)
  if (ee !== null) return ee.index >= first ? word.slice(0, ee.index + 2) : word
  const tense = /(?:ed|ing)(?:ly)?$/.exec(word)
  if (tense === null) return word
  const rest = word.slice(0, tense.index)
  if (!vowel.test(rest)) return word
  if (/(?:at|bl|iz)$/.test(rest)) return `${rest}e`
  if (doubled.test(rest)) return /^[aeo]..$/.test(rest) ? rest : rest.slice(0, -1)
  return first >= rest.length && shortEnd.test(rest) ? `${rest}e` : rest
}

/** Replaces the longest suffix of a list that the word has, if it may. */
function replaced(word: string, suffixes: Suffixes, may: (suffix: string, at: number) => boolean): string {
  const found = suffixes.find(([suffix]) => word.endsWith(suffix))
  if (found === undefined) return word
  const at = word.length - found[0].length
  return may(found[0], at) ? word.slice(0, at) + found[1] : word
}

function withoutLast(word: string, { first, second: behindTwo }: Regions): string {
  const at = word.length - 1
  const rest = word.slice(0, at)
  if (word.endsWith('e')) return at >= behindTwo || (at >= first && !shortEnd.test(rest)) ? rest : word
  return word.endsWith('ll') && at >= behindTwo ? rest : word
}
