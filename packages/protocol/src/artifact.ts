/** Artifacts: the files that agents make, with what each was made from [T31, Tb30]. */
import { z } from 'zod'
import { fileNameProblem, mediaTypePattern } from './files.ts'

/** The limits of artifacts. */
export const artifactLimits = {
  /** Of one artifact: 16 MiB. */
  bytes: 16_777_216,
  /** How many inputs one artifact lists: the latest ones that its agent had read. */
  inputs: 256,
} as const

/** An id of an artifact: `art_` and 26 letters and digits, which nobody can guess. */
export const artifactIdPattern = /^art_[0-9a-v]{26}$/

/** What the log holds of an artifact; its content is in the store, by digest. Everything else is a property of its place. */
export interface ArtifactBody {
  readonly id: string
  readonly name: string
  readonly mediaType: string
  readonly bytes: number
  readonly digest: string
  /** The artifacts that the agent had read before in this run. */
  readonly inputs: readonly string[]
}

/** An artifact: who made it, in which call, and from what. */
export const artifactSchema = z.object({
  id: z.string(),
  name: z.string(),
  mediaType: z.string(),
  bytes: z.number().int().nonnegative(),
  digest: z.string(),
  conversationId: z.string(),
  runId: z.string(),
  /** The tool call that saved it. */
  callId: z.string(),
  agent: z.string(),
  agentPath: z.string(),
  inputs: z.array(z.string()),
  traceId: z.string(),
  createdAt: z.string(),
})
/** An artifact as readers see it. */
export type Artifact = z.infer<typeof artifactSchema>

/** Where an entry stands, for what an event shows of it besides its body. */
export interface ShownPlace {
  readonly place: { readonly run: string; readonly call: string; readonly author: string; readonly agentPath: string }
  readonly conversationId: string
  /** As an ISO date. */
  readonly at: string
  traceId(): string
}

/** An artifact of the log as readers see it. */
export function artifactOf(body: ArtifactBody, { place, conversationId, at, traceId }: ShownPlace): Artifact {
  const { id, name, mediaType, bytes, digest, inputs } = body
  return {
    ...{ id, name, mediaType, bytes, digest, conversationId },
    runId: place.run,
    callId: place.call,
    agent: place.author,
    agentPath: place.agentPath,
    inputs: [...inputs],
    traceId: traceId(),
    createdAt: at,
  }
}

/** Why these cannot be the name and media type of an artifact; null if they can. */
export function artifactProblem({ name, mediaType }: Pick<ArtifactBody, 'name' | 'mediaType'>): string | null {
  const problem = fileNameProblem(name)
  if (problem !== null) return `the name ${problem}`
  if (name.trim() !== name) return 'the name must not begin or end with a space'
  if (mediaTypePattern.test(mediaType)) return null
  return 'the media type must be one in lower case without parameters, such as text/markdown'
}
