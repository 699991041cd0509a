/** A word of a command that is printed to be copied. */

/** The word as a shell takes it: in quotes where it would mean something else, so that an id from outside runs nothing. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
