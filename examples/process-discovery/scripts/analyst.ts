/** The scripted analyst: interviews and models alone; in a duo it has its work checked by a validator. */
import type { ModelRequest } from '@witan/core'
import { call, finishedCalls, type Rule, type ScriptedReply } from '@witan/core/testing'
import type { Statement } from '../world/facts.ts'
import { clearUpStep, doubtsIn, interviewStep } from './interviewer.ts'
import { disputed } from './knowledge.ts'
import { onceOn, reportOn, savedModel, saveStep } from './modeler.ts'
import { artifactIn, heard } from './transcript.ts'
import { minutesOf } from './validator.ts'

/** Does everything itself: it also compares what people say, as the validator does. */
export const monolithicScript: Rule = (request) => {
  const said = heard(request)
  return (
    interviewStep(request) ??
    saveStep(request, said) ??
    onceOn(request, 'check_process_model', savedModel(request)) ??
    clearUpStep(request, disputed(said)) ??
    onceOn(request, 'draw_process_model', savedModel(request)) ??
    reportOn(request)
  )
}

/** Hands its model and its minutes to a validator, by their ids. */
export const duoScript: Rule = (request) => {
  const said = heard(request)
  return (
    interviewStep(request) ??
    saveStep(request, said) ??
    minutesStep(request, said) ??
    validateStep(request) ??
    clearUpStep(request, doubtsIn(verdictOf(request))) ??
    onceOn(request, 'draw_process_model', savedModel(request)) ??
    reportOn(request)
  )
}

const minutesName = 'minutes.txt'
const minutesIn = (request: ModelRequest) =>
  finishedCalls(request).findLast(({ arguments: args }) => args['name'] === minutesName)

function minutesStep(request: ModelRequest, said: readonly Statement[]): ScriptedReply | null {
  const text = minutesOf(said)
  if (minutesIn(request)?.arguments['text'] === text) return null
  return call('save_artifact', { name: minutesName, media_type: 'text/plain', text })
}

const verdicts = (request: ModelRequest) => finishedCalls(request).filter(({ name }) => name.endsWith('validator'))

function validateStep(request: ModelRequest): ScriptedReply | null {
  const ids = `${savedModel(request)} against the minutes ${artifactIn(minutesIn(request)?.result ?? '')}`
  if (verdicts(request).some(({ arguments: args }) => String(args['message']).includes(ids))) return null
  const validator = request.tools.find(({ name }) => name.endsWith('validator'))?.name ?? 'validator'
  return call(validator, { message: `Check ${ids}.` })
}

function verdictOf(request: ModelRequest): string {
  return verdicts(request).at(-1)?.result ?? ''
}
