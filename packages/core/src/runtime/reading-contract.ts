/** What readers of a runtime ask for: which messages, events, artifacts and usage. */
import type { DetailLevel } from '@witan/protocol'
import type { Artifact } from '@witan/protocol/entries'
import type { EntryReaders, ModelCall, ModelCallLine, UsageDimension } from '@witan/protocol/schemas'
import type { PageBound } from '../identity/page-bound.ts'
import type { Page, PageOptions } from './page.ts'

/** Options of a document read: the start, by at most one of the first three; how many messages, and in how much detail. */
export interface DocumentOptions {
  /** Exclusive dates (ISO): the newest messages before one, or the oldest after one. */
  readonly before?: string
  readonly after?: string
  /** `olderCursor` or `newerCursor` of another page of this document. */
  readonly cursor?: string | null
  readonly limit?: number
  readonly detail?: DetailLevel
  /** Where the page ends beside its limit. Default: at about 4 MiB of JSON. */
  readonly bound?: PageBound
}

/**
 * Selects events: after `from` (exclusive, default 0); all with `verbose`, else only the root's own [F34]; of one `call`
 * and its subtree; of one `branch`, such as `panel.0` or `panel.0/inner.1`: a list of whole segments of the branch path.
 */
export interface EventFilter {
  readonly from?: number
  readonly verbose?: boolean
  readonly call?: string
  readonly branch?: string
}

/** Selects a page of stored events: at most `limit` (default 1,000), and up to its bound (default about 4 MiB of JSON). */
export interface EventPageOptions extends EventFilter {
  readonly limit?: number
  readonly bound?: PageBound
}

/** The content of a file, with the name and media type that it was sent with first in its conversation. */
export interface FileContent {
  readonly name: string | null
  readonly mediaType: string
  readonly bytes: Uint8Array
}

/** Which artifacts of a conversation a list has: of one run, of one agent, or all. */
export interface ArtifactFilter {
  readonly run?: string
  readonly agent?: string
}

/** The artifacts of conversations. All methods throw `NOT_FOUND`. */
export interface ArtifactReader {
  /** In the order in which they were made. */
  list(conversationId: string, options?: PageOptions & ArtifactFilter): Promise<Page<Artifact>>
  /** An artifact where it was made; if that conversation is gone, in a fork of it. */
  get(id: string): Promise<Artifact>
  read(id: string): Promise<{ readonly artifact: Artifact; readonly bytes: Uint8Array }>
}

/** Which model calls of a conversation a list has: of one run, of one agent's call, of one document, or all. */
export interface ModelCallFilter {
  readonly run?: string
  readonly call?: string
  readonly document?: string
}

/**
 * What the models of conversations were asked, computed from the log. For the roles `admin` and `read`; others get `NOT_FOUND`, as for a
 * conversation that does not exist.
 */
export interface ModelCallReader {
  /** In the order of the log; those under way come last. */
  list(conversationId: string, options?: PageOptions & ModelCallFilter): Promise<Page<ModelCallLine>>
  /** One model call, whole; of one that would be longer than 4 MiB of JSON without its oldest messages. */
  get(conversationId: string, id: string): Promise<ModelCall>
  /** Which models read the entry with that seq, each by its first model call that did. */
  readers(conversationId: string, seq: number): Promise<EntryReaders>
}

/** What is listed: by what, and of which days. */
export interface UsageQuery extends PageOptions {
  readonly by: UsageDimension
  /** The first day, as `2026-11-25` (UTC); of a date with a time, the day that has it. */
  readonly from?: string
  /** The last day, included. A date with a time is the end itself, not included: `2026-11-26T00:00:00Z` ends with the 25th. */
  readonly to?: string
}
