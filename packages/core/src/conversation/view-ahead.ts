/** Prepares long texts for a model's view, in as many turns as that takes. The view itself is then made in one. */
import { runByPieces } from '../identity/pausable.ts'
import type { Scrubber } from '../parameter/scrub.ts'
import { readWords } from './inbox.ts'
import type { Said } from './said.ts'
import type { AgentCall } from './state.ts'
import { rendering, unreadOf, unreadShared } from './view.ts'

/** Texts of fewer characters in all are scrubbed and rendered where they are read. */
const shortInAll = 16_384

/** Releases what was remembered for one view. */
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
  const passages = passagesOf(call)
  const length = passages.reduce((sum, { text }) => sum + text.length, 0)
  const isPrepared = call.scrub?.isPrepared !== false
  return isPrepared && length < shortInAll ? null : remember(call, passages)
}

async function remember(call: AgentCall, passages: readonly Passage[]): Promise<Forget> {
  const used = new Set<NonNullable<Scrubber>>()
  const forget = () => {
    for (const scrub of used) scrub.forget()
  }
  await call.scrub?.prepared()
  for (const { text, by } of passages) {
    let clean = text
    for (const scrub of by) {
      if (scrub === null) continue
      used.add(scrub)
      clean = await scrub.remember(clean)
    }
  }
  await runByPieces(rendering(call))
  return forget
}

function passagesOf(call: AgentCall): readonly Passage[] {
  const { scrub, scrubOthers, agent, shared } = call
  const passages: Passage[] = []
  const add = (said: Said, reader: Scrubber) => passages.push(...textsIn(said, reader))
  const readerOf = (speaker: string) => (speaker === agent.id ? scrub : scrubOthers)
  for (const said of unreadOf(call)) add(said, readerOf(speakerOf(said)))
  const before = call.document.said.at(-1)
  for (const waiting of call.document.inbox)
    for (const said of readWords(waiting, call, before)) add(said, readerOf(speakerOf(said)))
  if (shared !== null) for (const said of unreadShared(shared)) add(said, shared.scrub)
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
