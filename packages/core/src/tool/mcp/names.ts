/** The names of MCP tools: those that models read, and patterns over those that servers give. */
import { createHash } from 'node:crypto'
import { shownName } from '@witan/protocol/names'

/** What the name of a server may be. */
export const serverNamePattern = /^[a-z0-9-]{1,32}$/

/** The most characters that every provider takes as the name of a tool. */
const longestName = 64
const keptOfLong = 55

/**
 * The name under which models read a tool: `<server>_<tool>`, with `_` for each character but letters, digits, `_` and `-` of ASCII. A longer one than
 * 64 characters keeps 55, and gets `_` and 8 hex digits of the SHA-256 of the whole. Two tools of a server may have one name.
 */
export function offeredName(server: string, tool: string): string {
  const whole = `${server}_${tool}`
  const name = whole.replace(/[^A-Za-z0-9_-]/gu, '_')
  if (name.length <= longestName) return name
  return `${name.slice(0, keptOfLong)}_${createHash('sha256').update(whole).digest('hex').slice(0, 8)}`
}

/**
 * Whether a name fits a pattern, in which `*` stands for any characters, none included. Upper and lower case differ. Each part between two stars is
 * looked for once, from where the last one ended.
 */
export function fitsPattern(pattern: string, name: string): boolean {
  return fitsParts(pattern.split('*'), name)
}

function fitsParts(parts: readonly string[], name: string): boolean {
  const first = parts[0] ?? ''
  if (parts.length === 1) return name === first
  const last = parts.at(-1) ?? ''
  const end = name.length - last.length
  if (end < first.length || !name.startsWith(first) || !name.endsWith(last)) return false
  let from = first.length
  for (const part of parts.slice(1, -1)) {
    const at = name.indexOf(part, from)
    if (at < 0 || at + part.length > end) return false
    from = at + part.length
  }
  return true
}

/** Whether a name fits one of many patterns; they are read once. */
export function matcherOf(patterns: readonly string[]): (name: string) => boolean {
  const exact = new Set(patterns)
  const open = patterns.filter((pattern) => pattern.includes('*')).map((pattern) => pattern.split('*'))
  return (name) => exact.has(name) || open.some((parts) => fitsParts(parts, name))
}

const longestShown = 64

/** A name that a server gave, as notices and errors show it: on one line, at most 64 characters, with hidden characters as escapes. */
export function shownTool(name: string): string {
  const isLong = name.length > longestShown
  const start = isLong ? name.slice(0, longestShown).replace(/[\ud800-\udbff]$/, '') : name
  const shown = shownName(start).replaceAll('`', "'")
  return isLong || shown.length > 2 * longestShown ? `${shown.slice(0, 2 * longestShown)}…` : shown
}
