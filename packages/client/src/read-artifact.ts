/** Reads the artifact of an event. */
import type { Artifact } from '@witan/protocol/entries'
import { isRecord, number, text, texts } from './read-value.ts'

/** The artifact of an event's content; null without an id. What is missing or of another type is empty. */
export function readArtifact(content: unknown): Artifact | null {
  if (!isRecord(content)) return null
  const id = text(content.id)
  if (id === '') return null
  return {
    id,
    name: text(content.name),
    mediaType: text(content.mediaType),
    bytes: Math.max(0, number(content.bytes) ?? 0),
    digest: text(content.digest),
    conversationId: text(content.conversationId),
    runId: text(content.runId),
    callId: text(content.callId),
    agent: text(content.agent),
    agentPath: text(content.agentPath),
    inputs: texts(content.inputs),
    traceId: text(content.traceId),
    createdAt: text(content.createdAt),
  }
}
