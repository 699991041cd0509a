/** Where two JSON values differ, place by place, for a person who decides whether a change is wanted. */

/** One place that differs. Absent: there is nothing there. */
interface Change {
  /** Such as `inputSchema.properties.path.description`. */
  readonly path: string
  readonly before?: string
  readonly now?: string
}

/** The most places that are listed. */
const mostChanges = 50
/** The most characters of a value that are shown. */
const mostShown = 300
/** The most of them that stand before the first that differs. */
const shownBefore = 60

/** The places that differ, in the order of the value as it was; and how many more there are. */
export function changesOf(
  path: string,
  before: unknown,
  now: unknown,
): { readonly changes: readonly Change[]; readonly more: number } {
  const changes: Change[] = []
  let more = 0
  const open: (readonly [path: string, before: unknown, now: unknown])[] = [[path, before, now]]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [place, one, other] = next
    const parts = partsOf(one, other)
    if (parts !== null) {
      for (const key of parts.toReversed()) open.push([`${place}.${key}`, partAt(one, key), partAt(other, key)])
    } else if (JSON.stringify(one) === JSON.stringify(other)) continue
    else if (changes.length < mostChanges) changes.push({ path: place, ...sides(one, other) })
    else more += 1
  }
  return { changes, more }
}

/** The names or indexes of two objects or two lists; null for other values. */
function partsOf(one: unknown, other: unknown): readonly string[] | null {
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return null
  if (Array.isArray(one) !== Array.isArray(other)) return null
  return [...new Set([...Object.keys(one), ...Object.keys(other)])]
}

function partAt(value: unknown, key: string): unknown {
  return Object.hasOwn(value as object, key) ? (value as Readonly<Record<string, unknown>>)[key] : undefined
}

function sides(before: unknown, now: unknown): Pick<Change, 'before' | 'now'> {
  const texts = [before, now].map((one) => JSON.stringify(one) as string | undefined)
  const from = Math.max(0, differsAt(texts[0] ?? '', texts[1] ?? '') - shownBefore)
  const [one, other] = texts.map((text) => (text === undefined ? undefined : excerpt(text, from)))
  return { ...(one === undefined ? {} : { before: one }), ...(other === undefined ? {} : { now: other }) }
}

/** Where two texts first differ. */
function differsAt(one: string, other: string): number {
  let at = 0
  while (at < one.length && one[at] === other[at]) at += 1
  return at
}

/** What of a long text has its place of difference in it, however long what stands before is. */
function excerpt(text: string, from: number): string {
  if (text.length <= mostShown) return text
  const end = from + mostShown
  return `${from > 0 ? '…' : ''}${text.slice(from, end).toWellFormed()}${end < text.length ? '…' : ''}`
}
