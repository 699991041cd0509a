/** Text in Markdown as blocks: those that no further text can change are parsed once, however long the text grows. */
import MarkdownIt, { type Token } from 'markdown-it'

/** One part of a text. The same object as long as nothing of it has changed. */
export interface MarkdownBlock {
  /** The parsed content; null if it is shown as written. */
  readonly tokens: readonly Token[] | null
  readonly source: string
}

/** A text that grows, cut into blocks. */
interface MarkdownText {
  /** The blocks of the text. Cheap where `text` begins with what it was before. */
  blocks(text: string): readonly MarkdownBlock[]
}

/** A block that is longer than this is shown as it is, unless it is code: no text of a model may keep the page from answering. */
const longestBlock = 20_000
/** Text after this many characters is shown as written. */
const longestText = 100_000

const parser = new MarkdownIt({ html: false, linkify: true, breaks: true, maxNesting: 40 })
// Link definitions are ignored: text far below would change blocks that were already parsed.
parser.disable('reference')
parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false })

/** A parser that has read nothing yet. */
export function markdownText(): MarkdownText {
  let known = ''
  let settled: MarkdownBlock[] = []
  return {
    blocks(whole) {
      const text = whole.slice(0, longestText).replace(/\r\n?/g, '\n')
      if (!text.startsWith(known)) {
        known = ''
        settled = []
      }
      const rest = text.slice(known.length)
      const groups = groupsOf(rest)
      const count = settledAmong(rest, groups)
      const open = groups.slice(count)
      if (count > 0) {
        settled = [...settled, ...groups.slice(0, count).map(blockOf)]
        known = text.slice(0, known.length + (open[0]?.start ?? 0))
      }
      const behind = whole.length > longestText ? [{ tokens: null, source: whole.slice(longestText) }] : []
      return [...settled, ...open.map(blockOf), ...behind]
    },
  }
}

interface Group {
  readonly tokens: readonly Token[]
  /** Where it begins in the text. */
  readonly start: number
  readonly source: string
}

/** The top level of a text: one group for each block. */
function groupsOf(text: string): Group[] {
  if (isOneBlock(text)) return [{ tokens: [], start: 0, source: text }]
  const tokens = parser.parse(text, {})
  const offsets = lineOffsets(text)
  const groups: { tokens: Token[]; start: number }[] = []
  let depth = 0
  for (const token of tokens) {
    if (depth === 0) groups.push({ tokens: [], start: offsets[token.map?.[0] ?? 0] ?? 0 })
    groups.at(-1)?.tokens.push(token)
    depth += token.nesting
  }
  return groups.map((group, index) => ({ ...group, source: text.slice(group.start, groups[index + 1]?.start) }))
}

/** Without an empty line nothing of it can be settled, so it would be parsed anew with every word. Code alone is parsed fast. */
function isOneBlock(text: string): boolean {
  const words = behindCode(text)
  return words.length > longestBlock && !/\n[ \t]*\n/.test(words.slice(0, longestBlock))
}

/** The text behind the code that it begins with. */
function behindCode(text: string): string {
  const fence = /^ {0,3}(?:`{3,}|~{3,})/.exec(text)?.[0].trimStart()
  if (fence === undefined) return text
  const end = text.indexOf(`\n${fence}`)
  return end < 0 ? '' : text.slice(end + 1 + fence.length)
}

function blockOf({ tokens, source }: Group): MarkdownBlock {
  const isReadable = source.length <= longestBlock || tokens[0]?.type === 'fence'
  return { tokens: isReadable ? tokens : null, source }
}

/**
 * How many groups no further text can change: those before an empty line behind which another group begins with a whole line. An
 * empty line ends all that a line may continue but a list, and whether a whole line continues a list is known.
 */
function settledAmong(text: string, groups: readonly Group[]): number {
  return Math.max(
    0,
    groups.findLastIndex(({ start }, index) => {
      const before = groups[index - 1]?.source ?? ''
      return /\n[ \t]*\n$/.test(before.slice(-1000)) && text.includes('\n', start)
    }),
  )
}

function lineOffsets(text: string): number[] {
  const offsets = [0]
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) offsets.push(at + 1)
  return offsets
}

/** The address of a link that leads to a web page; null for any other. */
export function webAddress(href: string): URL | null {
  const url = URL.parse(href)
  return url !== null && (url.protocol === 'https:' || url.protocol === 'http:') ? url : null
}
