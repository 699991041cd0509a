/** Action tools: typed requests that the client answers; the runtime never executes them [R25]. */
import type { Action } from '@witan/protocol'
import { result, unanswered, pendingOn } from '../outcome.ts'
import { checkSchema, noArguments, perBinding } from '../schema.ts'
import { withoutBound } from '../without-bound.ts'
import type { Caller, ImmediateTool, Tool } from '../tool.ts'

/** The actions of an agent as tools. */
export function actionTools(caller: Caller): readonly Tool[] {
  if (caller.agent.actions.length === 0) return []
  return caller.agent.actions.map((action) => toolOf(action, caller.parameters.keys()))
}

const toolOf = perBinding((action: Action, bound): ImmediateTool => {
  const parameters = withoutBound(action.parametersSchema ?? noArguments, bound)
  return {
    name: action.name,
    kind: 'action',
    offer: { name: action.name, description: action.description, parameters },
    notice: null,
    effect: 'once',
    bound: [...bound],
    immediate: true,
    check: (args) => checkSchema(parameters, args),
    invoke: (request) => pendingOn({ kind: 'action', name: action.name, arguments: { ...request.arguments } }),
    resume: (answer) => ('error' in answer ? unanswered(answer) : result(answer.value)),
  }
})
