/** The tools with which an agent follows its background tasks, through the conformance kit of tools. */
import { describe } from 'node:test'
import type { Task } from '@witan/protocol'
import { WitanError } from '@witan/protocol'
import { backgroundTools } from '../../edge/background.ts'
import type { TaskControl } from '../../task/control.ts'
import { testTool } from './tool.ts'

const tenant = { name: 'tenant', type: 'string', description: '', policy: 'forbidModelGeneration' } as const

/** Two tasks of an agent, one at work and one over. */
function tasks() {
  const effects: string[] = []
  const taskOf = (id: string, status: Task['status']) => ({
    taskId: id,
    status,
    text: 'Done.',
    output: null,
    error: null,
  })
  const known = new Map([taskOf('t1', 'running'), taskOf('t2', 'completed')].map((task) => [task.taskId, task as Task]))
  const refuseOver = (id: string) => {
    if (id === 't2') throw new WitanError('TASK_FINISHED', 'It is over.', { path: 'task_id', hint: 'Read its result.' })
  }
  const reach: TaskControl = {
    find: async (_, id) => {
      const task = known.get(id)
      return task === undefined ? null : { forModel: task, plain: task }
    },
    async message(_, { id, wait, key }, signal) {
      refuseOver(id)
      effects.push(key)
      if (!wait) return { status: 'saved', reply: null }
      await new Promise<void>((ended) => {
        if (signal.aborted) ended()
        signal.addEventListener('abort', () => ended())
      })
      return { status: 'waiting', reply: null }
    },
    async progress(_, { id }) {
      refuseOver(id)
      const spent = { model: 'm', usage: null, finishReason: 'stop', startedAt: 1 } as const
      return { text: 'It is at work.', asOfSeq: 3, spent }
    },
    async cancel(_, id) {
      refuseOver(id)
      effects.push(id)
    },
  }
  return { source: backgroundTools(reach), effects: () => effects }
}

const inBackground = {
  agent: { id: 'clerk', parameters: [tenant], subAgents: [{ agent: 'helper', blocking: 'never' as const }] },
  open: tasks,
}
const unknown = { comesTo: 'failure', arguments: { task_id: 'x'.repeat(1_000) } } as const

describe('the tools for tasks', () => {
  for (const tool of ['get_background_sub_agent_result', 'cancel_background_sub_agent']) {
    testTool({
      ...inBackground,
      name: tool,
      tool,
      fitting: [
        { arguments: { task_id: 't1' }, comesTo: 'result' },
        { arguments: { task_id: 't2' }, comesTo: 'result' },
        unknown,
      ],
      unfitting: [{}, { task_id: 1 }],
    })
  }

  testTool({
    ...inBackground,
    name: 'fetch_sub_agent_progress',
    tool: 'fetch_sub_agent_progress',
    fitting: [
      { arguments: { task_id: 't1', question: 'How far?' }, comesTo: 'result' },
      { arguments: { task_id: 't2', question: 'How far?' }, comesTo: 'result' },
    ],
    unfitting: [{ task_id: 't1' }, { task_id: 't1', question: null }],
  })

  testTool({
    ...inBackground,
    name: 'message_sub_agent',
    tool: 'message_sub_agent',
    fitting: [
      { arguments: { task_id: 't1', message: 'Hurry.', mode: 'send' }, comesTo: 'result' },
      { arguments: { task_id: 't2', message: 'Hurry.', mode: 'send' }, comesTo: 'result' },
    ],
    unfitting: [{ task_id: 't1', message: 'Hurry.', mode: 'shout' }],
    endless: { task_id: 't1', message: 'Hurry.', mode: 'send_and_wait' },
  })
})
