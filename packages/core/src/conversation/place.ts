/** Where the document of a call is: by its path and the values bound there, one for each job that is at work. */
import type { ConversationState, DocumentState } from './state.ts'

/** The path of a child's document before it is numbered. */
export function childPath(parentPath: string, agent: string): string {
  return `${parentPath}/${agent}`
}

/**
 * The document for the next call of `job` under that key, or null where a new one is to be made. A document serves one job at a time:
 * what another is at work on is passed over.
 */
export function freeDocument(state: ConversationState, key: string, job: string): DocumentState | null {
  for (let variant = 1; ; variant += 1) {
    const known = state.documents.get(variantKey(key, variant))
    if (known === undefined) return null
    if (known.calls.every((call) => call.job === job)) return known
  }
}

/** The document of that key and path; made where it does not exist yet. */
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
  const document: DocumentState = { path, messages: [], inbox: [], calls: [], turns: [], tokens: null }
  state.documents.set(key, document)
  const base = path.includes('~') ? path.replace(/~\d+$/, '') : path
  state.ordinals.set(base, 1 + (state.ordinals.get(base) ?? 0))
  return document
}
