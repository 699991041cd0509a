/** The one rule for ids and names that a model, a terminal or a log shows; and how text that breaks it is shown. */

import { escaped, shownText } from './shown.ts'

/** A name on one line, with everything that is not seen as an escape: for names that were stored before the rule. */
export function shownName(name: string): string {
  return shownText(name).replaceAll('\n', '\\u000a').replace(blank, escaped)
}

/** Signs that fonts draw as a blank, or not at all, as a class of a pattern: an empty pattern of Braille, a note without a head, a place for an object. */
export const blankSigns = String.raw`\u2800\u{1d159}\ufffc`
const blank = new RegExp(`[${blankSigns}]`, 'gu')

/** Where a name stands: the id of a person, one word without blanks such as a role, or a name that people read. */
export type NameKind = 'id' | 'word' | 'name'

interface NameRule {
  readonly allowed: RegExp
  readonly form: string
}

const punctuation = String.raw`._\-+@|'=~#$&!%*?^`
const unseen = String.raw`[\p{Cf}\p{Default_Ignorable_Code_Point}${blankSigns}]`
const seen = String.raw`(?![\p{Ps}\p{Pe}<>])(?!${unseen})[\p{L}\p{M}\p{N}\p{P}\p{S}]`
const rules: Readonly<Record<NameKind, NameRule>> = {
  /** The identifiers of UAX 31, which may begin with a digit, and the marks of e-mail addresses and of ids of identity providers. */
  id: {
    allowed: new RegExp(`^[\\p{XID_Start}\\p{Nd}_](?:(?!${unseen})[\\p{XID_Continue}${punctuation}])*$`, 'u'),
    form: "must begin with a letter, a digit or `_`, and have only letters, digits and `. _ - + @ | ' = ~ # $ & ! % * ? ^`",
  },
  word: {
    allowed: new RegExp(`^(?:${seen})+$`, 'u'),
    form: 'must be a word of visible characters without blanks and brackets',
  },
  name: {
    allowed: new RegExp(`^(?:${seen}|[()])+(?: +(?:${seen}|[()])+)*$`, 'u'),
    form: 'must stand on one line, of visible characters, without brackets but `()`, and without blanks around it',
  },
}

/** Why a text cannot be such a name, in words that follow "The name …"; null if it can. The length is checked elsewhere. */
export function nameProblem(text: string, kind: NameKind): string | null {
  if (!rules[kind].allowed.test(text)) return rules[kind].form
  if (/^[\x20-\x7e]*$/.test(text)) return null
  // Compatible forms, such as full-width letters, look like other letters: an id has none.
  if (text !== text.normalize(kind === 'id' ? 'NFKC' : 'NFC'))
    return 'must be in the Unicode normal form NFC, without letters that only look different'
  if (/\p{M}{5}/u.test(text)) return 'must have at most four marks on one letter'
  return text.split(' ').some(mixesAlphabets) ? 'must not mix letters of alphabets that look alike' : null
}

/** Alphabets with letters that look like those of another one. */
const alphabets = [
  'Latin',
  'Cyrillic',
  'Greek',
  'Armenian',
  'Cherokee',
  'Coptic',
  'Georgian',
  'Lisu',
  'Deseret',
  'Osage',
].map((script) => new RegExp(`(?=\\p{L})\\p{Script=${script}}`, 'u'))

function mixesAlphabets(word: string): boolean {
  return alphabets.filter((letters) => letters.test(word)).length > 1
}

/** Letters of other alphabets, by the Latin letter that they look like. */
const lookAlikes: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ...{ a: 'аАαΑɑ', b: 'ВΒЬьᏏ', c: 'сСϲϹⲥ', d: 'ԁᏧ', e: 'еЕεΕҽ', f: 'ϝғ', g: 'ɡցԍ', h: 'һНΗհ', i: 'іІιΙı', j: 'јЈϳͿ' },
    ...{ k: 'кКκΚ', l: 'ӏӀ', m: 'МмΜ', n: 'Νпոպ', o: 'оОοΟօⲟσ', p: 'рРρΡⲣ', q: 'ԛզ', r: 'гⲅ', s: 'ѕЅՏ', t: 'тТτΤ' },
    ...{ u: 'υսμ', v: 'νѵѴ', w: 'ԝԜѡωա', x: 'хХχΧ', y: 'уУγΥү', z: 'Ζ' },
  }).flatMap(([latin, others]) => Array.from(others, (other) => [other, latin] as const)),
)

/**
 * The names in small Latin letters that somebody could read in place of this one, itself among them: `Βilling`, `bіlling` and `bi11ing`
 * look like `billing`. Who takes one of them would speak in the name of an agent that has it.
 */
export function looksLike(name: string): ReadonlySet<string> {
  const latin = Array.from(name.normalize('NFKC'), (letter) => lookAlikes.get(letter) ?? letter).join('')
  const plain = latin.toLowerCase()
  const letters = latin.replace(/[I|1]/g, 'l').replaceAll('0', 'o').toLowerCase()
  const digits = latin.replace(/[Il|]/g, '1').replace(/o/gi, '0').toLowerCase()
  return new Set([name, plain, letters, letters.replaceAll('rn', 'm'), digits])
}
