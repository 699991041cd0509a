/** Reads HTML: what a browser shows of it. */
import type { Block } from '@witan/core/knowledge'
import { Parser } from 'htmlparser2'
import { type Reading, rowText, UnreadableError } from './reading.ts'

const mostDepth = 10_000
const pieceCharacters = 65_536
const mostStyle = 10_000

const voids = new Set(
  words('area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr'),
)
const hidden = new Set(
  words(
    'script style template noscript noembed noframes iframe object canvas audio video datalist rp math-ml title desc defs metadata',
  ),
)
const blocks = new Set(
  words(
    'address article aside blockquote body button caption center dd details dialog dir div dl dt fieldset figcaption figure footer form head header hgroup html legend li main menu nav ol optgroup option p section select summary tbody td textarea tfoot th thead tr ul',
  ),
)

/** What is open around the text: its tag, and how deep it stands. */
interface Container {
  readonly kind: 'title' | 'heading' | 'list' | 'code' | 'table'
  readonly name: string
  readonly depth: number
}

interface Page {
  readonly found: Block[]
  title: string | null
  /** How many elements are open. */
  depth: number
  /** The depth of the outermost element that is not shown; 0 if what follows is shown. */
  hiddenAt: number
  /** What keeps its text together: the outermost one alone. */
  container: Container | null
  lists: number
  text: string
  endsInSpace: boolean
  /** Nothing stands in the line yet, but perhaps the mark of a list item. */
  isLineStart: boolean
  names: readonly string[] | null
  cells: string[]
  /** Whether all cells of the row are heads; the depth of the open cell, or 0. */
  isHead: boolean
  cellAt: number
}

/**
 * The blocks of a page. Left out is what is not shown: scripts, styles, comments, templates, `noscript`, `hidden`, `display: none` and
 * `visibility: hidden` in a `style` attribute. Style sheets are not read. Alternatives of images are not text of the page.
 */
export function* readHtml(source: string): Reading {
  const page: Page = {
    found: [],
    title: null,
    depth: 0,
    hiddenAt: 0,
    container: null,
    lists: 0,
    text: '',
    endsInSpace: true,
    isLineStart: true,
    names: null,
    cells: [],
    isHead: true,
    cellAt: 0,
  }
  const parser = new Parser({
    onopentag: (name, attributes) => open(page, name, attributes),
    onclosetag: (name) => close(page, name),
    ontext: (text) => addText(page, text),
  })
  for (let from = 0; from < source.length; from += pieceCharacters) {
    parser.write(source.slice(from, from + pieceCharacters))
    yield* page.found.splice(0)
  }
  parser.end()
  flush(page, 'paragraph')
  yield* page.found
  return page.title
}

function open(page: Page, name: string, attributes: Readonly<Record<string, string>>): void {
  if (voids.has(name)) {
    const isShown = page.hiddenAt === 0 && !isHidden(name, attributes)
    if (isShown && name === 'br') breakLine(page)
    else if (isShown && name === 'hr' && page.container === null) flush(page, 'paragraph')
    return
  }
  page.depth += 1
  if (page.depth > mostDepth) throw new UnreadableError(`It nests deeper than ${mostDepth} elements.`)
  if (page.hiddenAt > 0) return
  const kind = containerOf(page, name)
  if (isHidden(name, attributes) && kind !== 'title') page.hiddenAt = page.depth
  else if (kind !== null) {
    flush(page, 'paragraph')
    page.container = { kind, name, depth: page.depth }
    page.names = null
    if (kind === 'list') page.lists = 1
  } else if (page.container?.kind === 'list') openInList(page, name)
  else if (page.container?.kind === 'table') openInTable(page, name)
  else if (blocks.has(name)) breakBlock(page)
}

function close(page: Page, name: string): void {
  if (voids.has(name)) return
  const { depth, container } = page
  page.depth -= 1
  if (page.hiddenAt > 0) {
    if (page.hiddenAt === depth) page.hiddenAt = 0
  } else if (container?.depth === depth) endContainer(page, container)
  else if (container?.kind === 'list' && isList(name)) page.lists -= 1
  else if (container?.kind === 'table' && name === 'tr' && page.cellAt === 0) endRow(page)
  else if (page.cellAt === depth) endCell(page)
  else if (blocks.has(name) || isList(name)) breakBlock(page)
}

/** The container that an element begins; null inside another one. */
function containerOf({ container, title }: Page, name: string): Container['kind'] | null {
  if (container !== null) return null
  if (name === 'title') return title === null ? 'title' : null
  if (/^h[1-6]$/.test(name)) return 'heading'
  if (isList(name)) return 'list'
  return name === 'pre' ? 'code' : name === 'table' ? 'table' : null
}

function isList(name: string): boolean {
  return name === 'ul' || name === 'ol' || name === 'menu' || name === 'dir'
}

function isHidden(name: string, attributes: Readonly<Record<string, string>>): boolean {
  if (hidden.has(name) || 'hidden' in attributes || (name === 'dialog' && !('open' in attributes))) return true
  const style = attributes['style']?.slice(0, mostStyle)
  if (style === undefined) return false
  const written = style
    .replace(/\\([0-9a-f]{1,6})\s?/gi, (_, code: string) =>
      String.fromCodePoint(Math.min(Number.parseInt(code, 16), 0x10ffff)),
    )
    .replace(/\/\*.*?\*\//gs, ' ')
  return /(?:^|[;\s])(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse))(?![\w-])/i.test(written)
}

function openInList(page: Page, name: string): void {
  if (isList(name)) page.lists += 1
  if (name !== 'li') return blocks.has(name) ? breakLine(page) : undefined
  breakLine(page)
  page.text += `${'  '.repeat(Math.min(page.lists - 1, 8))}- `
}

function openInTable(page: Page, name: string): void {
  const isCell = name === 'td' || name === 'th'
  if (page.cellAt > 0) return blocks.has(name) ? breakLine(page) : undefined
  if (!isCell) return blocks.has(name) ? flush(page, 'paragraph') : undefined
  flush(page, 'paragraph')
  page.cellAt = page.depth
  page.isHead &&= name === 'th'
}

function endCell(page: Page): void {
  page.cells.push(takeText(page).replaceAll('\n', ' '))
  page.cellAt = 0
}

function endRow(page: Page): void {
  if (page.names === null && page.isHead && page.cells.length > 1) page.names = page.cells
  else page.found.push({ kind: 'row', text: rowText(page.names ?? [], page.cells) })
  page.cells = []
  page.isHead = true
}

function endContainer(page: Page, { kind, name }: Container): void {
  if (kind === 'title') page.title = takeText(page).trim() || null
  else if (kind === 'table') {
    if (page.cells.length > 0) endRow(page)
    flush(page, 'paragraph')
  } else if (kind === 'heading') page.found.push({ kind, level: Number(name[1]), text: takeText(page) })
  else flush(page, kind)
  page.container = null
}

/** Begins a new block, or inside a container a new line. */
function breakBlock(page: Page): void {
  if (page.container === null) flush(page, 'paragraph')
  else breakLine(page)
}

function breakLine(page: Page): void {
  if (page.isLineStart) return
  page.text += '\n'
  page.endsInSpace = true
  page.isLineStart = true
}

/** Spaces become one, but in `pre`. */
function addText(page: Page, text: string): void {
  if (page.hiddenAt > 0) return
  if (page.container?.kind === 'code') {
    page.text += text
    page.isLineStart = false
    return
  }
  const spaced = text.replace(/\s+/g, ' ')
  const added = page.endsInSpace && spaced.startsWith(' ') ? spaced.slice(1) : spaced
  if (added === '') return
  page.text += added
  page.endsInSpace = added.endsWith(' ')
  page.isLineStart = false
}

function takeText(page: Page): string {
  const { text } = page
  page.text = ''
  page.endsInSpace = true
  page.isLineStart = true
  return text
}

function flush(page: Page, kind: 'paragraph' | 'list' | 'code'): void {
  const text = takeText(page)
  if (/\S/.test(text)) page.found.push({ kind, text: kind === 'code' ? text : text.replaceAll(' \n', '\n') })
}

function words(text: string): readonly string[] {
  return text.split(' ')
}
