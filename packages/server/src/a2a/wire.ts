/** What A2A 1.0 sends and takes, as JSON: only the fields that this server writes. */
import type { UsageCounters } from '@witan/protocol'

/** The states of a task that this server knows. */
export type TaskState =
  | 'TASK_STATE_WORKING'
  | 'TASK_STATE_COMPLETED'
  | 'TASK_STATE_FAILED'
  | 'TASK_STATE_CANCELED'
  | 'TASK_STATE_INPUT_REQUIRED'
  | 'TASK_STATE_AUTH_REQUIRED'

/** A part that this server sends. */
export type WirePart = { readonly text: string } | { readonly data: unknown }

/** A message of the agent, or one of the caller that the log has kept. */
export interface WireMessage {
  readonly messageId: string
  /** Absent of a message that is the whole reply. */
  readonly contextId?: string
  readonly taskId?: string
  readonly role: 'ROLE_USER' | 'ROLE_AGENT'
  readonly parts: readonly WirePart[]
  readonly extensions?: readonly string[]
}

export interface WireStatus {
  readonly state: TaskState
  readonly message?: WireMessage
  readonly timestamp: string
}

export interface WireArtifact {
  readonly artifactId: string
  readonly parts: readonly WirePart[]
}

/** What a task, or a change of it, says of its cost. */
export interface UsageMetadata {
  readonly metadata?: { readonly witan: { readonly usage: UsageCounters } }
}

export interface WireTask extends UsageMetadata {
  readonly id: string
  readonly contextId: string
  readonly status: WireStatus
  readonly artifacts?: readonly WireArtifact[]
  readonly history?: readonly WireMessage[]
}

/** One frame of a stream. */
export type StreamFrame =
  | { readonly task: WireTask }
  | { readonly message: WireMessage }
  | {
      readonly statusUpdate: UsageMetadata & {
        readonly taskId: string
        readonly contextId: string
        readonly status: WireStatus
      }
    }
  | {
      readonly artifactUpdate: {
        readonly taskId: string
        readonly contextId: string
        readonly artifact: WireArtifact
        readonly append: boolean
        readonly lastChunk: boolean
      }
    }

/** A page of tasks. */
export interface TaskList {
  readonly tasks: readonly WireTask[]
  readonly nextPageToken: string
  readonly pageSize: number
  readonly totalSize: number
}

/** A field of a value that came as JSON; undefined for a value that is no object. Nothing inherited counts. */
export function fieldOf(value: unknown, name: string): unknown {
  if (!isObject(value) || !Object.hasOwn(value, name)) return undefined
  return value[name]
}

/** A field of a request, under its name in JSON, else under that in the Protocol Buffers: readers of ProtoJSON take both. */
export function fieldAt(value: unknown, name: string): unknown {
  return fieldOf(value, name) ?? fieldOf(value, protoName(name))
}

/** The name of a field in the Protocol Buffers. */
function protoName(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** True for an object that is no list. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
