/** The page of rules and the tests that cite them: who cites what, and what the page says of it. */
import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { root } from './pages.ts'

/** One line of the page. `files` are the tests that it names. */
export interface Rule {
  readonly id: string
  readonly text: string
  readonly state: string
  readonly files: readonly string[]
}

const idPattern = /^(?:[RFMTK]b?|[CDEPI])\d{1,2}$/
const rowPattern = /^\| ([RFMTKCDEPI]b?\d{1,2}) \| (.+?) \| (\w+) \| (.*?) ?\|$/gm
const namePattern = /\b(?:test|it|describe|suite)(?:\.\w+)?\(\s*(['"`])((?:(?!\1)[\s\S])*)\1/g
const tests = ['packages/*/src/**/*.test.ts', 'test/**/*.test.ts', 'scripts/**/*.test.ts', 'examples/*/*.test.ts']

/** `E2` and `E02` are the same rule. */
export function plainId(id: string): string {
  return id.replace(/0+(?=\d$)/, '')
}

/** Every id that stands in square brackets in a test's name, with the files that cite it. */
export function citations(): ReadonlyMap<string, ReadonlySet<string>> {
  const cited = new Map<string, Set<string>>()
  for (const file of globSync(tests, { cwd: root }).sort()) {
    for (const [, , name = ''] of readFileSync(join(root, file), 'utf8').matchAll(namePattern)) {
      for (const id of idsIn(name)) {
        if (!isFault(file, id)) cited.set(id, (cited.get(id) ?? new Set()).add(file.replaceAll('\\', '/')))
      }
    }
  }
  return cited
}

/** In the fault tests an `F` numbers a fault, not a rule. */
function isFault(file: string, id: string): boolean {
  return id.startsWith('F') && /^test[\\/]faults[\\/]/.test(file)
}

function idsIn(name: string): string[] {
  const lists = [...name.matchAll(/\[([^\]]+)\]/g)].map(([, list = '']) => list)
  return lists.flatMap((list) =>
    list
      .split(/[\s,;–]+/)
      .filter((word) => idPattern.test(word))
      .map(plainId),
  )
}

/** The rules of the page, in order. */
export function rulesOf(page: string): readonly Rule[] {
  return [...page.matchAll(rowPattern)].map(([, id = '', text = '', state = '', where = '']) => {
    return { id, text, state, files: [...where.matchAll(/\]\(\.\.\/([^)]+)\)/g)].map(([, file = '']) => file) }
  })
}

/** The page with its last two columns as the tests are now. What is planned, comes later or holds in part stays so: that is for people to change. */
export function refreshed(page: string): string {
  const cited = citations()
  return page.replaceAll(rowPattern, (row, ...groups: string[]) => {
    const [id = '', text = '', state = '', where = ''] = groups
    if (state === 'planned') return row
    const files = cited.get(plainId(id)) ?? new Set<string>()
    const known = [...where.matchAll(/\]\(\.\.\/([^)]+)\)/g)].map(([, file = '']) => file)
    const kept = known.filter((file) => files.has(file))
    const named = kept.length > 0 ? kept : [...files].slice(0, 1)
    if (named.length === 0) return `| ${id} | ${text} | ${state === 'later' ? 'planned' : 'built'} | |`
    const now = state === 'later' || state === 'partly' ? state : 'holds'
    const links = named.map((file) => `[${basename(file)}](../${file})`)
    return `| ${id} | ${text} | ${now} | ${links.join(', ')} |`
  })
}
