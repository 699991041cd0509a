/** What agents know in a document of their memory: what they have read of it, and what they wrote since [F39]. */
import type { Entry, MemoryBody, RememberedBlock } from '@witan/protocol/entries'
import { shownCore, shownRecalled } from '../memory/shown.ts'
import { insertBehind } from './inbox.ts'
import { lineFor } from './line.ts'
import type { Words } from './said.ts'
import type { AgentCall, DocumentState, LiveJob, WaitingMessage } from './state.ts'

/** Whether the memory of an agent is to be read before its model is first asked. */
export function hasToRemember({ agent, hasRemembered, iterations, failures, hasNoReply }: AgentCall): boolean {
  if ((agent.memory ?? null) === null || hasRemembered) return false
  return iterations === 0 && failures === 0 && !hasNoReply
}

/** The message that begins the work of a call, for which its archival blocks are searched; null if there is none. */
export function openingOf({ document: { inbox } }: AgentCall): WaitingMessage | null {
  const words = inbox.filter(({ only }) => only === undefined)
  return words.findLast(({ author }) => author !== 'witan') ?? words.at(-1) ?? null
}

/** Whether these are the core blocks that the model of a call reads in its document already, or in a line that waits for it. */
export function isKnown(call: AgentCall, blocks: readonly RememberedBlock[]): boolean {
  const waiting = call.document.inbox.findLast((line) => isOfMemory(line, call.agent.id))?.remembered
  if (waiting !== undefined) return waiting.said === signOf(blocks)
  const known = call.document.remembered?.get(call.agent.id)
  const isRead = known !== undefined && known.from >= Math.max(call.firstSaid, 0)
  return isRead ? known.said === signOf(blocks) : blocks.length === 0
}

function isOfMemory({ only, remembered }: WaitingMessage, agent: string): boolean {
  return only === agent && remembered !== undefined
}

function signOf(blocks: readonly RememberedBlock[]): string {
  return blocks.length === 0 ? '' : JSON.stringify(blocks.map(({ id, revision }) => [id, revision]))
}

/** Folds what an agent reads, writes or erases of its memory. */
export function foldMemory(run: LiveJob | null, { place, body }: Entry & { readonly type: 'memory' }): void {
  if (body.op === 'read') {
    const call = run?.calls.get(place.call)
    if (call !== undefined) foldRead(call, body)
    return
  }
  const owner = run?.toolCalls.get(place.call)?.owner
  if (owner !== undefined) foldWrite(owner, body)
}

function foldRead(call: AgentCall, body: MemoryBody): void {
  const { scope, blocks, isSame } = body
  call.hasRemembered = true
  const remembered = { said: signOf(blocks), blocks: byPlace(blocks), isScoped: scope === null }
  const line = { ...memoryLine(body), ...(isSame === true ? {} : { remembered }) }
  insertBehind(call.document.inbox, openingOf(call), line)
}

/** The line of a read: what an agent's model reads of its memory. */
export function memoryLine({ agent, scope, blocks, recalled = [], isSame }: MemoryBody) {
  return lineFor(agent, 'memory', {
    ...(isSame === true ? {} : { blocks: blocks.map((one) => shownCore(one, scope === null)) }),
    ...(recalled.length === 0 ? {} : { recalled: recalled.map(shownRecalled) }),
  })
}

function foldWrite({ document, agent }: AgentCall, { scope, blocks }: MemoryBody): void {
  const known = document.remembered?.get(agent.id)
  const now = new Map(known?.blocks)
  for (const block of blocks) {
    if (block.kind === 'core' && block.text !== '') now.set(placeOf(block), block)
    else now.delete(placeOf(block))
  }
  document.remembered ??= new Map()
  const isScoped = known?.isScoped ?? scope === null
  document.remembered.set(agent.id, {
    said: known?.said ?? '',
    from: known?.from ?? document.said.length,
    blocks: now,
    isScoped,
  })
}

/** What an agent knows of people is withheld from now on: behind a summary it does not read that again. */
export function withhold(call: AgentCall): void {
  call.isMemoryWithheld = true
  const { agent, document } = call
  // A line that no model has read yet, since the run before failed.
  const waiting = document.inbox.findIndex((line) => isOfMemory(line, agent.id))
  if (waiting >= 0) document.inbox.splice(waiting, 1)
  const known = document.remembered?.get(agent.id)
  if (known === undefined) return
  const open = [...known.blocks.values()].filter(({ scope }) => scope === 'agent')
  document.remembered?.set(agent.id, { ...known, blocks: byPlace(open) })
}

/** A line that a cut has put in front of its document. */
const inFront = -1

/**
 * What stands behind a summary that takes the place of all before `cut`: agents at work whose line was there read their core blocks again, as they
 * know them now. Others look theirs up when they begin, for whomever they work then, or have a line that waits for them. The document moves behind it, and so does `moveMemory`.
 */
export function memoryLines({ remembered, calls, inbox }: DocumentState, cut: number): Words[] {
  const lines: Words[] = []
  for (const [agent, known] of remembered ?? []) {
    if (known.from >= cut) continue
    const isAtWork = calls.some((call) => call.agent.id === agent)
    if (!isAtWork || inbox.some((line) => isOfMemory(line, agent))) {
      remembered?.delete(agent)
      continue
    }
    const blocks = [...known.blocks.values()].sort(byScopeAndKey)
    remembered?.set(agent, { ...known, said: signOf(blocks), from: inFront })
    if (blocks.length === 0) continue
    const line = lineFor(agent, 'memory', { blocks: blocks.map((one) => shownCore(one, known.isScoped)) })
    lines.push({ kind: 'words', to: agent, scrub: null, ...line })
  }
  return lines
}

/** Notes where lines stand once all that was kept of a document has moved. */
export function moveMemory({ remembered }: DocumentState, by: number): void {
  for (const [agent, known] of remembered ?? [])
    remembered?.set(agent, { ...known, from: known.from === inFront ? 0 : known.from + by })
}

function byPlace(blocks: readonly RememberedBlock[]): ReadonlyMap<string, RememberedBlock> {
  return new Map(blocks.map((block) => [placeOf(block), block]))
}

function placeOf({ scope, key }: RememberedBlock): string {
  return `${scope} ${key}`
}

const order: readonly RememberedBlock['scope'][] = ['person', 'conversation', 'agent']

function byScopeAndKey(one: RememberedBlock, other: RememberedBlock): number {
  return order.indexOf(one.scope) - order.indexOf(other.scope) || (one.key < other.key ? -1 : 1)
}
