/** What axe finds in a page as it stands. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Violation {
  readonly id: string
  readonly nodes: readonly { readonly target: readonly string[] }[]
}

/** The rule and the elements of each violation. All rules count, the best practices and the experimental ones too. */
export async function violationsOf(page: Page): Promise<string[]> {
  await page.evaluate(axe)
  const found = await page.evaluate<Violation[]>(
    "axe.run(document, { rules: { 'label-content-name-mismatch': { enabled: true } } }).then(({ violations }) => violations)",
  )
  const headings = await page.getByRole('heading', { level: 1 }).count()
  return [
    ...found.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`),
    ...(headings === 1 ? [] : [`${headings} headings of level 1`]),
  ]
}
