/** Reads JSON as lines that a person can read: each value with the path of its keys. */
import type { Block } from '@witan/core/knowledge'
import { type Reading, UnreadableError } from './reading.ts'

const mostDepth = 100

/**
 * The items of a list are one block each. The fields of an object are blocks with their names as headings, two levels deep; single values
 * beside each other are one block.
 */
export function* readJson(text: string): Reading {
  yield* blocksOf(parse(text), 1)
  return null
}

function parse(text: string): unknown {
  if (nesting(text) > mostDepth) throw new UnreadableError(`It nests deeper than ${mostDepth} levels.`)
  try {
    return JSON.parse(text)
  } catch {
    throw new UnreadableError('It is not JSON.')
  }
}

/** How deep a text nests, without building anything of it. */
function nesting(text: string): number {
  let [depth, deepest] = [0, 0]
  const sign = /"(?:[^"\\]|\\.)*"?|[[{\]}]/gs
  for (let found = sign.exec(text); found !== null && deepest <= mostDepth; found = sign.exec(text)) {
    if (found[0] === '[' || found[0] === '{') deepest = Math.max(deepest, ++depth)
    else if (found[0] === ']' || found[0] === '}') depth -= 1
  }
  return deepest
}

function* blocksOf(value: unknown, level: number): Generator<Block> {
  if (Array.isArray(value)) {
    for (const item of value) yield { kind: 'row', text: [...lines(item, '')].join('\n') }
    return
  }
  if (!isCompound(value)) return yield { kind: 'paragraph', text: String(value) }
  let single: string[] = []
  for (const [key, inner] of Object.entries(value)) {
    if (!isCompound(inner) || isFlat(inner)) {
      single.push(...lines(inner, key))
      continue
    }
    if (single.length > 0) yield { kind: 'list', text: single.join('\n') }
    single = []
    yield { kind: 'heading', level, text: key }
    if (level === 1 || Array.isArray(inner)) yield* blocksOf(inner, level + 1)
    else yield { kind: 'list', text: [...lines(inner, '')].join('\n') }
  }
  if (single.length > 0) yield { kind: 'list', text: single.join('\n') }
}

/** Lines such as `address.city: Bonn`; a list of single values is one line. Empty values have none. */
function* lines(value: unknown, path: string): Generator<string> {
  const named = (text: string) => (path === '' ? text : `${path}: ${text}`)
  if (value === null || value === '') return
  if (!isCompound(value)) return yield named(String(value))
  if (isFlat(value)) return yield named(value.join(', '))
  const dot = path === '' || Array.isArray(value) ? '' : '.'
  for (const [key, inner] of Object.entries(value))
    yield* lines(inner, Array.isArray(value) ? `${path}[${key}]` : `${path}${dot}${key}`)
}

/** A list of single values. */
function isFlat(value: object): value is readonly unknown[] {
  return Array.isArray(value) && !value.some(isCompound)
}

function isCompound(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
