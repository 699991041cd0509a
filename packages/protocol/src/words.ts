/** What somebody says to an agent: text with something in it. */
import { z } from 'zod'

/** What is told of words that are none. */
export const saysNothing = { error: 'must say something: it is empty, or holds only blanks' }

/** Whether there is anything in a text but blanks. */
export function isSaid(text: string): boolean {
  return /\S/.test(text)
}

/** Words for an agent: at least one character that is no blank. */
export const wordsSchema = z.string().regex(/\S/, saysNothing)
