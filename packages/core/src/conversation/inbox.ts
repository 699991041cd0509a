/** Messages for a document: they wait in its inbox until a model reads them, then become part of the document. */
import {
  type AnsweredCall,
  authorKindOf,
  type Entry,
  type KeptParts,
  type MessageBody,
  type Writable,
} from '@witan/protocol/entries'
import { fileMention, type FileReference } from '@witan/protocol/files'
import { changed, companyOf } from '../parameter/person.ts'
import { asksPeople } from '../parameter/known-people.ts'
import { documentAt } from './address.ts'
import { allowHandOvers } from './fold-hand-over.ts'
import { contentOf, type Reply, type Said, type Words } from './said.ts'
import {
  type AgentCall,
  askerOf,
  type ConversationState,
  type DocumentState,
  type LiveJob,
  positionOf,
  type WaitingMessage,
} from './state.ts'
import type { EndedTask } from './task-state.ts'

/**
 * Puts a message into the inbox of its reader. A message for the root may come before its run. A message for an ended call below
 * the root is ignored, and the tasks that it reports stay unreported [F22].
 */
export function foldMessage(
  state: ConversationState,
  run: LiveJob | null,
  { seq, place, body }: Entry & { body: MessageBody },
): void {
  const { author, artificialActions, id, tasks, files, text, forModel = text } = body
  if (id !== undefined) run?.messageIds.set(id, true)
  const reader = run?.calls.get(place.call)
  if (reader === undefined && place.parentCall !== null) return
  const document = reader?.document ?? documentAt(state, place.document, place.document)
  // A person's message to the root is stored raw; every other message was attributed and escaped when it was written.
  const isAttributed = place.parentCall !== null || author === 'witan'
  const waiting: Writable<WaitingMessage> = {
    author,
    text: files === undefined ? forModel : withMentions(forModel, files),
    isAttributed,
    // A task's report is scrubbed for its reader, as a delegate's answer is.
    isScrubbed: tasks !== undefined,
  }
  if (forModel !== text) waiting.plain = text
  if (artificialActions !== undefined) waiting.calls = artificialActions
  if (files !== undefined) waiting.files = files
  if (id !== undefined) waiting.id = id
  if (body.authorKind === 'user' || authorKindOf(author) === 'user') waiting.seq = seq
  if (place.parentCall === null) noteSpeaker(state, body, waiting)
  if (tasks !== undefined) waiting.reports = removeUnreported(state, tasks)
  document.inbox.push(waiting)
}

/**
 * Somebody speaks to the root. A person's words name their speaker if at least two people take part or have spoken; those of nobody
 * in particular do from the first such words on [C6]. Where a caller from another server speaks, so do the words of everybody else, and from
 * then on its own.
 */
function noteSpeaker(
  state: ConversationState,
  { author, authorKind }: MessageBody,
  waiting: Writable<WaitingMessage>,
): void {
  if (authorKind === undefined) {
    const isOutsider = authorKindOf(author) === 'remote'
    if (isOutsider) state.outsider = author
    if (!isOutsider && author !== 'user') return
    const isFirst = state.outsider !== null && !isOutsider
    if (isFirst) state.hasNamed = true
    if (state.hasNamed && (state.outsider !== null || companyOf(state.people) > 1)) waiting.isNamed = true
    return
  }
  state.people = changed(state.people, { id: author, name: null, roles: [] }, 'spoke')
  const { people } = state
  waiting.people = people
  if (companyOf(people, author) < 2 && state.outsider === null) return
  state.hasNamed = true
  waiting.isNamed = true
}

/** A text that mentions the files behind it, one per line. */
function withMentions(text: string, files: readonly FileReference[]): string {
  return [...(text === '' ? [] : [text]), ...files.map(fileMention)].join('\n')
}

/** Puts a line of the runtime behind a message, and behind the lines that stand there; at the end without one. */
export function insertBehind(inbox: WaitingMessage[], message: WaitingMessage | null, line: WaitingMessage): void {
  let at = message === null ? inbox.length : inbox.indexOf(message) + 1
  while (inbox[at]?.only !== undefined) at += 1
  inbox.splice(at, 0, line)
}

function removeUnreported(state: ConversationState, tasks: readonly string[]): EndedTask[] {
  return tasks.flatMap((id) => {
    const ended = state.unreported.get(id)
    state.unreported.delete(id)
    return ended === undefined ? [] : [ended]
  })
}

/** The message of a delegation, as its child reads it: scrubbed, because a model wrote it. */
export function delegatedMessage({ message, parent, step, exchange }: AgentCall): WaitingMessage {
  const soFar = exchange?.soFar ?? ''
  const text = soFar === '' ? message : `${soFar}\n\n${message}`
  // The message of a step quotes the answers before it, each with its speaker, and a peer's names its sender.
  const isAttributed = step !== null || exchange !== null
  return { author: parent?.agent.id ?? 'user', text, isAttributed, isScrubbed: true }
}

/** The attribution of a waiting message, and what its author wrote. */
export function wordsOf({ plain, text, isAttributed }: WaitingMessage): readonly [head: string, words: string] {
  const whole = plain ?? text
  const head = isAttributed ? (/^\[from \S+ to \S+\] /.exec(whole)?.[0] ?? '') : ''
  return [head, whole.slice(head.length)]
}

/** The message of a call as its model may read it: a person's words are never scrubbed, a model's are. */
export function messageAsRead({ message, parent, scrubOthers }: AgentCall): string {
  return parent === null || scrubOthers === null ? message : scrubOthers(message)
}

/**
 * A waiting message as it is in the document once `reader` has read it: its text, and its artificial actions [Rb52]. `before` is what
 * stands in front of it.
 */
export function readWords(waiting: WaitingMessage, reader: AgentCall, before: Said | undefined): readonly Said[] {
  const { agent, scrub } = reader
  const { author, text, isAttributed, isScrubbed, calls, files, people, only } = waiting
  const words: Writable<Words> = { kind: 'words', author, to: agent.id, text, isAttributed, isScrubbed, scrub }
  if (files !== undefined) words.files = files
  if (people !== undefined) words.people = people
  if (only !== undefined) words.only = only
  if (namesSpeaker(waiting, before)) words.namedTo = rootOf(reader)
  return calls === undefined ? [words] : [words, ...broughtAlong(calls, reader)]
}

/** For words that share a message with another person's words: otherwise they would seem to be that person's. */
function namesSpeaker({ isNamed, author, isAttributed }: WaitingMessage, before: Said | undefined): boolean {
  if (isNamed === true) return true
  if (isAttributed || before?.kind !== 'words') return false
  return before.namedTo !== undefined && before.author !== author
}

/** The root of the conversation, whom people speak to. */
function rootOf({ place }: AgentCall): string {
  return place.agentPath.split('/', 1)[0] as string
}

function broughtAlong(calls: readonly AnsweredCall[], reader: AgentCall): Said[] {
  const asked = calls.map(({ id, name, arguments: written }) => ({ id, name, arguments: written }))
  const reply = replyOf(reader, { text: '', calls: asked })
  const results = calls.map(({ id, name, response }) => {
    return { toolCallId: id, name, content: contentOf(response), scrub: null }
  })
  return [reply, { kind: 'results', of: reply, results }]
}

/** A model's reply as a part of the document. */
export function replyOf(
  call: AgentCall,
  { text, calls, kept }: Pick<Reply, 'text' | 'calls'> & { readonly kept?: KeptParts | undefined },
): Reply {
  const { agent, scrub, unseen, people } = call
  const plain: Reply = { kind: 'reply', agent: agent.id, to: askerOf(call), text, calls, scrub }
  const reply = asksPeople(agent) ? { ...plain, asker: { naming: agent, people } } : plain
  return kept === undefined ? reply : { ...reply, kept: { parts: kept, unseen } }
}

/**
 * The seq of the last message of a person that the model of `call` reads now; 0 for none. A step reads what its workflow works on, which is
 * what was said to that.
 */
export function readUpTo(call: AgentCall): number {
  const { inbox, readUpTo: before } = call.document
  const unread = inbox.findLast(({ seq }) => seq !== undefined)?.seq
  const { step, parent } = positionOf(call)
  return unread ?? (before > 0 || step === null || parent === null ? before : readUpTo(parent))
}

/** The last thing said that stands for everybody: a line for one agent alone is nobody's words. */
export function lastHeard(said: readonly Said[]): Said | undefined {
  const last = said.at(-1)
  return last?.kind === 'words' && last.only !== undefined ? said.findLast(isForAll) : last
}

function isForAll(said: Said): boolean {
  return said.kind !== 'words' || said.only === undefined
}

function noteBlocks(document: DocumentState, { only, remembered }: WaitingMessage): void {
  if (only === undefined || remembered === undefined) return
  document.remembered ??= new Map()
  document.remembered.set(only, { ...remembered, from: document.said.length })
}

/** Moves the first `count` messages from the inbox to the document, because a model has read them. */
export function readInbox(call: AgentCall, count: number): void {
  const { document } = call
  const { said, inbox } = document
  for (const waiting of inbox.splice(0, count)) {
    if (waiting.seq !== undefined) document.readUpTo = waiting.seq
    noteBlocks(document, waiting)
    said.push(...readWords(waiting, call, lastHeard(said)))
    if (waiting.author !== 'witan' || waiting.reports !== undefined) allowHandOvers(call)
  }
}
