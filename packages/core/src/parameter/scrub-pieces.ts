/** Scrubs a text that comes in pieces: a value that is split over pieces is removed as if the text had come whole. */
import type { Automaton } from './automaton.ts'
import { type Span, settledSpansOf, spansOf } from './spans.ts'

/** Scrubs one text, piece by piece. */
export interface PieceScrubber {
  /** Takes the next piece and returns the clean text that nothing can change any more. */
  push(piece: string): string
  /** The rest of the clean text, once the text has ended. */
  flush(): string
}

/** What may be the beginning of a value is held back. It is searched again only when it has grown by a quarter, so that the work stays linear. */
const growth = 1.25

/** A scrubber for one text. `without` replaces spans of a text. */
export function createPieceScrubber(
  automaton: Automaton,
  without: (text: string, spans: readonly Span[]) => string,
): PieceScrubber {
  let held = ''
  let enough = 0
  let isLost = false
  return {
    push(piece) {
      if (isLost) return ''
      held += piece
      if (held.length < enough) return ''
      const { spans, settled, ...found } = settledSpansOf(held, automaton)
      const clean = without(held.slice(0, settled), spans)
      held = held.slice(settled)
      enough = held.length * growth
      isLost = found.isLost
      return clean
    },
    flush() {
      const last = held
      held = ''
      return without(last, spansOf(last, automaton))
    },
  }
}
