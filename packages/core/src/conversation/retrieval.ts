/** What the knowledge bases of an agent have on the messages that begin or join its work, and which passages it has read. */
import type { AgentData } from '@witan/protocol'
import type { Entry, QuotedPassage, Writable } from '@witan/protocol/entries'
import { knowledgeUses, type Source } from '@witan/protocol/knowledge'
import { insertBehind } from './inbox.ts'
import { lineFor } from './line.ts'
import type { AgentCall, LiveJob, WaitingMessage } from './state.ts'

/** The waiting message that an agent's bases are to be searched with before its model reads it; null for none. */
export function messageToLookFor({ agent, document, remote, workflow }: AgentCall): WaitingMessage | null {
  if (agent.knowledgeBases?.length === 0 || remote !== null || workflow !== null) return null
  return looksByItself(agent) ? (document.inbox.find(isToLookFor) ?? null) : null
}

function looksByItself(agent: AgentData): boolean {
  return knowledgeUses(agent).some(({ retrieval }) => retrieval !== 'tool')
}

/** People and parents write messages; what the runtime tells an agent is no question. */
export function isToLookFor({ author, looked, text }: Pick<WaitingMessage, 'author' | 'looked' | 'text'>): boolean {
  return looked !== true && author !== 'witan' && text !== ''
}

/** Folds what was found for the first such message: its model reads the passages behind it, and no other agent does. */
export function foldRetrieval(run: LiveJob | null, { place, body }: Entry & { readonly type: 'retrieval' }): void {
  const call = run?.calls.get(place.call)
  const waiting: Writable<WaitingMessage> | undefined = call?.document.inbox.find(isToLookFor)
  if (call === undefined || waiting === undefined) return
  waiting.looked = true
  const { passages } = body
  if (passages.length === 0) return
  noteSources(call, passages)
  insertBehind(call.document.inbox, waiting, knowledgeLine(call.agent.id, passages))
}

/** The line of passages that were found by themselves: one agent reads it, and no other does. */
export function knowledgeLine(agent: string, passages: readonly QuotedPassage[]) {
  return lineFor(agent, 'knowledge', { passages: passages.map(asRead) })
}

/** A passage as a model reads it, as in the result of a search. */
function asRead({ id, base, title, heading, uri, text }: QuotedPassage) {
  return { id, base, title, heading, uri, text }
}

/** Notes passages that an agent has read: its answer, and those of the agents above it, may name them. */
export function noteSources(call: AgentCall, sources: Iterable<Source>): void {
  call.sources ??= new Map()
  for (const { id, base, document, title, uri, heading, digest } of sources)
    call.sources.set(id, { id, base, document, title, uri, heading, digest })
}

/** What a call below has read counts for the one above it once it is over. */
export function passSources({ parent, sources }: AgentCall): void {
  if (parent !== null && sources !== null) noteSources(parent, sources.values())
}

const bracketed = /\[([^[\]\n]{9,1000})\]/g
const passageIds = /\bk[a-z2-7]{8}\b/g

/** The passages that the answer of a call names in brackets, in the order of their first mention. The cost is linear. */
export function sourcesIn(
  call: AgentCall,
  { text, output }: { readonly text: string; readonly output: unknown },
): Source[] {
  const known = sourcesOf(call)
  if (known.size === 0) return []
  const named = new Set<string>()
  for (const part of output === null ? [text] : [text, JSON.stringify(output)])
    for (const [, inside = ''] of part.matchAll(bracketed))
      for (const [id] of inside.matchAll(passageIds)) named.add(id)
  return [...named].flatMap((id) => known.get(id) ?? [])
}

const none: ReadonlyMap<string, Source> = new Map()

/** What a call has read, and those that have its control: they answer in its place. */
function sourcesOf(call: AgentCall): ReadonlyMap<string, Source> {
  if (call.handedTo === null) return call.sources ?? none
  return new Map([...(call.sources ?? []), ...sourcesOf(call.handedTo)])
}
