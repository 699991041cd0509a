/** What tools may do with artifacts: save one, and read those of their conversation [T31]. */
import type { Artifact } from '@witan/protocol/entries'

/** A file to save: its text, or its bytes. */
export interface ArtifactDraft {
  /** A name without a path, at most 200 characters. */
  readonly name: string
  /** `type/subtype` in lower case, without parameters. */
  readonly mediaType: string
  readonly text?: string
  readonly bytes?: Uint8Array
}

/** An artifact with its content. `text` is null for media types that are not text, and for bytes that are not UTF-8. */
export interface ArtifactContent {
  readonly artifact: Artifact
  readonly text: string | null
  readonly bytes: Uint8Array
}

/** The artifacts of a call's conversation. */
export interface CallArtifacts {
  /**
   * Saves an artifact of the calling agent, without the values that are scrubbed for that agent. The same file in the same call
   * is saved once. Throws `ARTIFACT_TOO_LARGE`, and `BODY_INVALID` for a draft that cannot be saved.
   */
  save(draft: ArtifactDraft): Promise<Artifact>
  /** Reads an artifact of the conversation, and records that the calling agent has read it. Throws `NOT_FOUND`. */
  read(id: string): Promise<ArtifactContent>
}
