/** Tasks, from the database of the office: everybody may look, and each change waits for an approval. */
import { type Agent, defineAgent } from '@witan/core'
import type { ModelFor } from '../model.ts'
import { tasksScript } from '../scripts/tasks.ts'
import { taskTools } from '../tools/tasks.ts'
import { people, setting } from '../world.ts'
import { fields } from './schema.ts'

export const tasksAgent = (model: ModelFor, office: string): Agent =>
  defineAgent({
    id: 'tasks',
    name: 'Tasks',
    description: 'Knows the tasks of the colleagues; adds, completes and moves tasks once a person has approved.',
    model: model('tasks', tasksScript),
    instructions: `${setting}
You keep the list of tasks. Look a task up before you change it. Each change waits for the approval of a person.`,
    queries: [
      {
        name: 'open_tasks',
        description: 'The open tasks of one person, or of all, the most urgent first.',
        source: 'office',
        query: `select id, title, assignee, due from tasks where status = 'open' and ($assignee = 'all' or assignee = $assignee) order by due, id limit 50`,
        parametersSchema: fields({ assignee: { enum: ['all', ...people.map(({ id }) => id)] } }),
      },
      {
        name: 'find_tasks',
        description: 'Tasks by their id, or by words of their title, done ones too.',
        source: 'office',
        query: `select id, title, assignee, due, status from tasks
          where id = $words or instr(lower(title), lower($words)) > 0 order by status desc, due limit 20`,
        parametersSchema: fields({ words: { type: 'string', minLength: 1, maxLength: 200 } }),
      },
    ],
    tools: taskTools(office),
    approvals: ['add_task', 'complete_task', 'change_task'],
    hooks: ['audit'],
  })
