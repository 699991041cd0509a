/** What a run used, as lines: the sum over the whole tree, then by agent. Pure. */
import type { RunResult, Usage, UsageCounters } from '@witan/protocol'
import type { Line, Span } from './lines.ts'
import { cutLine } from './lines.ts'
import { count, duration, plural } from './phrase.ts'
import { cutText, oneLine, textWidth } from './width.ts'

const nameColumns = 44

/** The sum and, where more than one agent took part, a line for each. */
export function usageLines(result: Pick<RunResult, 'usage' | 'elapsedMs'>, columns: number): Line[] {
  const { usage } = result
  const agents = Object.entries(usage.byAgent)
  const sum: Span = { text: sumPhrase(usage), tone: 'plain' }
  const rest: Span = { text: `  ${tokenSplit(usage)}${duration(result.elapsedMs)}`, tone: 'faint' }
  const fits = textWidth(sum.text + rest.text) <= columns
  const head: Line[] = fits ? [[sum, rest]] : [[sum], [rest]]
  const lines = agents.length < 2 ? head : [...head, ...agentLines(agents, columns)]
  return lines.map((line) => cutLine(line, columns))
}

function sumPhrase(usage: Usage): string {
  const least = usage.complete ? '' : 'at least '
  const price = usage.costUsd === null ? '' : ` · ${least}$${usage.costUsd.toFixed(4)}`
  const calls = `${plural(usage.modelCalls, 'model call')} · ${plural(usage.toolCalls, 'tool call')}`
  return `${calls} · ${tokens(usage)}${price}`
}

/** Unknown is never counted as 0: then the sum is a lower bound, and says so. */
function tokens(counters: UsageCounters): string {
  return `${counters.complete ? '' : 'at least '}${plural(counters.totalTokens, 'token')}`
}

function tokenSplit(usage: Usage): string {
  return usage.totalTokens === 0 ? '' : `${count(usage.inputTokens)} in, ${count(usage.outputTokens)} out · `
}

function agentLines(agents: readonly (readonly [string, UsageCounters])[], columns: number): Line[] {
  const sorted = agents.toSorted(([a], [b]) => (a < b ? -1 : 1))
  const paths = sorted.map(([path]) => path)
  const names = paths.map((path) => label(path, paths))
  const width = Math.min(Math.max(...names.map(textWidth)), nameColumns, Math.max(12, columns - 26))
  const figures = sorted.map(([, counters]) =>
    columns < 76
      ? [tokens(counters)]
      : [plural(counters.modelCalls, 'model call'), plural(counters.toolCalls, 'tool call'), tokens(counters)],
  )
  const widths = [0, 1, 2].map((at) => Math.max(...figures.map((row) => row[at]?.length ?? 0)))
  return names.map((whole, index) => {
    const name = cutText(whole, width)
    const row = (figures[index] ?? []).map((figure, at) => figure.padStart((widths[at] ?? 0) + 3))
    const spans: Span[] = [
      { text: `  ${name}${' '.repeat(width - textWidth(name))}`, tone: 'plain' },
      { text: row.join(''), tone: 'faint' },
    ]
    return spans
  })
}

/** The rest of a path below the nearest agent that has a line, indented by the number of those. A workflow has none. */
function label(path: string, paths: readonly string[]): string {
  const above = paths.filter((other) => path.startsWith(`${other}/`))
  const nearest = above.at(-1) ?? path.split('/')[0] ?? path
  const rest = path === nearest ? path : path.slice(nearest.length + 1)
  return `${'  '.repeat(above.length)}${oneLine(rest)}`
}
