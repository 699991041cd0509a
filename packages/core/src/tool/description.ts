/** The bound of every description that the runtime makes for a model: of a tool, or of an agent in a roster. */
import { displayName } from '../identity/display-name.ts'
import { markForeign } from '../model/attribution.ts'

/** The most characters that every provider takes as the description of a tool. */
export const longestDescription = 1_024

/** A description as a model reads it, and whether all that belongs into it had room. */
export interface Description {
  readonly text: string
  readonly isWhole: boolean
}

/** What a description leaves for what follows it after an empty line. */
export function roomBeside(text: string): number {
  return longestDescription - (text === '' ? 0 : markForeign(text).length + 2)
}

/**
 * What the author of a delegate says, with its display name in front [T05]. The author's words are never cut: a name that
 * has no room beside them is left out.
 */
export function titled(child: { readonly id: string; readonly name?: string | undefined }, words: string): Description {
  const name = displayName(child)
  if (name === null) return { text: words, isWhole: true }
  const text = words === '' ? name : `${name}: ${words}`
  return markForeign(text).length <= longestDescription ? { text, isWhole: true } : { text: words, isWhole: false }
}

/** The beginning of a text as one line of at most `room` characters; it ends with `…` if that is not all. */
export function oneLine(text: string, room: number): Description {
  // A text may have 100,000 characters, and there may be thousands of tools.
  const start = text.slice(0, 4 * longestDescription)
  const plain = start.trim().replace(/\s+/g, ' ')
  if (plain.length <= room && start.length === text.length) return { text: plain, isWhole: true }
  return { text: cut(plain, room), isWhole: false }
}

/** The beginning of a text of several lines, in the same way. */
export function firstLines(text: string, room: number): Description {
  const marked = markForeign(text.slice(0, 4 * longestDescription))
  if (marked.length <= room && text.length <= room) return { text: marked, isWhole: true }
  return { text: cut(marked, room), isWhole: false }
}

/** Half a character at the end, which no JSON may hold, is dropped. */
function cut(text: string, room: number): string {
  return `${text.slice(0, Math.max(room - 1, 0)).replace(/[\uD800-\uDBFF]$/, '')}…`
}

/** How a list is written: what stands before it, between its items, and after it, and how many items it has at most. */
interface ListForm {
  readonly before: string
  readonly between: string
  readonly after: string
  readonly most?: number
}

/**
 * A list in at most `room` characters. `forms` are the items, each time shorter: the first form that fits is taken. If none does,
 * the last one ends where there is no more room, and counts what it leaves out. Empty if not one item fits.
 */
export function listWithin(
  room: number,
  forms: readonly (() => readonly string[])[],
  form: ListForm,
): Description & { readonly leftOut: number } {
  let last = { text: '', leftOut: 0 }
  for (const [index, items] of forms.entries()) {
    last = beginning(items(), room, form)
    if (last.leftOut === 0) return { ...last, isWhole: index === 0 }
  }
  return { ...last, isWhole: false }
}

/** As many items as fit, and if that is not all, a last one that counts the others. */
function beginning(
  items: readonly string[],
  room: number,
  { before, between, after, most = items.length }: ListForm,
): { readonly text: string; readonly leftOut: number } {
  const more = (leftOut: number) => (leftOut > 0 ? `${between}… and ${leftOut} more` : '')
  let fitting = 0
  let length = before.length + after.length - between.length
  for (const [index, item] of items.slice(0, most).entries()) {
    length += between.length + item.length
    if (length > room) break
    if (length + more(items.length - index - 1).length <= room) fitting = index + 1
  }
  const leftOut = items.length - fitting
  const text = fitting === 0 ? '' : `${before}${items.slice(0, fitting).join(between)}${more(leftOut)}${after}`
  return { text, leftOut }
}
