/** The artifacts of a conversation, and which agent has read which of them [T31, Tb30]. */
import { artifactLimits, type CallPlace } from '@witan/protocol/entries'
import type { ArtifactEntry } from '../store/artifact-records.ts'
import type { SparseMap } from './sparse-map.ts'

/** The artifacts that an agent has read in one document, during the latest run in which it read any. */
interface ArtifactReads {
  readonly run: string
  /** The id of each artifact, with the tool call that read it; the latest last. */
  readonly reads: { readonly id: string; readonly call: string }[]
}

/** The artifacts of a conversation. */
export interface Artifacts {
  /** By id. */
  readonly made: SparseMap<string, ArtifactEntry>
  /** What agents have read, by document and agent. */
  readonly reads: SparseMap<string, ArtifactReads>
}

/** Folds an artifact. */
export function foldArtifact({ made }: Artifacts, entry: ArtifactEntry): void {
  if (made.get(entry.body.id) === undefined) made.set(entry.body.id, entry)
}

/** Folds that a tool call has read an artifact. */
export function foldArtifactRead({ reads: all }: Artifacts, place: CallPlace, id: string): void {
  const key = readerOf(place)
  const known = all.get(key)
  const reads = known?.run === place.run ? known.reads : []
  reads.push({ id, call: place.call })
  if (known?.reads !== reads) all.set(key, { run: place.run, reads })
}

/** A tool call, and those of the same reply. */
interface SavingToolCall {
  readonly place: CallPlace | null
  readonly owner: { readonly toolCalls: readonly SavingToolCall[] }
}

/** An agent in one document: its calls there remember the same. */
function readerOf({ document, author }: CallPlace): string {
  return `${document}\n${author}`
}

/**
 * The artifacts that the agent of a tool call had read before in this run, in the order of the first reading; only the latest, if there
 * are too many. Other calls of the same reply do not count: the model wrote this call before it read their results.
 */
export function inputsOf({ reads }: Artifacts, toolCall: SavingToolCall): readonly string[] {
  const place = toolCall.place as CallPlace
  const known = reads.get(readerOf(place))
  if (known?.run !== place.run) return []
  const beside = new Set(toolCall.owner.toolCalls.filter((one) => one !== toolCall).map((one) => one.place?.call))
  const ids = new Set(known.reads.filter(({ call }) => !beside.has(call)).map(({ id }) => id))
  return [...ids].slice(-artifactLimits.inputs)
}
