/** Cuts a document into passages, along its structure. */
import type { Pausable } from '../identity/pausable.ts'
import type { Block, PassageText } from './document.ts'

/** A passage before its words are known. */
export type PassagePiece = Omit<PassageText, 'words'>

/** The most characters that the path of a passage has of one heading. What is longer also stands in a passage, whole. */
const mostHeading = 120
/** Characters between two pauses; looking at them takes less than a millisecond. */
const pieceCharacters = 20_000
/** What a block costs beside its characters. */
const blockCharacters = 50

interface Split {
  readonly limit: number
  readonly passages: PassagePiece[]
  /** The headings that what follows stands under, the outermost first. */
  readonly path: { readonly level: number; readonly text: string }[]
  /** Nothing stands beneath the innermost heading yet. */
  isBare: boolean
  /** The passage that still grows; '' if there is none. */
  text: string
  kind: Block['kind']
  heading: string
}

/**
 * The passages of a document, each of at most `limit` characters (UTF-16 units; at least 200). A block that fits stays whole. A longer one is
 * cut behind a line or a sentence, else behind a word, else at the limit, and never inside a surrogate pair. Neighbours under one heading
 * share a passage while they fit. A heading with nothing beneath it is text of the heading above it. The cost is linear.
 */
export function* splitPassages(blocks: Iterable<Block>, limit: number): Pausable<PassagePiece[]> {
  const split: Split = { limit, passages: [], path: [], isBare: false, text: '', kind: 'paragraph', heading: '' }
  let work = 0
  for (const block of blocks) {
    if (block.kind === 'heading') open(split, block.level, block.text)
    const text = block.kind === 'heading' && block.text.length <= mostHeading ? '' : block.text
    let from = 0
    do {
      const to = text.length - from > limit ? cutOf(block, from, limit) : text.length
      add(split, block.kind, text.slice(from, to))
      work += to - from + blockCharacters
      from = to
      if (work > pieceCharacters) {
        yield
        work = 0
      }
    } while (from < text.length)
  }
  leave(split, 0)
  flush(split)
  return split.passages
}

/** The most characters of a block that is stored. */
const mostBlock = 65_536

/** The same blocks, but what is longer than 65,536 characters is several: nothing that handles one of them holds a turn. */
export function* dividedBlocks(blocks: readonly Block[]): Pausable<readonly Block[]> {
  if (blocks.every(({ text }) => text.length <= mostBlock)) return blocks
  const divided: Block[] = []
  for (const block of blocks) {
    let from = 0
    do {
      const to = block.text.length - from > mostBlock ? cutOf(block, from, mostBlock) : block.text.length
      const text = block.text.slice(from, to)
      if (from === 0) divided.push({ ...block, text })
      else divided.push({ kind: block.kind === 'heading' ? 'paragraph' : block.kind, text })
      from = to
      yield
    } while (from < block.text.length)
  }
  return divided
}

/** Begins what stands under a heading. */
function open(split: Split, level: number, text: string): void {
  const bounded = Math.min(Math.max(Math.trunc(level) || 1, 1), 6)
  leave(split, bounded)
  const short = text
    .slice(0, mostHeading * 4)
    .replace(/\s+/g, ' ')
    .trim()
  if (short === '') return
  split.path.push({ level: bounded, text: short.length > mostHeading ? shorten(short) : short })
  split.isBare = true
}

function shorten(text: string): string {
  return `${text.slice(0, wholeBefore(text, mostHeading - 1))}…`
}

/** Leaves the headings of this level and below. */
function leave(split: Split, level: number): void {
  for (let last = split.path.at(-1); last !== undefined && last.level >= level; last = split.path.at(-1)) {
    split.path.pop()
    if (split.isBare) add(split, 'paragraph', last.text)
  }
}

function add(split: Split, kind: Block['kind'], part: string): void {
  const text = kind === 'code' ? part.trimEnd() : part.trim()
  if (text === '') return
  split.isBare = false
  const heading = split.path.map((each) => each.text).join(' › ')
  const mark = kind === 'row' && split.kind === 'row' ? '\n' : '\n\n'
  if (split.heading !== heading || split.text.length + mark.length + text.length > split.limit) flush(split)
  split.text = split.text === '' ? text : `${split.text}${mark}${text}`
  split.kind = kind
  split.heading = heading
}

function flush(split: Split): void {
  const { passages, heading, text } = split
  if (text !== '') passages.push({ place: passages.length, heading, text })
  split.text = ''
}

/** Where the part ends that begins at `from` and may have `limit` characters. It has at least a quarter of them, so that the cost is linear. */
function cutOf({ kind, text }: Block, from: number, limit: number): number {
  const isLined = kind !== 'paragraph' && kind !== 'heading'
  const end = from + limit
  let [sentence, word] = [0, 0]
  // A space behind the limit belongs to nothing, so a part may end with it.
  for (let to = isSpace(text, end) ? end + 1 : end; to > from + limit / 4; to -= 1) {
    if (isSpace(text, to - 1)) {
      if (isLined && text[to - 1] === '\n') return to
      word ||= to
      if (sentence === 0 && endsSentence(text, to - 1)) sentence = to
    } else if (sentence === 0 && fullStops.has(text.charCodeAt(to - 1))) sentence = to
    if (sentence > 0 && !isLined) return sentence
  }
  return sentence || word || wholeBefore(text, end)
}

/** Whether a sentence ends before this place: its sign, then up to four quotation marks or brackets. */
function endsSentence(text: string, at: number): boolean {
  let last = at - 1
  while (last > at - 5 && /["'”’»)\]]/.test(text.charAt(last))) last -= 1
  return /[.!?…]/.test(text.charAt(last))
}

/** White space beyond ASCII, and full stops that no space follows. Sets, because each character of a long text is asked for. */
const wideSpaces = codesOf(
  '\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff',
)
const fullStops = codesOf('。！？')

function codesOf(characters: string): ReadonlySet<number> {
  return new Set(Array.from(characters, (one) => one.charCodeAt(0)))
}

function isSpace(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code <= 32 || (code >= 0xa0 && wideSpaces.has(code))
}

/** The place itself, or the one before if it stands inside a surrogate pair. */
function wholeBefore(text: string, at: number): number {
  const code = text.charCodeAt(at - 1)
  return code >= 0xd800 && code <= 0xdbff ? at - 1 : at
}
