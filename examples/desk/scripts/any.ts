/** The script of agents that are added while the desk runs: with memory it keeps notes, and everything else it does not understand. */
import { lines, one, playing, type Steps } from './play.ts'

const noted = /\bnotes?\b[^:]*: ?(.+)$|\b(?:note|write down) that (.+)$/i

export const anyScript = playing(function* ({ message, known, tools }): Steps {
  if (!tools.some(({ name }) => name === 'remember'))
    return 'I am a script, not a language model, and can only keep notes, for which I need memory.'
  const [, after, that] = noted.exec(message) ?? []
  const text = after ?? that
  if (text === undefined)
    return known.length === 0 ? 'There are no notes.' : `Your notes:\n${lines(known, (block) => block.text)}`
  const result = yield* one('remember', { key: `note-${known.length + 1}`, text })
  return result.error === null ? `Noted: ${text}` : `I could not note it: ${result.error}`
})
