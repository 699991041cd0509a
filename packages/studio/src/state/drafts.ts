/** What was typed and not sent yet: it outlives a change of the page and a reload of the tab. */
import { useSyncExternalStore } from 'react'

const prefix = 'witan draft '
const drafts = new Map<string, string>()
const listeners = new Set<() => void>()

/** The draft of that name, and what changes it. */
export function useDraft(name: string): readonly [text: string, put: (text: string) => void] {
  const text = useSyncExternalStore(subscribe, () => draftOf(name))
  return [text, (next) => putDraft(name, next)]
}

/** The draft of that name; `''` without one. */
export function draftOf(name: string): string {
  const known = drafts.get(name)
  if (known !== undefined) return known
  const kept = attempt(() => window.sessionStorage.getItem(prefix + name)) ?? ''
  drafts.set(name, kept)
  return kept
}

/** Sets the draft of that name; `''` forgets it. */
export function putDraft(name: string, text: string): void {
  drafts.set(name, text)
  attempt(() =>
    text === '' ? window.sessionStorage.removeItem(prefix + name) : window.sessionStorage.setItem(prefix + name, text),
  )
  for (const listener of listeners) listener()
}

/** A browser may refuse its storage, or have none left: a draft then lasts as long as the page. */
function attempt<Result>(work: () => Result): Result | null {
  try {
    return work()
  } catch {
    return null
  }
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
