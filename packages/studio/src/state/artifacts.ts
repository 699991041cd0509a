/** The files that agents made, as the page shows them: those of a run, where each came from, and what of one can be shown. */
import type { ConversationView } from '@witan/client'
import type { Artifact } from '@witan/protocol/entries'
import { isTextType } from '@witan/protocol/files'

const known = new WeakMap<ConversationView, ReadonlyMap<string, readonly Artifact[]>>()

/** The artifacts of a run, in the order in which they were made. Worked out once for each view. */
export function savedIn(view: ConversationView, runId: string): readonly Artifact[] {
  const byRun = known.get(view) ?? Map.groupBy(view.artifacts.values(), (one) => one.runId)
  known.set(view, byRun)
  return byRun.get(runId) ?? []
}

/** Artifacts, and which was made from which. */
interface Lineage {
  readonly nodes: readonly Artifact[]
  readonly edges: readonly { readonly from: string; readonly to: string }[]
  /** More belong to it than are drawn. */
  readonly isCut: boolean
}

/** The most artifacts of a picture. */
const mostDrawn = 60

/**
 * What an artifact was made from, directly or not, and what was made from it; with null, everything that was made from something
 * or into something. Inputs that the view does not have are left out. An edge is left out where a longer way leads to the same file:
 * it would be drawn behind the boxes of that way.
 */
export function lineageOf(artifacts: ReadonlyMap<string, Artifact>, id: string | null): Lineage {
  const next = new Map<string, string[]>()
  const before = new Map<string, readonly string[]>()
  for (const one of artifacts.values()) {
    const inputs = one.inputs.filter((input) => input !== one.id && artifacts.has(input))
    before.set(one.id, inputs)
    for (const input of inputs) {
      const made = next.get(input)
      if (made === undefined) next.set(input, [one.id])
      else made.push(one.id)
    }
  }
  const isLinked = (one: string) => (before.get(one)?.length ?? 0) > 0 || next.has(one)
  const chosen =
    id === null ? [...artifacts.keys()].filter(isLinked) : [...new Set([...reach(id, before), ...reach(id, next)])]
  const drawn = new Set(chosen.slice(0, mostDrawn))
  const edges = shortEdges(
    new Map([...drawn].map((to) => [to, (before.get(to) ?? []).filter((from) => drawn.has(from))])),
  )
  const nodes = [...artifacts.values()].filter((one) => drawn.has(one.id))
  return { nodes, edges, isCut: chosen.length > drawn.size }
}

/** The edges that no longer way replaces. In a circle all stay. */
function shortEdges(inputs: ReadonlyMap<string, readonly string[]>): Lineage['edges'] {
  const origins = new Map([...inputs.keys()].map((id) => [id, new Set(reach(id, inputs))]))
  const isBehind = (one: string, other: string) =>
    origins.get(other)?.has(one) === true && origins.get(one)?.has(other) === false
  return [...inputs].flatMap(([to, all]) =>
    all.filter((from) => !all.some((other) => isBehind(from, other))).map((from) => ({ from, to })),
  )
}

/** The artifact and all that is reached from it, the nearest first. */
function reach(id: string, ways: ReadonlyMap<string, readonly string[]>): string[] {
  const found = new Set([id])
  // A set gives what is added to it meanwhile, too.
  for (const one of found) for (const other of ways.get(one) ?? []) found.add(other)
  return [...found]
}

/** How the content of an artifact is shown. A `drawing` may be costly to draw, so it is text until a reader asks for more. */
type PreviewKind = 'picture' | 'drawing' | 'markdown' | 'json' | 'text' | 'none'

const pictures: readonly string[] = ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif']

/** By its media type. No kind is ever run: a page of HTML is text. */
export function previewKind(mediaType: string): PreviewKind {
  if (pictures.includes(mediaType)) return 'picture'
  if (mediaType === 'image/svg+xml') return 'drawing'
  if (mediaType === 'text/markdown') return 'markdown'
  if (/^application\/json$|\+json$/.test(mediaType)) return 'json'
  return isTextType(mediaType) ? 'text' : 'none'
}

/** Where the content is read, with the cookie of this page. */
export function artifactAddress(id: string): string {
  return `/api/v1/artifacts/${encodeURIComponent(id)}/content`
}

/** The beginning of a text. */
export interface TextStart {
  readonly text: string
  readonly isCut: boolean
}

/** JSON that is nested deeper is shown as it is written: each level makes every line of it longer. */
const deepest = 40

/**
 * JSON with its lines indented; what is no whole JSON, or too deep, stays as it is. Its values are never read: JavaScript would round
 * large numbers, and would keep one of two keys with the same name.
 */
export function indented({ text, isCut }: TextStart): string {
  if (isCut || isDeep(text) || !isJson(text)) return text
  let [result, indent, before] = ['', '\n', '']
  for (const [part] of text.matchAll(/"(?:[^"\\]+|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g)) {
    const isEnd = part === '}' || part === ']'
    const isInside = before === '{' || before === '['
    if (isInside && !isEnd) indent += '  '
    if (isEnd && !isInside) indent = indent.slice(0, -2)
    if (isInside !== isEnd || before === ',') result += indent
    result += part === ':' ? ': ' : part
    before = part
  }
  return result
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function isDeep(text: string): boolean {
  let depth = 0
  for (const letter of text) {
    if (letter === '[' || letter === '{') depth += 1
    else if (letter === ']' || letter === '}') depth -= 1
    if (depth > deepest) return true
  }
  return false
}
