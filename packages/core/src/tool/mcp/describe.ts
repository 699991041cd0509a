/** What a server writes about its tools, as models may read it: nothing in it is hidden from a person who reads it too. */
import { shownText, withoutHidden } from '@witan/protocol/shown'
import { firstLines, longestDescription } from '../description.ts'

/** A longer text is cut before it is cleaned. */
const longestRead = 32_768

/**
 * A description of at most 1,024 characters, without control, zero-width, bidi and tag characters. Lines stay lines. One that is cut ends with `…`, and
 * no line of it looks like an attribution.
 */
export function cleanDescription(text: string): string {
  const clean = withoutHidden(text.slice(0, longestRead)).trim()
  return firstLines(clean, longestDescription).text
}

/** Whether a text has characters that a person would not see, other than those that a script or an emoji needs. Tabs and line ends are seen. */
export function hidesCharacters(text: string): boolean {
  const plain = text.replace(/[\t\r]/g, ' ')
  return shownText(plain) !== plain
}

/** Keywords of a schema whose text only describes. */
const describing: ReadonlySet<string> = new Set(['description', 'title', '$comment'])

/** The keywords whose members are schemas by name: the names in them are no keywords. */
const named: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
])

/** Keywords whose value is data and no schema. */
const data: ReadonlySet<string> = new Set(['enum', 'const', 'default', 'examples'])

type Place = 'schema' | 'named' | 'data'

/**
 * A schema with descriptions and titles that hide nothing; null if another text or a name in it hides characters, so that it cannot be shown as it is.
 * The schema itself if nothing changes. It must not nest deep.
 */
export function cleanSchema(schema: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> | null {
  const made = cleaned(schema, 'schema')
  return made === undefined ? null : (made as Readonly<Record<string, unknown>>)
}

/** The value at a place of a schema; undefined if it hides something. */
function cleaned(value: unknown, place: Place): unknown {
  if (typeof value === 'string') return hidesCharacters(value) ? undefined : value
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const items = value.map((one) => cleaned(one, place))
    if (items.includes(undefined)) return undefined
    return items.every((one, at) => one === value[at]) ? value : items
  }
  let isSame = true
  const made: [string, unknown][] = []
  for (const [key, inner] of Object.entries(value)) {
    if (hidesCharacters(key)) return undefined
    const isText = place === 'schema' && typeof inner === 'string' && describing.has(key)
    const one = isText ? withoutHidden(inner) : cleaned(inner, placeOf(place, key))
    if (one === undefined) return undefined
    if (one !== inner) isSame = false
    made.push([key, one])
  }
  return isSame ? value : Object.fromEntries(made)
}

function placeOf(above: Place, key: string): Place {
  if (above !== 'schema') return above === 'named' ? 'schema' : 'data'
  return data.has(key) ? 'data' : named.has(key) ? 'named' : 'schema'
}
