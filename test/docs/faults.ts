/** The table of the page on faults, made from the report of the last run. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './pages.ts'

interface Line {
  readonly id: string
  readonly title: string
  readonly store: string
  readonly trials: number
  readonly faultsFired: number
  readonly violations: readonly string[]
  readonly recoveryMs: { readonly p50: number; readonly p99: number } | null
}

interface Report {
  readonly profile: string
  readonly at: string
  readonly node: string
  readonly cores: number
  readonly rows: readonly Line[]
}

const pattern = /<!-- faults -->\n[\s\S]*?<!-- \/faults -->/

/** The page with the table as the report has it. */
export function withReport(page: string): string {
  const report = JSON.parse(readFileSync(join(root, 'test/faults/report.json'), 'utf8')) as Report
  return page.replace(pattern, () => `<!-- faults -->\n${tableOf(report)}\n<!-- /faults -->`)
}

function tableOf({ profile, at, node, cores, rows }: Report): string {
  const total = rows.reduce((sum, { trials }) => sum + trials, 0)
  const fired = rows.reduce((sum, { faultsFired }) => sum + faultsFired, 0)
  const wrong = rows.reduce((sum, { violations }) => sum + violations.length, 0)
  const lines = rows.map(({ id, title, store, trials, faultsFired, violations, recoveryMs }) => {
    const recovery = recoveryMs === null ? '' : `${recoveryMs.p50} / ${recoveryMs.p99}`
    return `| ${id} | ${title} | ${store} | ${trials} | ${faultsFired} | ${violations.length} | ${recovery} |`
  })
  return [
    `${at.slice(0, 10)}, profile \`${profile}\`, Node ${node}, ${cores} cores: **${total} trials, ${fired} faults fired, ${wrong} violations.**`,
    '',
    '| row | fault | store | trials | fired | violations | recovery p50 / p99, ms |',
    '| --- | --- | --- | --- | --- | --- | --- |',
    ...lines,
  ].join('\n')
}
