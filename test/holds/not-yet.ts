/** Inputs that still hold the loop for longer than they may, and what it would take. A row leaves this list when its work is mended. */
const writing = 'the JSON of a result is written whole before it is cut'

export const notYet: Readonly<Record<string, string>> = {
  '128 calls of a tool that returns a list of 256,000 characters in one reply': writing,
  'a tool returns a Buffer of 8 MB': writing,
  'a tool returns a typed array of 2 MB': writing,
  'a tool returns an object of 300,000 keys': writing,
  'a tool returns a list of 40 texts of 1 MB': writing,
  'a tool returns a list that doubles 22 times': writing,
  'a tool returns a list whose `toJSON` is called 300,000 times': writing,
}
