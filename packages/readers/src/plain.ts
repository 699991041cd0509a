/** Reads plain text: paragraphs stand between empty lines. */
import type { Reading } from './reading.ts'

export function* readPlain(text: string): Reading {
  const gap = /\n[^\S\n]*\n|\f/g
  let from = 0
  for (let found = gap.exec(text); found !== null; found = gap.exec(text)) {
    if (found.index > from) yield { kind: 'paragraph', text: text.slice(from, found.index) }
    from = gap.lastIndex
    gap.lastIndex = from - (found[0] === '\f' ? 0 : 1)
  }
  yield { kind: 'paragraph', text: text.slice(from) }
  return null
}
