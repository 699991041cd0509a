/** What differs between pins and what servers offer, as lines for a terminal. Hidden characters are shown as escapes. */
import type { McpToolDefinition, PinDifferences } from '@witan/core/tooling'
import type { Line, Span, Tone } from '../tree/lines.ts'
import { plural } from '../tree/phrase.ts'
import { oneLine } from '../tree/width.ts'
import { changesOf } from './changes.ts'

/** Whether nothing differs. */
export function isSame({ added, removed, changed }: PinDifferences): boolean {
  return added.length + removed.length + changed.length === 0
}

/** `2 added, 1 changed`; empty if nothing differs. */
export function differencePhrase({ added, removed, changed }: PinDifferences): string {
  return Object.entries({ added, removed, changed })
    .flatMap(([word, tools]) => (tools.length === 0 ? [] : [`${tools.length} ${word}`]))
    .join(', ')
}

/** A line for each tool, and below a changed one what of it changed. */
export function differenceLines({ added, removed, changed }: PinDifferences): readonly Line[] {
  return [
    ...added.map((tool) => toolLine('+', 'good', tool)),
    ...removed.map((tool) => toolLine('-', 'bad', tool)),
    ...changed.flatMap(({ tool, keys, before, now }) => [
      [span('  ~ ', 'wait'), span(oneLine(tool), 'strong'), span(`  ${keys.join(', ')}`, 'faint')],
      ...keys.flatMap((key) => changeLines(key, before[key], now[key])),
    ]),
  ]
}

function toolLine(sign: string, tone: Tone, { name, description = '' }: McpToolDefinition): Line {
  return [span(`  ${sign} `, tone), span(oneLine(name), 'strong'), span(`  ${firstOf(description)}`, 'faint')]
}

const longest = 300

function firstOf(text: string): string {
  const start = oneLine(text.slice(0, longest).toWellFormed())
  return text.length > longest ? `${start}…` : start
}

function changeLines(key: string, before: unknown, now: unknown): readonly Line[] {
  const { changes, more } = changesOf(key, before, now)
  return [
    ...changes.flatMap((change) => [
      [span(`      ${oneLine(change.path.slice(0, longest))}`, 'faint')],
      ...(change.before === undefined ? [] : [[span('      - ', 'bad'), span(oneLine(change.before), 'plain')]]),
      ...(change.now === undefined ? [] : [[span('      + ', 'good'), span(oneLine(change.now), 'plain')]]),
    ]),
    ...(more === 0 ? [] : [[span(`      and ${plural(more, 'more place')}`, 'faint')]]),
  ]
}

function span(text: string, tone: Tone): Span {
  return { text, tone }
}
