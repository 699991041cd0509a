/** How many terminal columns a text takes, and cutting it to fit. */
import { stripVTControlCharacters } from 'node:util'

const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' })
const plainAscii = /^[\x20-\x7e]*$/
const zeroWidth = /^[\p{Mn}\p{Me}\p{Cf}]+$/u
const emoji = /\p{Emoji_Presentation}|\p{Emoji}\ufe0f/u
const wide =
  /^[\u1100-\u115f\u2329\u232a\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}]/u

/** The columns of a text without control characters: 2 for East Asian wide letters and emoji, 0 for marks that stand on others. */
export function textWidth(text: string): number {
  if (plainAscii.test(text)) return text.length
  let width = 0
  for (const { segment } of segmenter.segment(text)) width += graphemeWidth(segment)
  return width
}

/** The text cut to at most `columns`, with `…` where something was cut off. Never cuts a letter from its marks. */
export function cutText(text: string, columns: number): string {
  if (columns <= 0) return ''
  if (textWidth(text) <= columns) return text
  let width = 0
  let kept = ''
  for (const { segment } of segmenter.segment(text)) {
    width += graphemeWidth(segment)
    if (width > columns - 1) break
    kept += segment
  }
  return `${kept.trimEnd()}…`
}

/** The end of a text, at most `columns` wide, with `…` where its start was cut off. */
export function cutStart(text: string, columns: number): string {
  if (textWidth(text) <= columns) return text
  const graphemes = Array.from(segmenter.segment(text), ({ segment }) => segment)
  let width = 1
  let first = graphemes.length
  while (first > 0) {
    width += graphemeWidth(graphemes[first - 1] ?? '')
    if (width > columns) break
    first -= 1
  }
  return columns <= 0 ? '' : `…${graphemes.slice(first).join('').trimStart()}`
}

/** One printable line out of any text: no escape codes, no control characters, single spaces. */
export function oneLine(text: string): string {
  return printable(text).replace(/\s+/g, ' ').trim()
}

/** A text that cannot move the cursor or change colours: what a model or a tool wrote is shown, never obeyed. Line ends stay. */
export function printable(text: string): string {
  return stripVTControlCharacters(text).replace(/\r\n?/g, '\n').replace(controls, ' ')
}

/** Control characters but the line end, and those that turn the direction of writing. */
const controls = /(?!\n)\p{Cc}|[\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

function graphemeWidth(grapheme: string): number {
  if (zeroWidth.test(grapheme)) return 0
  return wide.test(grapheme) || emoji.test(grapheme) ? 2 : 1
}
