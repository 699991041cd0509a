/** The scripted manager: knows nothing of processes, and passes on in words what its agents answer. */
import { call, finishedCalls, type Rule } from '@witan/core/testing'
import { doubtsIn } from './interviewer.ts'
import { artifactIn } from './transcript.ts'

/** How often what the validator doubts is asked again. */
const rounds = 3

export const managerScript: Rule = (request) => {
  const made = finishedCalls(request)
  const of = (role: string) => made.filter(({ name }) => name.endsWith(role))
  const toolOf = (role: string) => request.tools.find(({ name }) => name.endsWith(role))?.name ?? role
  const told = of('interviewer').map(({ result }) => result)
  const last = made.at(-1)
  const model = artifactIn(of('modeler').at(-1)?.result ?? '')
  if (last === undefined) return call(toolOf('interviewer'), { message: 'Ask everybody how a bike is repaired here.' })
  if (last.name === toolOf('interviewer')) {
    const what = model === null ? 'Make a model of this' : `Change the model ${model} by this`
    return call(toolOf('modeler'), { message: `${what}:\n${last.result}` })
  }
  if (last.name === toolOf('modeler')) {
    if (/drawn/.test(last.result)) return last.result
    return call(toolOf('validator'), { message: `Check the model ${model}. This is what people say:\n${told.at(-1)}` })
  }
  const doubts = doubtsIn(last.result)
  if (doubts.length > 0 && told.length <= rounds)
    return call(toolOf('interviewer'), { message: `This is in doubt, please clear it up:\n${doubts.join('\n')}` })
  return call(toolOf('modeler'), { message: `Draw the model ${model}.` })
}
