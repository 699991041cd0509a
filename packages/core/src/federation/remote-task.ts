/** A task on another server, as its frames tell of it. Nothing that it says is trusted: what is not understood is left out, and named. */
import { jsonLength } from '../identity/json-length.ts'
import { cutTo } from '../parameter/scrub.ts'
import { fieldOf, isRecord, type JsonRecord, recordsIn, textIn } from './record.ts'
import { TooMuchError } from './too-much.ts'

/** The states of A2A that end a task. */
const ended: ReadonlySet<string> = new Set([
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_REJECTED',
])

/** A part of an artifact or of a message. */
export type RemotePart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'data'; readonly data: unknown }
  | { readonly kind: 'raw'; readonly raw: string; readonly name: string | null; readonly mediaType: string }

/** A piece of the answer as it comes. `restart`: it takes the place of what came before. */
interface Shown {
  readonly text: string
  readonly restart: boolean
}

/** The most characters of texts, data and files that one task may hold, with the ids of its artifacts. */
const mostCharacters = 32 * 1024 * 1024
/** The most characters that readers are shown anew. */
const mostShown = 4 * mostCharacters
/** The most artifacts and parts that it may hold; pieces of one text are one part. */
const mostParts = 10_000

/** An artifact there. */
interface RemoteArtifact {
  readonly parts: RemotePart[]
  /** In characters, with its id. */
  size: number
}

/** What is known of a task. Only `takeFrame` changes it. */
export interface RemoteTask {
  id: string | null
  contextId: string | null
  /** As the server names it; null before it has said one. */
  state: string | null
  /** The parts of the last status message, and what tells it from another one; null if nothing does. */
  said: readonly RemotePart[]
  saidAs: string | null
  /** What the task's metadata says of its usage; undefined for nothing. */
  usage: unknown
  /** Set if a message came in place of a task. */
  isMessage: boolean
  /** The names of fields that nothing here takes. */
  readonly dropped: Set<string>
  readonly artifacts: Map<string, RemoteArtifact>
  /** The artifact that was written to last. */
  last: string | null
  /** What the artifacts hold: characters, and artifacts with their parts. And what readers were shown anew. */
  size: number
  count: number
  shown: number
  /** The text that readers were shown. */
  text: string
}

/** A task of which only the id is known, or nothing. `dropped`: what was left out before. */
export function emptyTask(id: string | null, dropped: readonly string[] = []): RemoteTask {
  return {
    ...{ id, contextId: null, state: null, said: [], saidAs: null, usage: undefined, isMessage: false },
    ...{ dropped: new Set(dropped), artifacts: new Map<string, RemoteArtifact>() },
    ...{ last: null, size: 0, count: 0, shown: 0, text: '' },
  }
}

/** Whether nothing more comes of a task. */
export function hasEnded({ isMessage, state }: RemoteTask): boolean {
  return isMessage || ended.has(state ?? '')
}

/** Whether the server waits for something from here. */
export function isAsking({ state }: RemoteTask): boolean {
  return state === 'TASK_STATE_INPUT_REQUIRED' || state === 'TASK_STATE_AUTH_REQUIRED'
}

/** The parts of all artifacts, in the order in which those came. */
export function partsOf({ artifacts }: RemoteTask): readonly RemotePart[] {
  return [...artifacts.values()].flatMap(({ parts }) => parts)
}

/**
 * Takes a frame of a stream, or the result of a request. Returns what readers see of it. A task that has ended stays as it is; a frame of
 * another task is left out. Throws a `TooMuchError` if the task has sent more than is taken.
 */
export function takeFrame(known: RemoteTask, frame: JsonRecord): Shown | null {
  const { task, message, statusUpdate, artifactUpdate } = frameOf(frame)
  noteFields(known, frame, { fields: frameFields, place: '' })
  if (task !== undefined) return takeTask(known, task)
  if (message !== undefined) return takeMessage(known, message)
  if (statusUpdate !== undefined && isOwn(known, statusUpdate, 'taskId')) {
    noteFields(known, statusUpdate, { fields: updateFields, place: 'statusUpdate.' })
    takeStatus(known, fieldOf(statusUpdate, 'status'))
    takeMetadata(known, statusUpdate)
  }
  if (artifactUpdate !== undefined && isOwn(known, artifactUpdate, 'taskId')) return takeArtifact(known, artifactUpdate)
  return null
}

function takeTask(known: RemoteTask, task: JsonRecord): Shown | null {
  if (!isOwn(known, task, 'id') || hasEnded(known)) return null
  noteFields(known, task, { fields: taskFields, place: 'task.' })
  known.id = textIn(task, 'id') ?? known.id
  known.contextId ??= textIn(task, 'contextId') ?? null
  takeMetadata(known, task)
  const artifacts = recordsIn(task, 'artifacts')
  for (const artifact of artifacts) put(known, artifact, false)
  takeStatus(known, fieldOf(task, 'status'))
  return artifacts.length === 0 ? null : anew(known)
}

function takeMessage(known: RemoteTask, message: JsonRecord): Shown | null {
  if (known.id !== null) return null
  noteFields(known, message, { fields: messageFields, place: 'message.' })
  known.isMessage = true
  known.contextId = textIn(message, 'contextId') ?? known.contextId
  known.said = partsIn(known, message)
  keep(known, 'message', [...known.said])
  return anew(known)
}

function takeStatus(known: RemoteTask, status: unknown): void {
  const state = textIn(status, 'state')
  if (state === undefined || hasEnded(known)) return
  noteFields(known, status as JsonRecord, { fields: statusFields, place: 'status.' })
  known.state = state
  const message = fieldOf(status, 'message')
  known.said = isRecord(message) ? partsIn(known, message) : []
  known.saidAs = textIn(message, 'messageId') ?? textIn(status, 'timestamp') ?? null
}

function takeArtifact(known: RemoteTask, update: JsonRecord): Shown | null {
  const artifact = fieldOf(update, 'artifact')
  if (!isRecord(artifact) || hasEnded(known)) return null
  noteFields(known, update, { fields: updateFields, place: 'artifactUpdate.' })
  const isMore = fieldOf(update, 'append') === true
  const goesOn = isMore && known.last === textIn(artifact, 'artifactId')
  const { parts, isJoined } = put(known, artifact, isMore)
  if (!goesOn) return anew(known)
  const more = textOf(parts)
  const text = more === '' || isJoined ? more : `\n${more}`
  known.text += text
  return text === '' ? null : { text, restart: false }
}

/** The whole text again, unless it is as it was. Beyond a bound readers see no more of it before the end: each time costs as much as the text is long. */
function anew(known: RemoteTask): Shown | null {
  known.shown += known.size + known.count
  if (known.shown > mostShown) return null
  const text = textOf(partsOf(known))
  if (text === known.text) return null
  known.text = text
  return { text, restart: true }
}

/** `isJoined`: the first of the parts goes on with the last text before it. */
function put(
  known: RemoteTask,
  artifact: JsonRecord,
  isMore: boolean,
): { readonly parts: readonly RemotePart[]; readonly isJoined: boolean } {
  noteFields(known, artifact, { fields: artifactFields, place: 'artifact.' })
  const id = textIn(artifact, 'artifactId') ?? ''
  const parts = partsIn(known, artifact)
  known.last = id
  const before = isMore ? known.artifacts.get(id) : undefined
  if (before === undefined) {
    keep(known, id, parts)
    return { parts, isJoined: false }
  }
  const all = before.parts
  const [last, [first, ...rest]] = [all.at(-1), parts]
  const isJoined = last?.kind === 'text' && first?.kind === 'text'
  if (isJoined) all.splice(-1, 1, { kind: 'text', text: last.text + first.text }, ...rest)
  else all.push(...parts)
  const size = sizeOfAll(parts)
  before.size += size
  grow(known, size, isJoined ? parts.length - 1 : parts.length)
  return { parts, isJoined }
}

/** Keeps an artifact, in the place of one with the same id. */
function keep(known: RemoteTask, id: string, parts: RemotePart[]): void {
  const before = known.artifacts.get(id)
  const size = id.length + sizeOfAll(parts)
  grow(known, size - (before?.size ?? 0), 1 + parts.length - (before === undefined ? 0 : 1 + before.parts.length))
  known.artifacts.set(id, { parts, size })
}

function grow(known: RemoteTask, characters: number, parts: number): void {
  known.size += characters
  known.count += parts
  if (known.size > mostCharacters || known.count > mostParts) throw new TooMuchError()
}

function sizeOfAll(parts: readonly RemotePart[]): number {
  return parts.reduce((sum, part) => sum + sizeOf(part), 0)
}

function partsIn(known: RemoteTask, of: JsonRecord): RemotePart[] {
  const parts: RemotePart[] = []
  for (const part of recordsIn(of, 'parts')) {
    noteFields(known, part, { fields: partFields, place: 'part.' })
    const read = partOf(part)
    if (read === null) continue
    parts.push(read)
    if (parts.length > mostParts) throw new TooMuchError()
  }
  return parts
}

function takeMetadata(known: RemoteTask, of: JsonRecord): void {
  known.usage = fieldOf(fieldOf(fieldOf(of, 'metadata'), 'witan'), 'usage') ?? known.usage
}

function isOwn({ id }: RemoteTask, of: JsonRecord, name: string): boolean {
  const own = textIn(of, name)
  return id === null || own === undefined || own === id
}

/** Notes the fields that A2A does not have there. */
function noteFields(
  { dropped }: RemoteTask,
  of: JsonRecord,
  { fields, place }: { readonly fields: ReadonlySet<string>; readonly place: string },
): void {
  for (const name of Object.keys(of)) {
    if (dropped.size >= mostNamed) return
    if (!fields.has(name)) dropped.add(place + cutTo(name, 60))
  }
}

/** At most so many fields are named. */
const mostNamed = 10

const frameFields = new Set([
  'task',
  'message',
  'statusUpdate',
  'artifactUpdate',
  ...['id', 'contextId', 'status', 'artifacts', 'history', 'metadata'],
])
const taskFields = new Set(['id', 'contextId', 'status', 'artifacts', 'history', 'metadata'])
const statusFields = new Set(['state', 'message', 'timestamp'])
const updateFields = new Set(['taskId', 'contextId', 'status', 'artifact', 'append', 'lastChunk', 'metadata'])
const artifactFields = new Set(['artifactId', 'name', 'description', 'parts', 'metadata', 'extensions'])
const messageFields = new Set([
  ...['messageId', 'contextId', 'taskId', 'role', 'parts', 'metadata', 'extensions', 'referenceTaskIds'],
])
const partFields = new Set(['text', 'raw', 'url', 'data', 'metadata', 'filename', 'mediaType'])

interface Frame {
  readonly task?: JsonRecord
  readonly message?: JsonRecord
  readonly statusUpdate?: JsonRecord
  readonly artifactUpdate?: JsonRecord
}

/** What a frame has; a task that stands alone is what `GetTask` and `CancelTask` answer. */
function frameOf(frame: JsonRecord): Frame {
  const found = Object.fromEntries(
    ['task', 'message', 'statusUpdate', 'artifactUpdate'].flatMap((name) => {
      const value = fieldOf(frame, name)
      return isRecord(value) ? [[name, value]] : []
    }),
  )
  const isTask = isRecord(fieldOf(frame, 'status')) && textIn(frame, 'id') !== undefined
  return isTask ? { task: frame } : found
}

/** A part; one that only names a URL is that as text: nothing is fetched. Null for one that says nothing. */
function partOf(part: JsonRecord): RemotePart | null {
  const text = textIn(part, 'text') ?? textIn(part, 'url')
  if (text !== undefined) return { kind: 'text', text }
  const raw = textIn(part, 'raw')
  const data = fieldOf(part, 'data')
  if (raw === undefined) return data === undefined ? null : { kind: 'data', data }
  const mediaType = textIn(part, 'mediaType') ?? 'application/octet-stream'
  return { kind: 'raw', raw, name: textIn(part, 'filename') ?? null, mediaType }
}

function sizeOf(part: RemotePart): number {
  if (part.kind === 'text') return part.text.length
  return part.kind === 'raw' ? part.raw.length : jsonLength(part.data)
}

/** The texts among parts, each on a line of its own. */
export function textOf(parts: readonly RemotePart[]): string {
  return parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('\n')
}
