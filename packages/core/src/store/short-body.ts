/**
 * Bodies of entries as lists, for texts that are stored. A form names the fields of the most common bodies in their order, once for all;
 * values at the end of a list that are the usual ones are left out. Fields behind those of a form stand in an object before the values.
 */
import type { Fields } from './short-usage.ts'

/** A field, and its usual value; without one its value is always stored. */
type Field = readonly [name: string, usual?: unknown]

/** Their places are stored: a form is never changed or moved, only added. */
const forms: readonly (readonly Field[])[] = [
  // A run
  [
    ...([['agent'], ['revision'], ['toolCallId', null], ['message'], ['parameters', {}], ['generated', null]] as const),
    ...([
      ['map', {}],
      ['history', 'agent'],
      ['revisions', {}],
      ['ordered', true],
      ['initial', []],
    ] as const),
    ...([
      ['hidden', false],
      ['originRunId', null],
    ] as const),
  ],
  // A call of a sub-agent
  [
    ...([['agent'], ['message'], ['generated', null], ['map', {}], ['history', 'agent'], ['revision']] as const),
    ...([
      ['parameters', {}],
      ['revisions', {}],
      ['initial', []],
      ['hidden', false],
      ['originRunId', null],
    ] as const),
    ['toolCallId'],
  ],
  // Replies of models: the second was asked for by another name
  reply(['model']),
  reply(['model'], ['asked']),
  [['text'], ['output', null], ['finishReason', 'stop'], ['usage'], ['backgroundTasks', []]],
  [['name'], ['toolCallId'], ['arguments'], ['bound', []]],
  [['result'], ['truncated', false]],
]

function reply(...named: readonly Field[]): readonly Field[] {
  return [
    ...named,
    ...([['usage'], ['finishReason'], ['text'], ['toolCalls'], ['taken'], ['startedAt'], ['attempt']] as const),
    ...([['offered', true], ['accepted', true], ['digest']] as const),
  ]
}

/** A form as it is used: its fields in the order of bodies, their usual values, and where each stands in a list. */
interface Form {
  readonly number: number
  readonly names: readonly string[]
  readonly usual: readonly unknown[]
  readonly places: readonly number[]
  /** The fields in the order of lists: those without a usual value first. So many of them have none. */
  readonly listed: readonly number[]
  readonly needed: number
}

const all: readonly Form[] = forms.map((fields, number) => {
  const has = (length: number) => fields.flatMap((field, index) => (field.length === length ? [index] : []))
  const listed = [...has(1), ...has(2)]
  const places = fields.map((_, index) => listed.indexOf(index))
  const [names, usual] = [fields.map(([name]) => name), fields.map(([, value]) => value)]
  return { number, names, usual, places, listed, needed: has(1).length }
})

const none: readonly Form[] = []
const [starts, replies, ends, tools, results] = [
  all.slice(0, 2),
  all.slice(2, 4),
  all.slice(4, 5),
  all.slice(5, 6),
  all.slice(6, 7),
]

/** The forms that a body may have. */
function formsOf(type: string, kind: string | null): readonly Form[] {
  if (type === 'start') return kind === 'agent' ? starts : kind === 'tool' ? tools : none
  if (type === 'end') return kind === 'model' ? replies : kind === 'tool' ? results : ends
  return none
}

/** A body as a list: the form, or a list of it and the further fields, and the values. Null for a body that has no form. */
export function shortBody(type: string, kind: string | null, body: Fields): readonly unknown[] | null {
  const candidates = formsOf(type, kind)
  if (candidates === none) return null
  const given = Object.keys(body)
  const form = candidates.find(({ names }) => isOf(names, given))
  if (form === undefined) return null
  const { number, names, usual, listed, needed } = form
  let length = listed.length
  for (; length > needed; length -= 1) {
    const last = listed[length - 1] ?? 0
    if (!isUsual(usual[last], body[names[last] ?? ''])) break
  }
  const values: unknown[] = [given.length > names.length ? [number, rest(body, given.slice(names.length))] : number]
  for (let at = 0; at < length; at += 1) {
    const value = body[names[listed[at] ?? 0] ?? '']
    if (value === undefined) return null
    values.push(value)
  }
  return values
}

/** The body that a list was made from. */
export function longBody(list: readonly unknown[]): Fields {
  const [first] = list
  const [number, further] = (Array.isArray(first) ? first : [first, null]) as [number, Fields | null]
  const { names, usual, places } = all[number] ?? unknownForm(number)
  const body: Record<string, unknown> = {}
  for (let at = 0; at < names.length; at += 1) {
    const place = (places[at] ?? 0) + 1
    body[names[at] ?? ''] = place < list.length ? list[place] : copy(usual[at])
  }
  return further === null ? body : { ...body, ...further }
}

function unknownForm(number: number): never {
  throw new RangeError(`The body of an entry has the form ${number}, which this version does not know.`)
}

function isOf(names: readonly string[], given: readonly string[]): boolean {
  if (given.length < names.length) return false
  for (let at = 0; at < names.length; at += 1) if (names[at] !== given[at]) return false
  return true
}

function rest(body: Fields, names: readonly string[]): Fields {
  return Object.fromEntries(names.map((name) => [name, body[name]]))
}

function isUsual(usual: unknown, value: unknown): boolean {
  if (value === usual) return true
  if (typeof usual !== 'object' || usual === null || typeof value !== 'object' || value === null) return false
  if (Array.isArray(usual)) return Array.isArray(value) && value.length === 0
  return !Array.isArray(value) && Object.keys(value).length === 0
}

/** Each body has an empty object or list of its own. */
function copy(usual: unknown): unknown {
  if (typeof usual !== 'object' || usual === null) return usual
  return Array.isArray(usual) ? [] : {}
}
