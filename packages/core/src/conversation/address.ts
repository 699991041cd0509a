/** The address of a call: its document, by path and bound values, and its names in the call tree. The engine and the fold share it. */
import type { CallPlace } from '@witan/protocol/entries'
import { documentKey } from '../parameter/bind.ts'
import type { Bound } from '../parameter/parameter.ts'
import type { AgentCall, ConversationState, DocumentState, LiveJob } from './state.ts'

/** What a child's address is made from. */
export interface ChildName {
  readonly agent: string
  readonly parameters: Bound
}

/** A child's address before numbering: the key and the path of its document, and its invocation. */
export interface ChildAddress {
  readonly key: string
  readonly path: string
  readonly invocation: string
}

/** The address of a child below `parent` [C7, K19]. */
export function childAddress({ document, place }: AgentCall, { agent, parameters }: ChildName): ChildAddress {
  const path = `${document.path}/${agent}`
  return { path, key: documentKey(path, parameters), invocation: `${place.invocation}.sub.${agent}` }
}

/** A child that is about to start, with a document and an invocation of its own. */
export interface ChildPlace {
  readonly place: CallPlace
  /** Whether its document is new. */
  readonly isFresh: boolean
}

/** The place of an agent's next call below `parent`: a document that no other job uses, and the next free names. */
export function placeOfChild(
  { state, run }: { readonly state: ConversationState; readonly run: LiveJob },
  parent: AgentCall,
  child: ChildName & { readonly call: string; readonly job: string; readonly parentCall: string },
): ChildPlace {
  const { key, path, invocation } = childAddress(parent, child)
  const known = freeDocument(state, key, child.job)
  const ordinal = 1 + (state.ordinals.get(path) ?? 0)
  const times = run.invocations.get(invocation) ?? 0
  const place = {
    call: child.call,
    parentCall: child.parentCall,
    run: parent.place.run,
    document: known?.path ?? (ordinal === 1 ? path : `${path}~${ordinal}`),
    author: child.agent,
    agentPath: `${parent.place.agentPath}/${child.agent}`,
    invocation: times === 0 ? invocation : `${invocation}#${times + 1}`,
  }
  return { place, isFresh: known === null }
}

/**
 * The document for the next call of `job` under that key, or null if a new one is needed. A document serves one job at a time, so
 * documents that another job uses are skipped.
 */
function freeDocument(state: ConversationState, key: string, job: string): DocumentState | null {
  for (let variant = 1; ; variant += 1) {
    const known = state.documents.get(variantKey(key, variant))
    if (known === undefined) return null
    if (known.calls.every((call) => call.job === job)) return known
  }
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

function newDocument(state: ConversationState, key: string, path: string): DocumentState {
  const document: DocumentState = { path, said: [], views: [], inbox: [], calls: [], turns: [], tokens: null }
  state.documents.set(key, document)
  const base = path.includes('~') ? path.replace(/~\d+$/, '') : path
  state.ordinals.set(base, 1 + (state.ordinals.get(base) ?? 0))
  return document
}
