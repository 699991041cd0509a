/** Reads PDF: the lines of each page as paragraphs, large ones as headings. */
import type { Block } from '@witan/core/knowledge'
import { getDocumentProxy } from 'unpdf'
import { type Found, UnreadableError } from './reading.ts'

interface Line {
  text: string
  /** The height of its letters, in points. */
  height: number
  /** Whether it stands apart from the line above it. */
  readonly isApart: boolean
}

type Pdf = Awaited<ReturnType<typeof getDocumentProxy>>
type Item = Awaited<ReturnType<Awaited<ReturnType<Pdf['getPage']>>['getTextContent']>>['items'][number]

/** How much larger than most of the text a heading is, and how long one may be. */
const headingRatio = 1.15
const mostHeading = 200
const mostLevels = 4

/** The blocks of a PDF and its title. Refuses one that is protected by a password, and one without text, such as scanned pages. */
export async function readPdf(bytes: Uint8Array): Promise<Found> {
  const pdf = await openPdf(bytes)
  const lines: Line[] = []
  for (let number = 1; number <= pdf.numPages; number += 1) {
    const page = await pdf.getPage(number)
    const { items } = await page.getTextContent()
    addLines(lines, items)
    page.cleanup()
  }
  if (!lines.some(({ text }) => /\S/.test(text))) throw new UnreadableError('It has no text: its pages may be images.')
  const { info } = await pdf.getMetadata()
  const title: unknown = (info as Readonly<Record<string, unknown>>)['Title']
  return { title: typeof title === 'string' && title.trim() !== '' ? title.trim() : null, blocks: blocksOf(lines) }
}

async function openPdf(bytes: Uint8Array): Promise<Pdf> {
  try {
    return await getDocumentProxy(bytes, { verbosity: 0 })
  } catch (error) {
    const isLocked = error instanceof Error && error.name === 'PasswordException'
    throw new UnreadableError(isLocked ? 'It is protected by a password.' : 'It is not a PDF, or it is damaged.')
  }
}

/** Texts of a page, line by line. Lines stand apart if the step from one to the next is larger than the letters ask for. */
function addLines(lines: Line[], items: readonly Item[]): void {
  let line: Line | null = null
  let last: { readonly y: number; readonly height: number } | null = null
  for (const item of items) {
    if (!('str' in item)) continue
    const y: number = item.transform[5] ?? 0
    if (line === null && item.str.trim() !== '') {
      const isApart = last === null || Math.abs(last.y - y) > 1.6 * Math.max(last.height, item.height)
      line = { text: '', height: 0, isApart }
      last = { y, height: item.height }
    }
    if (line !== null) {
      line.text += item.str
      if (item.str.trim() !== '') line.height = Math.max(line.height, Math.round(item.height * 2) / 2)
    }
    if (!item.hasEOL || line === null) continue
    lines.push(line)
    line = null
  }
  if (line !== null) lines.push(line)
}

function* blocksOf(lines: readonly Line[]): Generator<Block> {
  const sizes = headingSizes(lines)
  let paragraph: string[] = []
  for (const { text, height, isApart } of lines) {
    const size = text.length <= mostHeading ? sizes.indexOf(height) : -1
    if ((isApart || size >= 0) && paragraph.length > 0) {
      yield { kind: 'paragraph', text: paragraph.join('') }
      paragraph = []
    }
    if (size >= 0) yield { kind: 'heading', level: Math.min(size + 1, mostLevels), text }
    else addLine(paragraph, text.trim())
  }
  if (paragraph.length > 0) yield { kind: 'paragraph', text: paragraph.join('') }
}

/** A word that is broken at the end of a line becomes whole again. */
function addLine(paragraph: string[], line: string): void {
  const above = paragraph.at(-1)
  const isBroken = above !== undefined && /\p{Ll}-$/u.test(above.slice(-3)) && /^\p{Ll}/u.test(line)
  if (isBroken) paragraph[paragraph.length - 1] = above.slice(0, -1)
  paragraph.push(above === undefined || isBroken ? line : ` ${line}`)
}

/** The heights that are larger than that of most of the text, the largest first. */
function headingSizes(lines: readonly Line[]): readonly number[] {
  const counts = new Map<number, number>()
  for (const { text, height } of lines) counts.set(height, (counts.get(height) ?? 0) + text.length)
  const most = [...counts].reduce((best, each) => (each[1] > best[1] ? each : best), [0, 0] as const)[0]
  return [...counts.keys()].filter((height) => height > most * headingRatio).sort((one, other) => other - one)
}
