/** The scripted validator: checks the form of a model, and compares what people say with each other. */
import type { ModelRequest } from '@witan/core'
import { call, finishedCalls, type Rule, type ScriptedCall } from '@witan/core/testing'
import { type Statement, statementsIn } from '../world/facts.ts'
import { disputed } from './knowledge.ts'
import { artifactIn, latest, readObject, statementsOf, wordsTo } from './transcript.ts'

/** How often the validator has the same thing asked again. */
const rounds = 3

/** Minutes: a line for each sentence, with who said it. */
export function minutesOf(statements: readonly Statement[]): string {
  return statements.map(({ by, says }) => `${by}: ${says}`).join('\n')
}

function statementsInMinutes(text: string): readonly Statement[] {
  return text.split('\n').flatMap((line) => {
    const [, by, says = ''] = /^([^:"]+): (.+)$/.exec(line) ?? []
    return by === undefined ? [] : statementsIn(says, by)
  })
}

/** Works for another agent, in words: `Check art_….`, with what people say in the message, or with the minutes in another artifact. */
export const validatorInWords: Rule = (request) => {
  const words = wordsTo(request)
  const [model, minutes] = words.at(-1)?.match(/art_\w+/g) ?? []
  if (model === undefined) return 'I need the id of the model.'
  const made = finishedCalls(latest(request))
  if (made.length === 0) {
    const reads: readonly ScriptedCall[] =
      minutes === undefined ? [] : [{ name: 'read_artifact', arguments: { artifact_id: minutes } }]
    return { toolCalls: [{ name: 'check_process_model', arguments: { artifact_id: model } }, ...reads] }
  }
  const read = made.find(({ name }) => name === 'read_artifact')?.result
  const doubts = disputed(read === undefined ? words.flatMap((text) => statementsIn(text)) : statementsInMinutes(read))
  const findings = findingsIn(request)
  if (doubts.length === 0 && findings.length === 0) return 'Accepted.'
  return [
    'Not accepted.',
    ...(doubts.length > 0 ? ['In doubt:', ...doubts] : []),
    ...findings.map((one) => `- ${one}`),
  ].join('\n')
}

/** The findings of the latest check, in words. */
function findingsIn(request: ModelRequest): readonly string[] {
  const checked = finishedCalls(request).findLast(({ name }) => name === 'check_process_model')
  const { findings } = readObject(checked?.result ?? '') as {
    readonly findings?: readonly { code: string; where: string; detail: string }[]
  }
  return (findings ?? []).map(({ code, where, detail }) => `${code} at ${where}: ${detail}`)
}

/** Works among peers: asks the interviewers itself, and gives the modeler what they found out. */
export const validatorByProtocol: Rule = (request) => {
  const message = wordsTo(request).at(-1) ?? ''
  const made = finishedCalls(latest(request))
  if (made.length === 0) return call('check_process_model', { artifact_id: artifactIn(message) ?? '' })
  const answers = made.filter(({ name }) => name.endsWith('_settle'))
  const found = answers.flatMap(({ result }) => statementsOf(readObject(result)))
  const doubts = disputed([...statementsOf(readObject(message)), ...found])
  const interviewers = request.tools.map(({ name }) => name).filter((name) => name.endsWith('_settle'))
  if (doubts.length > 0 && answers.length < rounds * interviewers.length)
    return { toolCalls: interviewers.map((name) => ({ name, arguments: { sentences: doubts } })) }
  const findings = [...findingsIn(request), ...doubts.map((sentence) => `IN_DOUBT: ${sentence}`)]
  return JSON.stringify({ accepted: found.length === 0 && findings.length === 0, findings, statements: found })
}
