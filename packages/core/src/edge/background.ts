/** The tools of an agent with background tasks: read their result, ask for progress, send messages, cancel [F24–F28]. */
import { isWitanError, type Task } from '@witan/protocol'
import { edgesOf } from '@witan/protocol/edges'
import type { FoundTask, TaskControl } from '../task/control.ts'
import { failed, type Outcome, result } from '../tool/outcome.ts'
import { checkSchema, type JsonSchema } from '../tool/schema.ts'
import type { Caller, RunningTool, ToolContext, ToolSource } from '../tool/tool.ts'

const taskId = { type: 'string', description: 'The task_id that the call gave.' }

/** True if an agent can start tasks that it does not wait for. */
function hasBackground({ agent }: Caller): boolean {
  return edgesOf(agent).some(({ mayRunInBackground }) => mayRunInBackground)
}

/** The four tools, for every agent with an edge that need not wait. */
export function backgroundTools(control: TaskControl): ToolSource {
  const tools = [resultTool(control), progressTool(control), messageTool(control), cancelTool(control)]
  return (caller) => (hasBackground(caller) ? tools : [])
}

/** What differs between the four tools. */
interface Helper {
  readonly name: string
  readonly description: string
  readonly properties: Readonly<Record<string, unknown>>
  readonly effect: RunningTool['effect']
  readonly modelCalls?: number
  run(
    task: FoundTask,
    args: Readonly<Record<string, string>>,
    at: ToolContext & { readonly callId: string },
  ): Promise<Outcome>
}

function helperTool(control: TaskControl, helper: Helper): RunningTool {
  const { name, description, properties, effect, modelCalls = 0 } = helper
  const parameters: JsonSchema = Object.freeze({
    type: 'object',
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
  })
  return {
    name,
    kind: 'background',
    offer: { name, description, parameters },
    notice: null,
    effect,
    bound: [],
    immediate: false,
    timeoutMs: 120_000,
    modelCalls,
    check: (args) => checkSchema(parameters, args),
    async invoke({ callId, arguments: args }, context) {
      const id = String(args['task_id'])
      const task = await control.find(context.caller, id)
      if (task === null) return unknownTask(id)
      try {
        return await helper.run(task, args as Record<string, string>, { ...context, callId })
      } catch (error) {
        if (isWitanError(error) && error.code === 'TASK_FINISHED') return over(control, context.caller, id)
        throw error
      }
    },
  }
}

function unknownTask(id: string): Outcome {
  return failed('NOT_FOUND', `unknown task ${id.slice(0, 80)}; use a task_id that one of your own calls gave.`)
}

/** The task ended meanwhile: its result is the answer [E49]. */
async function over(control: TaskControl, caller: Caller, id: string): Promise<Outcome> {
  const task = await control.find(caller, id)
  return task === null ? unknownTask(id) : resultOf(task)
}

/** The state of a task as the result of a tool. */
function resultOf({ forModel, plain }: FoundTask): Outcome {
  const shown = result(standing(plain))
  return plain === forModel ? shown : { ...shown, forModel: standing(forModel) }
}

/** The state of a task, as a model reads it. */
function standing({ taskId: id, status, text, output, error }: Task): Readonly<Record<string, unknown>> {
  const base = { status, task_id: id }
  if (status === 'completed') return { ...base, result: output ?? text }
  if (error === null) return base
  return output === null ? { ...base, error: error.detail } : { ...base, result: output, error: error.detail }
}

const resultTool = (control: TaskControl): RunningTool =>
  helperTool(control, {
    name: 'get_background_sub_agent_result',
    description: 'How a task in the background stands, and its result once it is completed.',
    properties: { task_id: taskId },
    effect: 'none',
    run: async (task) => resultOf(task),
  })

const progressTool = (control: TaskControl): RunningTool =>
  helperTool(control, {
    name: 'fetch_sub_agent_progress',
    description: 'Ask what a task in the background is doing. It is not disturbed by it.',
    properties: { task_id: taskId, question: { type: 'string', description: 'What you want to know.' } },
    effect: 'none',
    modelCalls: 1,
    async run({ plain: task }, { question = '' }, { caller, signal, state }) {
      const { spent, ...progress } = await control.progress(caller, { id: task.taskId, question, state }, signal)
      return { ...result({ text: progress.text, as_of_seq: progress.asOfSeq }), spent: [spent] }
    },
  })

const messageTool = (control: TaskControl): RunningTool =>
  helperTool(control, {
    name: 'message_sub_agent',
    description: 'Tell a task in the background something. It reads it at its next step and then goes on.',
    properties: {
      task_id: taskId,
      message: { type: 'string', description: 'What it should know or do.' },
      mode: { type: 'string', enum: ['send', 'send_and_wait'], description: 'Whether to wait for its reply.' },
    },
    effect: 'keyed',
    async run({ plain: task }, { message = '', mode }, { caller, signal, callId }) {
      const words = { id: task.taskId, text: message, wait: mode === 'send_and_wait', key: callId }
      const { status, reply } = await control.message(caller, words, signal)
      if (status === 'completed') return over(control, caller, task.taskId)
      return result(reply === null ? { status } : { status, reply })
    },
  })

const cancelTool = (control: TaskControl): RunningTool =>
  helperTool(control, {
    name: 'cancel_background_sub_agent',
    description: 'Stop a task in the background, and all that it has started.',
    properties: { task_id: taskId },
    effect: 'keyed',
    async run({ plain: task }, _args, { caller }) {
      await control.cancel(caller, task.taskId)
      return result({ status: 'cancelled', task_id: task.taskId })
    },
  })
