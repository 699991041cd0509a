/** How many terminal columns a text takes, and cutting it to fit. */
import { shownText } from '@witan/protocol/shown'

const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' })
const plainAscii = /^[\x20-\x7e]*$/
const zeroWidth = /^[\p{Mn}\p{Me}\p{Cf}]+$/u
const emoji = /\p{Emoji_Presentation}|\p{Emoji}\ufe0f/u
const wide =
  /^[\u1100-\u115f\u2329\u232a\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}]/u

/** The columns of a text as it is shown: 2 for East Asian wide letters and emoji, 0 for marks that stand on others. */
export function textWidth(text: string): number {
  if (plainAscii.test(text)) return text.length
  let width = 0
  for (const { segment } of segmenter.segment(shownText(text))) width += graphemeWidth(segment)
  return width
}

/** The text as it is shown, cut to at most `columns`, with `…` where something was cut off. Never cuts a letter from its marks. */
export function cutText(text: string, columns: number): string {
  if (columns <= 0) return ''
  const most = mostUnits(columns)
  const isLonger = text.length > most
  const shown = shownText(isLonger ? text.slice(0, most).replace(/[\ud800-\udbff]$/, '') : text)
  if (!isLonger && textWidth(shown) <= columns) return shown
  let width = 0
  let kept = ''
  for (const { segment } of segmenter.segment(shown)) {
    width += graphemeWidth(segment)
    if (width > columns - 1) break
    kept += segment
  }
  return `${kept.trimEnd()}…`
}

/** The end of a text as it is shown, at most `columns` wide, with `…` where its start was cut off. */
export function cutStart(text: string, columns: number): string {
  if (columns <= 0) return ''
  const most = mostUnits(columns)
  const isLonger = text.length > most
  const shown = shownText(isLonger ? text.slice(-most).replace(/^[\udc00-\udfff]/, '') : text)
  if (!isLonger && textWidth(shown) <= columns) return shown
  const graphemes = Array.from(segmenter.segment(shown), ({ segment }) => segment)
  let width = 1
  let first = graphemes.length
  while (first > 0) {
    width += graphemeWidth(graphemes[first - 1] ?? '')
    if (width > columns) break
    first -= 1
  }
  return `…${graphemes.slice(first).join('').trimStart()}`
}

/** How many UTF-16 units of a long text can fill this many columns. A letter with its marks has at most 16 units. */
function mostUnits(columns: number): number {
  return columns * 16 + 64
}

/** A text on one line with single spaces, as it is shown. */
export function oneLine(text: string): string {
  return shownText(text).replace(/\s+/g, ' ').trim()
}

/** More pictures than these in one emoji are drawn beside each other. */
const mostJoined = 4

function graphemeWidth(grapheme: string): number {
  if (zeroWidth.test(grapheme)) return 0
  if (!wide.test(grapheme) && !emoji.test(grapheme)) return 1
  const pictures = grapheme.length < 8 ? 1 : (grapheme.match(/\p{Emoji_Presentation}/gu)?.length ?? 1)
  return pictures > mostJoined ? 2 * pictures : 2
}
