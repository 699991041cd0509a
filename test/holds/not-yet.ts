/** Inputs that still hold the loop for longer than they may, and what it would take. A row leaves this list when its work is mended. */

const listing = 'the engine of JavaScript lists all keys of an object at once'

const checking = 'the definition of an agent is read and frozen in one piece before it is checked in pieces'
const escaped = 'V8 reads escapes at 100 MB/s, and a document is parsed at once'

export const notYet: Readonly<Record<string, string>> = {
  'a tool returns an object of 300,000 keys': listing,
  'a save with a schema of 40,000 properties beside a hidden name': checking,
  'a save with 40,000 properties inside an argument beside a hidden name': checking,
  'a save with 40,000 alternatives beside a hidden name': checking,
  'a model server sends a plain answer of 6 MB of escaped backslashes': escaped,
}
