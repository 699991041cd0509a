/**
 * The words of a text, as knowledge compares them: the same on every machine, and in linear time.
 *
 * A word is a run of letters and digits after NFKC and lower case; of a long run its first 64 characters are the word. `en` compares words
 * by their stem and without the accents of Latin letters; `none` compares them as they are written. Scripts without spaces (Han, kana,
 * Hangul, Thai, Lao, Khmer, Burmese) give each pair of neighbours, and a single character where it stands alone.
 */
import type { KnowledgeBase } from '@witan/protocol/knowledge'
import { stemOf } from './stem.ts'
import { stopWords } from './stop-words.ts'

/** How the words of a base are compared. */
type WordLanguage = KnowledgeBase['language']

const mostQueryWords = 32
const mostCharacters = 64
/** How much text is normalized at once: what NFKC makes of it is up to 18 times as long. */
const pieceCharacters = 16_384
/** How many stems are kept: most words of a text are among few. */
const mostStems = 20_000

const isPlain = /^[\0-\x7f]*$/
const ignored = /\p{Default_Ignorable_Code_Point}+/gu
/** The stream-safe format of Unicode has no more marks in a row. Ordering them takes quadratic time. */
const tooManyMarks = /(\p{M}{30})\p{M}+/gu
const accents = /([a-z])[\u0300-\u036f]+/g
const plainRuns = /[a-z0-9]+/g
const dense = String.raw`[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}ー\p{sc=Hang}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]`
const denseRuns = String.raw`(?<dense>[${dense}&&[\p{L}\p{N}\p{M}]]+)`
const runs = new RegExp(String.raw`${denseRuns}|[[\p{L}\p{N}]--${dense}][[\p{L}\p{N}\p{M}]--${dense}]*`, 'gv')

/** The words of a text in their order, as often as they stand there. */
export function wordsOf(text: string, language: WordLanguage): string[] {
  const words: string[] = []
  for (const word of writtenWords(text, language)) words.push(language === 'en' ? comparedEnglish(word) : word)
  return words
}

/**
 * The words of a query that count, each once, in their order. English stop words are left out if others remain. Of more than 32 those with
 * a digit count first, then the longest, then those that stand first.
 */
export function queryWordsOf(text: string, language: WordLanguage): string[] {
  const written = new Set(writtenWords(text, language))
  const telling = language === 'en' ? [...written].filter((word) => !stopWords.has(word)) : [...written]
  const counted = telling.length > 0 ? telling : [...written]
  const words = [...new Set(language === 'en' ? counted.map(comparedEnglish) : counted)]
  if (words.length <= mostQueryWords) return words
  const rarest = words.toSorted((one, other) => rarityOf(other) - rarityOf(one)).slice(0, mostQueryWords)
  const chosen = new Set(rarest)
  return words.filter((word) => chosen.has(word))
}

function rarityOf(word: string): number {
  return /\p{N}/u.test(word) ? word.length + mostCharacters : word.length
}

const stems = new Map<string, string>()

function comparedEnglish(word: string): string {
  const known = stems.get(word)
  if (known !== undefined) return known
  const stem = /^[a-z]+$/.test(word) ? stemOf(word) : word
  if (stems.size >= mostStems) stems.clear()
  stems.set(word, stem)
  return stem
}

/** The words before stems are taken. A run goes on over the end of a piece. */
function* writtenWords(text: string, language: WordLanguage): Generator<string> {
  let goesOn = false
  for (const piece of piecesOf(text)) {
    const plain = isPlain.test(piece)
    const written = plain ? piece.toLowerCase() : comparedText(piece, language)
    let ended = false
    for (const match of written.matchAll(plain ? plainRuns : runs)) {
      const [run] = match
      const isRest = goesOn && match.index === 0
      ended = match.index + run.length === written.length
      if (match.groups?.['dense'] !== undefined) yield* pairsOf(run)
      else if (!isRest) yield run.length > mostCharacters ? firstOf(run) : run
    }
    goesOn = ended
  }
}

/** Parts of a text that end with a space where there is one. */
function* piecesOf(text: string): Generator<string> {
  for (let from = 0; from < text.length; ) {
    let to = from + pieceCharacters
    if (to < text.length) {
      const space = text.slice(from, to).search(/\s\S*$/)
      if (space > 0) to = from + space + 1
      else if (isHighSurrogate(text.charCodeAt(to - 1))) to -= 1
    }
    yield text.slice(from, to)
    from = to
  }
}

function comparedText(piece: string, language: WordLanguage): string {
  const shown = piece.replace(ignored, '').replace(tooManyMarks, '$1')
  const folded = shown.normalize('NFKC').toLowerCase().replaceAll('ß', 'ss').replaceAll('ς', 'σ')
  return language === 'en' ? folded.normalize('NFD').replace(accents, '$1').normalize('NFC') : folded
}

function firstOf(run: string): string {
  const cut = isHighSurrogate(run.charCodeAt(mostCharacters - 1)) ? mostCharacters - 1 : mostCharacters
  return run.slice(0, cut)
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff
}

function* pairsOf(run: string): Generator<string> {
  const characters = Array.from(run)
  if (characters.length === 1) yield run
  for (let at = 1; at < characters.length; at += 1) yield `${characters[at - 1]}${characters[at]}`
}
