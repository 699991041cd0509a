/** The script of the agent `data`. */
import { lastUserMessage, type Rule } from '@witan/core/testing'
import { askedIn, call, lines, one, played, resultsAfter, rowsOf, type Asked, type Steps } from './play.ts'
import { euros } from './words.ts'

/** How many times as long as other steps the writing of a report takes. */
const slow = 6
const quarters = [1, 2, 3, 4, 5, 6, 7].map((number) => ({
  year: 2025 + Math.floor((number - 1) / 4),
  quarter: ((number - 1) % 4) + 1,
}))

/** Figures by month, region or product; a report of all quarters, one step for each; and how far a report is. */
export const dataScript: Rule = (request) => {
  const said = lastUserMessage(request)
  if (said.includes('<history>')) return progress(said)
  const from = request.messages.findLastIndex(({ role, content }) => role === 'user' && isReport(content))
  const isAtWork =
    from >= 0 &&
    !request.messages.slice(from + 1).some(({ role, content }) => role === 'assistant' && content.startsWith('Report'))
  if (isAtWork) {
    const heard = request.messages
      .slice(from + 1)
      .filter(({ role, content }) => role === 'user' && /^\[from @main/.test(content))
      .map(({ content }) => content)
    return { ...played(report(heard), resultsAfter(request, from)), delayMs: slow }
  }
  return played(figures(askedIn(request)), resultsAfter(request))
}

function isReport(message: string): boolean {
  return /\breport\b/i.test(message) && !/^\[from @/.test(message)
}

function* report(heard: readonly string[]): Steps {
  const found: string[] = []
  for (const { year, quarter } of quarters) {
    const [row] = rowsOf(yield* one('figures_of_quarter', { year, quarter }))
    found.push(
      `${year} Q${quarter}: ${euros(row?.['revenue'])} in ${row?.['orders']} orders, most of it by ${row?.['best']}`,
    )
  }
  const only = /\bonly (\d{4})\b/i.exec(heard.join(' '))?.[1]
  const kept = found.filter((line) => only === undefined || line.startsWith(only))
  return `Report of ${only === undefined ? 'all quarters' : `the quarters of ${only}`}:\n${lines(kept, (line) => line)}`
}

function progress(story: string): string {
  const steps = story.match(/figures_of_quarter/g)?.length ?? 0
  return `The report has looked at ${Math.min(steps, quarters.length)} of ${quarters.length} quarters.`
}

function* figures({ message }: Asked): Steps {
  const year = Number(/\b(2025|2026)\b/.exec(message)?.[0] ?? 2026)
  if (/\b20(?!25|26)\d\d\b/.test(message)) return 'The warehouse has the years 2025 and 2026 alone.'
  if (/\bmonth/i.test(message)) {
    const rows = rowsOf(yield* one('revenue_by_month', { year }))
    return `Revenue of ${year}:\n${lines(rows, ({ month, revenue }) => `${month}: ${euros(revenue)}`)}`
  }
  const kind = /\bregions?\b|\bnorth|\bsouth|\boverseas/i.test(message) ? 'region' : 'product'
  const [first] = yield [call(`revenue_by_${kind}`, { year })]
  const rows = first === undefined ? [] : rowsOf(first)
  if (rows.length === 0) return `There are no figures: ${first?.error ?? 'no rows'}.`
  const total = rows.reduce((sum, { revenue }) => sum + Number(revenue), 0)
  return `Revenue of ${year} by ${kind}, ${euros(total)} in all:\n${lines(rows, (row) => `${row[kind]}: ${euros(row['revenue'])}, ${row['units']} units`)}`
}
