/** Prepares long texts for a model's view and for the fold, in as many turns as that takes. These are then made in one. */
import { runByPieces } from '../identity/pausable.ts'
import { attributed } from '../model/attribution.ts'
import type { Scrubber } from '../parameter/scrub.ts'
import { readWords } from './inbox.ts'
import { contentOf, type Said } from './said.ts'
import type { AgentCall } from './state.ts'
import { isUnreadShared, rendering, unreadFrom } from './view.ts'

/** Texts of fewer characters in all are scrubbed and rendered where they are read. */
const shortInAll = 16_384

/** Releases what was remembered. */
type Forget = () => void

/** A text, and the scrubbers that it passes in this order. */
interface Passage {
  readonly text: string
  readonly by: readonly Scrubber[]
}

/**
 * Prepares the next view of a call: the history is rendered, and what waits for the call is remembered scrubbed until `Forget` is called.
 * Null if nothing long is new, and no long value is hidden from it for the first time: that costs next to nothing.
 */
export function prepareView(call: AgentCall): Promise<Forget> | null {
  const isPrepared = call.scrub?.isPrepared !== false
  return isPrepared && unreadLength(call) < shortInAll ? null : remember(call)
}

async function remember(call: AgentCall): Promise<Forget> {
  const passages = passagesOf(call)
  await call.scrub?.prepared()
  const forget = await rememberAll(passages)
  await runByPieces(rendering(call))
  return forget
}

/** Remembers texts as they leave each of their scrubbers. */
async function rememberAll(passages: readonly Passage[]): Promise<Forget> {
  const remembered: (readonly [scrub: NonNullable<Scrubber>, text: string])[] = []
  for (const { text, by } of passages) {
    let clean = text
    for (const scrub of by) {
      if (scrub === null) continue
      remembered.push([scrub, clean])
      clean = await scrub.remember(clean)
    }
  }
  return () => {
    for (const [scrub, known] of remembered) scrub.forget(known)
  }
}

/**
 * Prepares a text that a call says for all whom it may answer: on its way up it passes the scrubber of each call above. Null if that costs
 * next to nothing.
 */
export function prepareAnswer(call: AgentCall, text: string): Promise<Forget> | null {
  if (text.length < shortInAll) return null
  const by: Scrubber[] = []
  for (let at: AgentCall | null = call; at !== null; at = at.parent) by.push(at.scrub)
  if (by.every((scrub) => scrub === null)) return null
  const passages: Passage[] = [{ text, by }]
  const { exchange, parent, place } = call
  // A reply to a peer is folded as that peer reads it.
  if (exchange !== null && parent !== null)
    passages.push({ text: attributed(place.author, parent.agent.id, text), by: [call.scrub] })
  return rememberAll(passages)
}

/** How many characters the passages have in all. Every request asks, so nothing is made for it. */
function unreadLength(call: AgentCall): number {
  const { document, shared, handOver, iterations } = call
  let length = handOver === null && iterations === 0 ? call.message.length : 0
  const { said, inbox } = document
  for (let at = unreadFrom(call); at < said.length; at += 1) length += lengthOf(said[at] as Said)
  for (const { text, calls } of inbox) {
    length += text.length
    if (calls !== undefined) for (const one of calls) length += one.arguments.length + contentOf(one.response).length
  }
  if (shared !== null && isUnreadShared(shared))
    for (let at = shared.from; at < shared.upTo; at += 1) length += lengthOf(shared.said[at] as Said)
  return length
}

function lengthOf(said: Said): number {
  if (said.kind === 'words') return said.text.length
  let length = said.kind === 'reply' ? said.text.length : 0
  if (said.kind === 'results') for (const { content } of said.results) length += content.length
  else for (const one of said.calls) length += one.arguments.length
  return length
}

function passagesOf(call: AgentCall): readonly Passage[] {
  const { scrub, scrubOthers, agent, shared } = call
  const passages: Passage[] = []
  const add = (said: Said, reader: Scrubber) => passages.push(...textsIn(said, reader))
  const readerOf = (speaker: string) => (speaker === agent.id ? scrub : scrubOthers)
  for (const said of call.document.said.slice(unreadFrom(call))) add(said, readerOf(speakerOf(said)))
  const before = call.document.said.at(-1)
  for (const waiting of call.document.inbox)
    for (const said of readWords(waiting, call, before)) add(said, readerOf(speakerOf(said)))
  if (shared !== null && isUnreadShared(shared))
    for (const said of shared.said.slice(shared.from, shared.upTo)) add(said, shared.scrub)
  if (call.handOver === null && call.iterations === 0) passages.push({ text: call.message, by: [scrub] })
  return passages
}

/** Whose own scrubber reads it: the agent that replied, or that the words are for. */
function speakerOf(said: Said): string {
  if (said.kind === 'words') return said.to
  return said.kind === 'reply' ? said.agent : said.of.agent
}

function textsIn(said: Said, reader: Scrubber): readonly Passage[] {
  if (said.kind === 'words') return [{ text: said.text, by: said.isScrubbed ? [said.scrub, reader] : [] }]
  if (said.kind === 'results')
    return said.results.map(({ content, scrub }) => ({ text: content, by: [scrub, said.of.scrub, reader] }))
  return [said.text, ...said.calls.map((one) => one.arguments)].map((text) => ({ text, by: [reader] }))
}
