/** Which ids of artifacts stand in what a model has read: each text is searched once, however often they are asked for [T31]. */
import { artifactIdPattern } from '@witan/protocol/entries'
import type { ModelMessage } from '../model/message.ts'

/** The ids found so far, and how far the search has come: all messages before `message`, and so many characters of that one. */
export interface ReadIds {
  readonly ids: Set<string>
  message: number
  characters: number
}

/** An index that has searched nothing. */
export function noIds(): ReadIds {
  return { ids: new Set(), message: 0, characters: 0 }
}

const start = 'art_'
const idLength = start.length + 26

/** Adds every id that stands in the text from there on, also within a longer word. */
export function addIds(ids: Set<string>, text: string, from = 0): void {
  for (let at = text.indexOf(start, from); at >= 0; at = text.indexOf(start, at + 1)) {
    const word = text.slice(at, at + idLength)
    if (artifactIdPattern.test(word)) ids.add(word)
  }
}

/**
 * The ids in messages that anybody but the model itself wrote. Messages are only added, except that the last one may grow at its
 * end: what was searched before is not searched again.
 */
export function idsIn(messages: readonly ModelMessage[], found: ReadIds): ReadonlySet<string> {
  for (let at = found.message; at < messages.length; at += 1) {
    const { role, content } = messages[at] as ModelMessage
    // An id may have begun in what was searched.
    if (role !== 'assistant') addIds(found.ids, content, at === found.message ? found.characters - idLength + 1 : 0)
    found.characters = content.length
    found.message = at
  }
  return found.ids
}
