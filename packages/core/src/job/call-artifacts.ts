/** The artifacts of a tool call: content goes to the store, and then one entry of the log makes it an artifact [T31]. */
import { createHash } from 'node:crypto'
import { WitanError } from '@witan/protocol'
import { type Artifact, artifactLimits, artifactOf, artifactProblem, type CallPlace } from '@witan/protocol/entries'
import { isTextType, sizeText } from '@witan/protocol/files'
import { inputsOf } from '../conversation/fold-artifacts.ts'
import type { ToolCall } from '../conversation/state.ts'
import { shownPlace } from '../event/project.ts'
import type { Scrubber } from '../parameter/scrub.ts'
import { scrubbedBytes, textIn } from '../parameter/scrub-bytes.ts'
import type { ArtifactEntry } from '../store/artifact-records.ts'
import { digestInParts } from '../store/contents.ts'
import type { ArtifactContent, ArtifactDraft, CallArtifacts } from '../tool/artifact.ts'
import { type Job, record, recordRows } from './job.ts'

interface SavingCall {
  readonly toolCall: ToolCall
  readonly job: Job
  /** Aborts when the call is over. */
  readonly signal: AbortSignal
}

/** The artifacts of one running tool call. Saved ones are stored with the next commit. */
export function callArtifacts(call: SavingCall): CallArtifacts {
  return { save: (draft) => save(call, draft), read: (id) => read(call, id) }
}

async function save(call: SavingCall, draft: ArtifactDraft): Promise<Artifact> {
  const { toolCall, job } = call
  const { scrub } = toolCall.owner
  const { name, mediaType, content } = checked(draft, scrub)
  const bytes = await scrubbedBytes(content, mediaType, scrub)
  if (bytes.byteLength > artifactLimits.bytes) throw tooLarge(bytes.byteLength)
  const digest = await digestInParts(bytes)
  const { database, artifacts } = job.log.state
  const known = artifacts.made.get(idOf(call, { name, mediaType, digest }))
  if (known !== undefined) return shown(call, known)
  await job.env.storeContent(database, digest, bytes)
  while (job.log.proposals.pending !== null) await job.log.proposals.pending
  assertLive(call)
  return shown(call, recordArtifact(call, { name, mediaType, bytes: bytes.byteLength, digest }))
}

/** Records an artifact whose content is stored. The same file may have been saved before. */
export function recordArtifact(
  { toolCall, job }: Pick<SavingCall, 'toolCall' | 'job'>,
  file: Pick<ArtifactEntry['body'], 'name' | 'mediaType' | 'bytes' | 'digest'>,
): ArtifactEntry {
  const { artifacts } = job.log.state
  const { name, mediaType, digest } = file
  const id = idOf({ toolCall, job }, file)
  if (artifacts.made.get(id) === undefined) {
    const body = { id, ...file, inputs: inputsOf(artifacts, toolCall) }
    record(job, toolCall.place as CallPlace, { type: 'artifact', kind: null, body })
    recordRows(job, { contents: [{ digest, mediaType, name }] })
  }
  return artifacts.made.get(id) as ArtifactEntry
}

/** Computed from the call and the file, so that a call that runs again gets the same artifact. */
function idOf(
  { toolCall, job }: Pick<SavingCall, 'toolCall' | 'job'>,
  { name, mediaType, digest }: Pick<ArtifactEntry['body'], 'name' | 'mediaType' | 'digest'>,
): string {
  const { database, id } = job.log.state
  return artifactId([database, id, (toolCall.place as CallPlace).call, name, mediaType, digest])
}

async function read(call: SavingCall, id: string): Promise<ArtifactContent> {
  const { job } = call
  const {
    database,
    id: conversation,
    artifacts: { made },
  } = job.log.state
  const entry = made.get(id)
  if (entry === undefined) throw unknown()
  const { digest, mediaType } = entry.body
  const content = { database, conversation, digest }
  let bytes = await job.env.readContent(content)
  if (bytes === null) {
    // The conversation has the content from the commit on that stores its entry.
    await job.writer.commit()
    bytes = await job.env.readContent(content)
  }
  if (bytes === null) throw unknown()
  while (job.log.proposals.pending !== null) await job.log.proposals.pending
  assertLive(call)
  recordRead(call, id)
  const text = isTextType(mediaType) ? textIn(bytes) : null
  return { artifact: shown(call, entry), text, bytes }
}

/** Records that a call has read an artifact, once. */
export function recordRead({ toolCall, job }: Pick<SavingCall, 'toolCall' | 'job'>, id: string): void {
  if (inputsOf(job.log.state.artifacts, toolCall).includes(id)) return
  record(job, toolCall.place as CallPlace, { type: 'checkpoint', kind: null, body: { read: id } })
}

/** What is recorded after the end of its call, or by a process that lost its job, would never be stored. */
function assertLive({ toolCall, signal }: SavingCall): void {
  if (signal.aborted || toolCall.state !== 'started') throw new Error('The call is over: it can use no artifact.')
}

function shown({ job }: SavingCall, entry: ArtifactEntry): Artifact {
  const { database, id: conversation } = job.log.state
  return artifactOf(entry.body, shownPlace(entry, { database, conversation }))
}

/** Nobody can guess the id of a call, and so of its artifacts. */
function artifactId(parts: readonly string[]): string {
  const hash = createHash('sha256').update(parts.join('\n')).digest()
  let bits = 0n
  for (const byte of hash.subarray(0, 17)) bits = (bits << 8n) | BigInt(byte)
  return `art_${(bits >> 6n).toString(32).padStart(26, '0')}`
}

/** What is saved, read once: the tool may change its draft while it is saved. Hidden values are scrubbed from the name. */
function checked(draft: ArtifactDraft, scrub: Scrubber) {
  if (typeof draft !== 'object' || draft === null)
    throw invalid('give an object with `name`, `mediaType` and either `text` or `bytes`')
  const { name, mediaType } = draft
  const content = contentOf(draft)
  return { name: cleanName({ name, mediaType }, scrub), mediaType, content }
}

function contentOf({ text, bytes }: ArtifactDraft): string | Uint8Array {
  if ((text === undefined) === (bytes === undefined)) throw invalid('give either `text` or `bytes`')
  if (text !== undefined && typeof text !== 'string') throw invalid('`text` must be a string')
  if (bytes !== undefined && !(bytes instanceof Uint8Array)) throw invalid('`bytes` must be a Uint8Array')
  const size = text === undefined ? (bytes?.byteLength ?? 0) : Buffer.byteLength(text)
  if (size > artifactLimits.bytes) throw tooLarge(size)
  // A copy, because the tool may change its bytes later.
  return text ?? new Uint8Array(bytes ?? [])
}

/** The name without hidden values. A media type that holds one is refused. */
function cleanName({ name, mediaType }: Pick<ArtifactDraft, 'name' | 'mediaType'>, scrub: Scrubber): string {
  if (typeof name !== 'string' || typeof mediaType !== 'string') throw invalid('`name` and `mediaType` must be text')
  const clean = scrub === null ? { name, mediaType } : { name: scrub(name), mediaType: scrub(mediaType) }
  const problem = artifactProblem(clean)
  if (problem !== null) throw invalid(problem)
  return clean.name
}

function tooLarge(size: number): WitanError {
  const limit = artifactLimits.bytes
  const detail = `The artifact has ${size} bytes; the limit is ${limit} bytes (${sizeText(limit)}).`
  return new WitanError('ARTIFACT_TOO_LARGE', detail, { hint: 'Save less, or several artifacts.' })
}

function invalid(problem: string): WitanError {
  return new WitanError('BODY_INVALID', `This artifact cannot be saved: ${problem}.`)
}

function unknown(): WitanError {
  return new WitanError('NOT_FOUND', 'unknown artifact')
}
