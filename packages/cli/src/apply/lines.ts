/** A plan as lines of styled spans: what is new, what changes from what to what, what goes. Pure. */
import { shownText } from '@witan/protocol/shown'
import type { Line, Span } from '../tree/lines.ts'
import { compact, plural, quoted } from '../tree/phrase.ts'
import { asCommand } from '../hints.ts'
import { oneLine } from '../tree/width.ts'
import type { Change } from './diff.ts'
import type { Plan } from './plan.ts'
import type { Planned, Trouble } from './planned.ts'

const longestText = 60
/** So many lines of a text around a change are shown. */
const mostLines = 40

/** The complete plan. Unchanged agents are one line each; the last line has the totals. */
export function planLines({ planned, protocols, bases, pruned, warnings }: Plan): readonly Line[] {
  const all = [...protocols, ...bases, ...planned]
  const added = all.filter(({ stored }) => stored === null)
  const changed = all.filter(({ stored, changes }) => stored !== null && changes.length > 0)
  const same = all.length - added.length - changed.length
  const counts = [`${added.length} new`, `${changed.length} changed`, `${same} unchanged`]
  if (pruned.length > 0) counts.push(`${pruned.length} to delete`)
  return [
    ...protocols.flatMap((one) => definitionLines({ ...one, what: 'protocol, ' })),
    ...bases.flatMap((one) => definitionLines({ ...one, what: 'knowledge base, ' })),
    ...planned.flatMap((one) => definitionLines({ ...one, what: '' })),
    ...pruned.map(({ id }) => headLine({ text: '- ', tone: 'bad' }, id, 'goes')),
    ...warnings.flatMap(troubleLines),
    [],
    [{ text: counts.join(', '), tone: 'strong' }],
  ]
}

/** One mistake, with its file and line, and a fix. */
export function troubleLines({ severity, place, agent, path, code, detail, hint }: Trouble): readonly Line[] {
  const tone = severity === 'error' ? 'bad' : 'wait'
  const who = [agent, path].filter((part) => part !== '').join(' ')
  const head: Line = [
    { text: severity === 'error' ? '✗ ' : '! ', tone },
    { text: oneLine(place), tone: 'plain' },
    { text: who === '' ? '' : `  ${oneLine(who)}`, tone: 'strong' },
    { text: `  ${code}  `, tone },
    { text: oneLine(detail), tone: 'plain' },
  ]
  const isSaid = hint === '' || detail.includes(hint)
  return isSaid ? [head] : [head, [{ text: `  → ${oneLine(asCommand(hint))}`, tone: 'faint' }]]
}

type Defined = Pick<Planned, 'name' | 'changes'> & {
  readonly stored: { readonly source: string } | null
  readonly what: string
}

function definitionLines({ name, stored, changes, what }: Defined): readonly Line[] {
  if (stored === null)
    return [headLine({ text: '+ ', tone: 'good' }, name, `${what}new`), ...changes.flatMap(addedLines)]
  if (changes.length === 0) return [headLine({ text: '= ', tone: 'faint' }, name, `${what}unchanged`)]
  const lines = [
    headLine({ text: '~ ', tone: 'wait' }, name, `${what}${plural(changes.length, 'change')}`),
    ...changes.flatMap(changeLines),
  ]
  if (stored.source !== 'code') return lines
  const warning = '    ! It is defined in code, and the next start of the runtime writes the code’s again.'
  return [...lines, [{ text: warning, tone: 'wait' }]]
}

function headLine(mark: Span, id: string, what: string): Line {
  return [mark, { text: oneLine(id), tone: 'strong' }, { text: `  ${what}`, tone: 'faint' }]
}

function addedLines({ path, after }: Change): readonly Line[] {
  if (isLong(after)) return [fieldLine(path), ...textLines('', after as string)]
  return [[...fieldLine(path), { text: phrase(after), tone: 'good' }]]
}

function changeLines({ path, before, after }: Change): readonly Line[] {
  if (typeof before === 'string' && typeof after === 'string' && (isLong(before) || isLong(after)))
    return [fieldLine(path), ...textLines(before, after)]
  if (before === undefined) return [[...fieldLine(path), { text: `+ ${phrase(after)}`, tone: 'good' }]]
  if (after === undefined) return [[...fieldLine(path), { text: `- ${phrase(before)}`, tone: 'bad' }]]
  return [
    [
      ...fieldLine(path),
      { text: phrase(before), tone: 'bad' },
      { text: ' → ', tone: 'faint' },
      { text: phrase(after), tone: 'good' },
    ],
  ]
}

function fieldLine(path: string): Line {
  return [{ text: `    ${oneLine(path)}  `, tone: 'faint' }]
}

function phrase(value: unknown): string {
  return typeof value === 'string' ? quoted(value) : compact(withoutEmpty(value))
}

/** Empty values are left out, because a reader expects them. */
function withoutEmpty(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const said = Object.entries(value).filter(
    ([, item]) => item !== null && item !== '' && !(typeof item === 'object' && Object.keys(item).length === 0),
  )
  return Object.fromEntries(said)
}

function isLong(value: unknown): boolean {
  return typeof value === 'string' && (value.includes('\n') || value.length > longestText)
}

/** The lines of a text that differ, without those that both begin and end with. */
function textLines(before: string, after: string): readonly Line[] {
  const [was, is] = [linesOf(before), linesOf(after)]
  let start = 0
  while (start < was.length && start < is.length && was[start] === is[start]) start += 1
  let end = 0
  while (end < was.length - start && end < is.length - start && was.at(-1 - end) === is.at(-1 - end)) end += 1
  const gone = was.slice(start, was.length - end).map((text): Line => [{ text: `      - ${text}`, tone: 'bad' }])
  if (start === was.length && start === is.length) return [[{ text: '      only its end differs', tone: 'faint' }]]
  const come = is.slice(start, is.length - end).map((text): Line => [{ text: `      + ${text}`, tone: 'good' }])
  return [...skipped(start), ...shortened(gone), ...shortened(come), ...skipped(end)]
}

function linesOf(text: string): readonly string[] {
  return text === '' ? [] : shownText(text).replace(/\n$/, '').split('\n')
}

function skipped(count: number): readonly Line[] {
  return count === 0 ? [] : [[{ text: `        ${plural(count, 'line')} as before`, tone: 'faint' }]]
}

function shortened(lines: readonly Line[]): readonly Line[] {
  const more = lines.length - mostLines
  return more <= 0
    ? lines
    : [...lines.slice(0, mostLines), [{ text: `      … ${plural(more, 'more line')}`, tone: 'faint' }]]
}
