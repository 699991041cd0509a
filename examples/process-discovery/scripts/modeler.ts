/** The scripted modeler: turns statements into a process model, and saves it as an artifact. */
import type { ModelRequest } from '@witan/core'
import { call, finishedCalls, type Rule, type ScriptedReply } from '@witan/core/testing'
import { type Statement, statementsIn } from '../world/facts.ts'
import { modelName } from '../model/tools.ts'
import { modelOf } from './build.ts'
import { standing } from './knowledge.ts'
import { artifactIn, readObject, statementsOf, wordsTo } from './transcript.ts'

/** Saves the model of what stands by now, unless it was saved already; null then. */
export function saveStep(request: ModelRequest, statements: readonly Statement[]): ScriptedReply | null {
  const text = JSON.stringify(modelOf('Bike repair', standing(statements)), null, 1)
  if (savedText(request) === text) return null
  return call('save_artifact', { name: modelName, media_type: 'application/json', text })
}

const saves = (request: ModelRequest) =>
  finishedCalls(request).filter(({ name, arguments: args }) => name === 'save_artifact' && args['name'] === modelName)

function savedText(request: ModelRequest): unknown {
  return saves(request).at(-1)?.arguments['text']
}

/** The id of the model that it saved last. */
export function savedModel(request: ModelRequest): string | null {
  return artifactIn(saves(request).at(-1)?.result ?? '')
}

/** A call of a tool on that artifact, unless it was made already; null then. */
export function onceOn(request: ModelRequest, tool: string, artifact: string | null): ScriptedReply | null {
  const isMade = finishedCalls(request).some(
    ({ name, arguments: args }) => name === tool && args['artifact_id'] === artifact,
  )
  return isMade || artifact === null ? null : call(tool, { artifact_id: artifact })
}

/** What a modeler says at the end. */
export function reportOn(request: ModelRequest): string {
  const drawn = finishedCalls(request).findLast(({ name }) => name === 'draw_process_model')
  return `The process model is ${savedModel(request)}, drawn in ${artifactIn(drawn?.result ?? '')}.`
}

/** Works for a manager: models what the messages say, and draws a model when it is told to. */
export const modelerInWords: Rule = (request) => {
  const words = wordsTo(request)
  const statements = words.flatMap((text) => statementsIn(text))
  const step = saveStep(request, statements)
  if (step !== null) return step
  if (!/draw/i.test(words.at(-1) ?? '')) return `I have saved the model as ${savedModel(request)}.`
  return onceOn(request, 'draw_process_model', savedModel(request)) ?? reportOn(request)
}

/** Leads the work among peers: asks the interviewers, models, has the model reviewed, and models again what the review brought. */
export const modelerByProtocol: Rule = (request) => {
  const made = finishedCalls(request)
  const interviewers = namesOf(request, '_ask')
  if (made.length === 0)
    return { toolCalls: interviewers.map((name) => ({ name, arguments: { process: 'Bike repair' } })) }
  const statements = made.flatMap(({ result }) => statementsOf(readObject(result)))
  const step = saveStep(request, statements)
  if (step !== null) return step
  const artifact = savedModel(request)
  return (
    onceReviewed(request, artifact, statements) ?? onceOn(request, 'draw_process_model', artifact) ?? reportOn(request)
  )
}

function onceReviewed(
  request: ModelRequest,
  artifact: string | null,
  statements: readonly Statement[],
): ScriptedReply | null {
  const [submit] = namesOf(request, '_submit')
  const isMade = finishedCalls(request).some(
    ({ name, arguments: args }) => name === submit && args['artifact_id'] === artifact,
  )
  return isMade || submit === undefined ? null : call(submit, { artifact_id: artifact, statements })
}

function namesOf({ tools }: ModelRequest, end: string): readonly string[] {
  return tools.map(({ name }) => name).filter((name) => name.endsWith(end))
}
