/** Reads Markdown: its blocks as they are written. */
import MarkdownIt, { type Token } from 'markdown-it'
import { readHtml } from './html.ts'
import type { Reading } from './reading.ts'
import { rowText } from './reading.ts'

/** The structure of blocks alone: what stands within a line is quoted as it is written, and takes no time. No target of a link is kept, so none is refused. */
const parser = new MarkdownIt({ html: true })
parser.core.ruler.enableOnly(['normalize', 'block'])
parser.validateLink = () => true

const mostFrontLines = 200
/**
 * The most characters of headings whose marks are read, in one heading and in all of a file: reading marks takes time. Headings beyond it stay as
 * they are written.
 */
const [longestHeading, mostOfHeadings] = [500, 500_000]

/** HTML in Markdown gives what it gives in a page. The lines between `---` at the begin are a block; their `title` is that of the file. */
export function* readMarkdown(source: string): Reading {
  const front = frontOf(source)
  if (front.text !== '') yield { kind: 'code', text: front.text }
  const body = source.slice(front.end)
  const lines = body.split('\n')
  const definitions = {}
  const tokens = parser.parse(body, definitions)
  const plainOf = headingReader(definitions)
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at] as Token
    const end = endOf(tokens, at)
    const text = () => withoutComments(lines.slice(...(token.map ?? [0, 0])).join('\n'))
    const content = () => withoutComments(tokens[at + 1]?.content ?? '')
    if (token.type === 'heading_open') yield { kind: 'heading', level: Number(token.tag[1]), text: plainOf(content()) }
    else if (token.type === 'paragraph_open') yield { kind: 'paragraph', text: content() }
    else if (token.type === 'fence' || token.type === 'code_block') yield { kind: 'code', text: token.content }
    else if (token.type === 'html_block') yield* readHtml(token.content)
    else if (token.type === 'table_open') yield* rowsOf(tokens, at, end)
    else if (token.type === 'blockquote_open') yield { kind: 'paragraph', text: text().replace(/^ {0,3}> ?/gm, '') }
    else if (token.type.endsWith('_list_open')) yield { kind: 'list', text: text() }
    at = end
  }
  return front.title
}

/** The token that closes a block of the outermost level; a block of one token closes itself. */
function endOf(tokens: readonly Token[], at: number): number {
  let end = at
  if (tokens[at]?.nesting === 1) while (end + 1 < tokens.length && tokens[++end]?.level !== 0);
  return end
}

function* rowsOf(tokens: readonly Token[], from: number, to: number): Generator<{ kind: 'row'; text: string }> {
  let names: readonly string[] | null = null
  let cells: string[] = []
  for (let at = from; at < to; at += 1) {
    const token = tokens[at] as Token
    if (token.type === 'inline') cells.push(withoutComments(token.content))
    if (token.type !== 'tr_close') continue
    if (names === null) names = cells
    else yield { kind: 'row', text: rowText(names, cells) }
    cells = []
  }
}

function frontOf(source: string): { readonly text: string; readonly title: string | null; readonly end: number } {
  const none = { text: '', title: null, end: 0 }
  if (!source.startsWith('---\n')) return none
  const lines = source.slice(4, 20_000).split('\n').slice(0, mostFrontLines)
  const count = lines.indexOf('---')
  if (count < 0) return none
  const text = lines.slice(0, count).join('\n')
  const title = /^title:[ \t]*(["']?)(\S.*?)\1[ \t]*$/m.exec(text)?.[2] ?? null
  return { text, title, end: 4 + text.length + (count > 0 ? 1 : 0) + 3 }
}

/** Comments are not shown where Markdown is. */
function withoutComments(text: string): string {
  const parts: string[] = []
  let from = 0
  for (let open = text.indexOf('<!--'); open >= 0; open = text.indexOf('<!--', from)) {
    parts.push(text.slice(from, open))
    const close = text.indexOf('-->', open + 4)
    from = close < 0 ? text.length : close + 3
  }
  return parts.length === 0 ? text : parts.join('') + text.slice(from)
}

/** Reads what headings of a file say: without marks of emphasis, and without the targets of links and images. */
function headingReader(definitions: Record<string, unknown>): (heading: string) => string {
  let left = mostOfHeadings
  return (heading) => {
    if (heading.length > longestHeading || !/[[\]*_`<&\\~]/.test(heading)) return heading
    left -= heading.length
    if (left < 0) return heading
    const tokens: Token[] = []
    parser.inline.parse(heading, parser, definitions, tokens)
    return textOf(tokens)
  }
}

/** What tokens within a line say. HTML is kept as it is written. */
function textOf(tokens: readonly Token[]): string {
  return tokens
    .map(({ type, content, children }) => {
      if (type === 'softbreak' || type === 'hardbreak') return '\n'
      return type === 'image' ? textOf(children ?? []) : content
    })
    .join('')
}
