/** Inputs that still hold the loop for longer than they may, and what it would take. A row leaves this list when its work is mended. */
const parsing = 'a document of one piece is parsed at once, up to 10 MB'
const writing = 'the JSON of a result is written whole before it is cut'
const reading = 'the arguments of a call are read and checked in one piece'
const copying = 'the copy of a log is stored in one append'

export const notYet: Readonly<Record<string, string>> = {
  'a model server sends a plain answer of 9 MB of empty `choices`': parsing,
  'a model server sends one document of a stream with 9 MB of empty `choices`': parsing,
  'a model server sends a plain answer of 9 MB of keys': parsing,
  'a model server sends a plain answer of 9 MB of numbers': parsing,
  'a model server sends an answer of 900,000 parts of text': parsing,
  'a model server sends 60,000 calls of tools in one document': parsing,
  'a client sends a body of 1 MB of keys': reading,
  '90,000 arguments that the tool does not list in one call': reading,
  '128 calls of a tool that returns a list of 256,000 characters in one reply': writing,
  'a fork of a conversation with thirty prompts of 0.9 MB on SQLite': copying,
  'a fork of a conversation with 5,000 short prompts on SQLite': copying,
  'a fork of a conversation with thirty prompts of 0.9 MB on PostgreSQL': copying,
  'a fork of a conversation with 5,000 short prompts on PostgreSQL': copying,
  'a tool returns a Buffer of 8 MB': writing,
  'a tool returns a typed array of 2 MB': writing,
  'a tool returns an object of 300,000 keys': writing,
  'a tool returns a list of 40 texts of 1 MB': writing,
  'a tool returns a list that doubles 22 times': writing,
  'a tool returns a list whose `toJSON` is called 300,000 times': writing,
}
