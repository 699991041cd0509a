/** What must hold for the artifacts of a conversation, and how they are compared between runs whose ids differ. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { Runtime } from '@witan/core'
import type { AnyEvent } from '@witan/protocol'
import type { Artifact } from '@witan/protocol/entries'
import { allEvents } from './stage.ts'

const ids = /art_[0-9a-v]{26}/g

/** The text with each id of an artifact replaced by its number, in the order in which they first appear. */
export function withoutIds(text: string): string {
  const numbers = new Map<string, number>()
  return text.replace(ids, (id) => {
    const number = numbers.get(id) ?? numbers.size
    numbers.set(id, number)
    return `art ${number}`
  })
}

/** All artifacts of a conversation. */
export async function artifactsOf(runtime: Runtime, conversation: string): Promise<readonly Artifact[]> {
  const items: Artifact[] = []
  for (let cursor: string | null = null; ; ) {
    const page = await runtime.artifacts.list(conversation, { limit: 200, ...(cursor === null ? {} : { cursor }) })
    items.push(...page.items)
    cursor = page.nextCursor
    if (cursor === null) return items
  }
}

/** What each artifact is and came from, without ids and times, in an order that does not depend on either. */
export function lineageOf(artifacts: readonly Artifact[]): readonly string[] {
  const byId = new Map(artifacts.map((one) => [one.id, one]))
  const told = (one: Artifact | undefined): string =>
    one === undefined
      ? 'unknown'
      : `${one.agentPath}/${one.name} ${one.mediaType} ${one.digest.slice(7, 19)} (${one.inputs.map((id) => told(byId.get(id))).join(', ')})`
  return artifacts.map(told).sort()
}

/**
 * The list is what the log says, each content is that of its digest, and an artifact names only what its agent had read in its run
 * before it wrote the call: so what came from what has no circle [T31, Tb30]. Gives how many there are, and how many inputs.
 */
export async function assertArtifacts(
  runtime: Runtime,
  conversation: string,
): Promise<{ made: number; inputs: number }> {
  const events = await allEvents(runtime, conversation)
  const artifacts = await artifactsOf(runtime, conversation)
  const logged = events.filter(({ type }) => type === 'artifact')
  assert.deepEqual(
    artifacts,
    logged.map(({ content }) => content),
    'T31: the list is not what the log says',
  )
  assert.equal(new Set(artifacts.map(({ id }) => id)).size, artifacts.length, 'T31: two artifacts have one id')
  const steps = stepsOf(events)
  for (const [index, one] of artifacts.entries()) {
    const { artifact, bytes } = await runtime.artifacts.read(one.id)
    assert.equal(artifact.digest, one.digest)
    assert.equal(`sha256:${createHash('sha256').update(bytes).digest('hex')}`, one.digest, 'T31: another content')
    assert.equal(bytes.byteLength, one.bytes)
    const event = logged[index] as AnyEvent
    const read = events.slice(0, events.indexOf(event)).filter((before) => isReadOf(before, event, steps))
    const known = new Set(read.map(({ content }) => content['read']))
    assert.deepEqual([...one.inputs], [...known], 'Tb30: the inputs are not what its agent had read')
    const before = new Set(artifacts.slice(0, index).map(({ id }) => id))
    for (const input of one.inputs) assert.ok(before.has(input), 'Tb30: made from what was not there yet')
  }
  return { made: artifacts.length, inputs: artifacts.reduce((sum, { inputs }) => sum + inputs.length, 0) }
}

/** A read by the same agent in the same document and run, in an earlier reply. */
function isReadOf(event: AnyEvent, saved: AnyEvent, steps: ReadonlyMap<string, number>): boolean {
  if (event.type !== 'checkpoint' || event.content['read'] === undefined) return false
  const isOwn = event.document === saved.document && event.author === saved.author
  const isOfRun = event.rootCallId === saved.rootCallId
  const isBeside = event.callId !== saved.callId && steps.get(event.callId) === steps.get(saved.callId)
  return isOwn && isOfRun && !isBeside
}

/** The reply that asked for each tool call: the seq of the last one of its caller before its start. */
function stepsOf(events: readonly AnyEvent[]): ReadonlyMap<string, number> {
  const replies = new Map<string, number>()
  const steps = new Map<string, number>()
  for (const { type, kind, callId, parentCallId, seq = 0 } of events) {
    if (kind === 'model' && type === 'end') replies.set(callId, seq)
    if (kind === 'tool' && type === 'start') steps.set(callId, replies.get(parentCallId ?? '') ?? 0)
  }
  return steps
}
