/** What somebody says to an agent: text that is not blank. */
import { z } from 'zod'

/** The error for blank text. */
export const saysNothing = { error: 'must say something: it is empty, or holds only blanks' }

/** True if a text contains more than blanks. */
export function isSaid(text: string): boolean {
  return /\S/.test(text)
}

/** Text for an agent: at least one character that is not blank. */
export const wordsSchema = z.string().regex(/\S/, saysNothing)
