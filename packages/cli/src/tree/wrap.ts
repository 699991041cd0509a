/** Breaks a styled line at its spaces. Pure. */
import { shownText } from '@witan/protocol/shown'
import type { Line, Span } from './lines.ts'
import { lineWidth } from './lines.ts'

/**
 * The line as lines of at most `columns`, the second and later ones indented. It also ends where its text has a line end. A word
 * that is wider stays whole, so that a path or a command can still be copied.
 */
export function wrapLine(line: Line, columns: number, indent = 0): Line[] {
  const margin: Span = { text: ' '.repeat(indent), tone: 'plain' }
  const lines: Span[][] = [[]]
  let hasWord = false
  let gap: Span[] = []
  let word: Span[] = []
  const place = () => {
    if (word.length === 0) return
    const last = lines.at(-1) ?? []
    if (hasWord && lineWidth([...last, ...gap, ...word]) > columns) lines.push([margin, ...word])
    else last.push(...gap, ...word)
    hasWord = true
    gap = []
    word = []
  }
  for (const { text, tone } of line)
    for (const piece of shownText(text).match(/\s+|\S+/g) ?? []) {
      const isGap = piece.trim() === ''
      if (isGap) place()
      const [first = '', ...others] = piece.split('\n')
      const into = isGap ? gap : word
      into.push({ text: first, tone })
      for (const text of others) {
        lines.push([])
        hasWord = false
        gap = [{ text, tone }]
      }
    }
  place()
  return lines.map(joined)
}

/** Joins adjacent spans of one tone. */
function joined(line: Line): Line {
  const spans: Span[] = []
  for (const span of line) {
    const last = spans.at(-1)
    if (last?.tone === span.tone) spans[spans.length - 1] = { ...last, text: last.text + span.text }
    else spans.push(span)
  }
  return spans
}
