/** The address of a call: its document, by path and bound values, and its names in the call tree. The engine and the fold share it. */
import type { AnsweredMessage, CallPlace, Writable } from '@witan/protocol/entries'
import { documentKey } from '../parameter/bind.ts'
import type { Bound } from '../parameter/parameter.ts'
import { type AgentCall, type ConversationState, type DocumentState, type LiveJob, positionOf } from './state.ts'

/** What a child's address is made from. */
export interface ChildName {
  readonly agent: string
  readonly parameters: Bound
  readonly call: string
  /** Set for an agent on another server: it speaks under its address. */
  readonly remote?: string | undefined
  /** Set for a peer: its documents belong to the conversation, and to no agent that writes to it. */
  readonly exchange?: Pick<AnsweredMessage, 'soFar'> | undefined
}

/** A child's address before numbering: the key and the path of its document, and its invocation. */
interface ChildAddress {
  readonly key: string
  readonly path: string
  readonly invocation: string
}

/** The address of a child below `parent` [C7, K19]. An agent that control was handed to has a path of its own for its children. */
export function childAddress(
  { id }: Pick<ConversationState, 'id'>,
  parent: AgentCall,
  { agent, parameters, call, exchange }: ChildName,
): ChildAddress {
  const { document, place } = parent
  const above = parent.handOver === null ? document.path : `${document.path}/${parent.agent.id}`
  const path = exchange === undefined ? `${above}/${agent}` : `${id}/@${agent}`
  const shared = documentKey(path, parameters)
  const key = exchange?.soFar === undefined ? shared : `${shared}\n@${call}`
  return { path, key, invocation: `${place.invocation}.sub.${agent}` }
}

/** A child that is about to start, with a document and an invocation of its own. */
interface ChildPlace {
  readonly place: CallPlace
  /** Its document; null if that is new. */
  readonly known: DocumentState | null
}

/** The place of an agent's next call below `parent`: a document that no other job uses, and the next free names. */
export function placeOfChild(
  { state, run }: { readonly state: ConversationState; readonly run: LiveJob },
  parent: AgentCall,
  child: ChildName & {
    readonly job: string
    readonly parentCall: string
    /** Set for a child of a parallel. */
    readonly branch?: string | undefined
  },
): ChildPlace {
  const { key, path, invocation } = childAddress(state, parent, child)
  const known = freeDocument(state, key, child.job)
  const times = run.invocations.get(invocation) ?? 0
  const branches = branchesOf(parent.place, child.branch)
  const place: Writable<CallPlace> = {
    call: child.call,
    parentCall: child.parentCall,
    run: parent.place.run,
    document: known?.path ?? newPath(state, path, child.exchange),
    author: child.remote ?? child.agent,
    agentPath: `${parent.place.agentPath}/${child.agent}`,
    invocation: times === 0 ? invocation : `${invocation}#${times + 1}`,
  }
  if (branches !== undefined) place.branches = branches
  return { place, known }
}

/** The path of a new document. The name of a peer without an ordinal is kept for its memory. */
function newPath({ ordinals, documents }: ConversationState, path: string, exchange: ChildName['exchange']): string {
  const highest = ordinals.get(path) ?? 0
  const isApart = exchange?.soFar !== undefined
  const isFree = highest === 0 || (exchange !== undefined && ![...documents.values()].some((one) => one.path === path))
  return isFree && !isApart ? path : `${path}~${Math.max(1, highest) + 1}`
}

function branchesOf({ branches }: CallPlace, branch: string | undefined): CallPlace['branches'] {
  return branch === undefined ? branches : [...(branches ?? []), branch]
}

/** The place of a call that gets the control of `source`: in its document and at its depth, named by its position [C33]. */
export function placeOfTarget(source: AgentCall, target: { readonly agent: string; readonly call: string }): CallPlace {
  const { agent, call } = target
  const agentPath = `${positionOf(source).place.agentPath}/${agent}`
  return { ...source.place, call, parentCall: source.place.call, author: agent, agentPath }
}

/**
 * The document for the next call of `job` under that key, or null if a new one is needed. A document serves one job at a time, so
 * documents that another job uses are skipped.
 */
export function freeDocument(state: ConversationState, key: string, job: string): DocumentState | null {
  for (let variant = 1; ; variant += 1) {
    const known = state.documents.get(variantKey(key, variant))
    if (known === undefined) return null
    if (known.calls.every((call) => call.job === job)) return known
  }
}

/** Forgets a document that nobody continues, once its call has ended. */
export function dropSeparateDocument(
  state: ConversationState,
  { place, agent, parameters, parent, exchange, handOver }: AgentCall,
): void {
  if (parent === null || handOver !== null || exchange?.soFar === undefined) return
  const { key } = childAddress(state, parent, { agent: agent.id, parameters, call: place.call, exchange })
  if (state.documents.get(key)?.calls.length === 0) state.documents.delete(key)
}

/** The document of that key and path, created if it does not exist. */
export function documentAt(state: ConversationState, key: string, path: string): DocumentState {
  for (let variant = 1; ; variant += 1) {
    const own = variantKey(key, variant)
    const known = state.documents.get(own)
    if (known === undefined) return newDocument(state, own, path)
    if (known.path === path) return known
  }
}

function variantKey(key: string, variant: number): string {
  return variant === 1 ? key : `${key}\n${variant}`
}

const nobody: readonly string[] = []

const noViews: readonly never[] = []

function newDocument(state: ConversationState, key: string, path: string): DocumentState {
  const document: DocumentState = {
    path,
    said: [],
    views: noViews,
    inbox: [],
    calls: [],
    peerTools: nobody,
    handOverTargets: nobody,
    handOvers: nobody,
    callStarts: [],
    remembered: null,
    plans: new Map(),
    remoteNote: undefined,
    readUpTo: 0,
    tokens: null,
  }
  state.documents.set(key, document)
  const numbered = path.includes('~') ? /^(.*)~(\d+)$/s.exec(path) : null
  const base = numbered?.[1] ?? path
  state.ordinals.set(base, Math.max(state.ordinals.get(base) ?? 0, Number(numbered?.[2] ?? 1)))
  return document
}
