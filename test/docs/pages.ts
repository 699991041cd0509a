/** The project's own Markdown: which pages there are, and the examples that stand in them. */
import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** The folder of the repository. */
export const root = resolve(import.meta.dirname, '../..')

/** Where the examples lie. */
export const exampleFolder = join(import.meta.dirname, 'examples')

/** Every Markdown page of the project, relative to the root, in order. */
export function pagePaths(): readonly string[] {
  const found = globSync(['*.md', 'docs/**/*.md', 'packages/*/*.md', 'examples/**/*.md'], { cwd: root })
  return found
    .filter((path) => !path.includes('node_modules'))
    .map((path) => path.replaceAll('\\', '/'))
    .sort()
}

/** The text of a page, or of any other file of the project. */
export function readPage(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

/** An example as a page shows it: its code, and what it prints if the page shows that too. */
export interface Shown {
  readonly page: string
  readonly name: string
  readonly code: string
  readonly output: string | null
}

/** `<!-- example: name.ts -->`, the code, perhaps what it prints, `<!-- /example -->`. */
export const examplePattern =
  /<!-- example: ([\w-]+\.ts) -->\n(?:```ts\n([\s\S]*?)```\n)?(?:\n(```text\n)([\s\S]*?)```\n)?<!-- \/example -->/g

/** `<!-- file: path -->`, the file as it is, `<!-- /file -->`: a file of the project that is not run by itself. */
const filePattern = /<!-- file: ([\w./-]+\.ts) -->\n(?:```ts\n[\s\S]*?```\n)?<!-- \/file -->/g

/** The page with every file that it shows as that file is. */
export function withFiles(page: string): string {
  return page.replaceAll(filePattern, (_, path: string) => {
    return `<!-- file: ${path} -->\n\`\`\`ts\n${readPage(path)}\`\`\`\n<!-- /file -->`
  })
}

/** The paths of the files that a page shows, in order. */
export function filesOf(path: string): readonly string[] {
  return [...readPage(path).matchAll(filePattern)].map(([, name = '']) => name)
}

/** The examples of a page, in order. */
export function examplesOf(path: string): readonly Shown[] {
  return [...readPage(path).matchAll(examplePattern)].map(([, name = '', code = '', fence, output = '']) => ({
    page: path,
    name,
    code,
    output: fence === undefined ? null : output,
  }))
}

/** A page without its code: fenced blocks and inline code become blanks, so that what looks like a link in them is none. */
export function prose(text: string): string {
  return text.replace(/^(`{3,})[^\n]*\n[\s\S]*?^\1$/gm, '').replace(/`[^`\n]*`/g, '``')
}

/** The anchors that a page's headings have, as code forges make them. */
export function anchorsOf(text: string): ReadonlySet<string> {
  const headings = text.replace(/^(`{3,})[^\n]*\n[\s\S]*?^\1$/gm, '').matchAll(/^#{1,6} +(.+)$/gm)
  return new Set([...headings].map(([, heading = '']) => anchor(heading)))
}

function anchor(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-')
}
