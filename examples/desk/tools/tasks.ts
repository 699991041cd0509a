/** What the agent `tasks` can change: add a task, complete one, move one to another day or person. A person approves each. */
import { DatabaseSync } from 'node:sqlite'
import { createHash } from 'node:crypto'
import { defineTool, type FunctionTool } from '@witan/core'
import { z } from 'zod'
import { hasHidden } from '../files/plain.ts'
import { people } from '../world.ts'

const id = z.string().max(40).describe('The id of a task, such as t-3.')
const title = z
  .string()
  .min(3)
  .max(200)
  .refine((text) => !hasHidden(text), 'must be one line without hidden characters')
const assignee = z.enum(people.map((one) => one.id) as [string, ...string[]])
const due = z.iso.date()

/** The tools over the database of tasks. */
export function taskTools(file: string): readonly FunctionTool[] {
  return [
    defineTool({
      name: 'add_task',
      description: 'Adds a task.',
      parameters: z.object({ title, assignee, due }),
      effect: 'keyed',
      execute(task, { callId }) {
        const made = `t-${createHash('sha256').update(callId).digest('hex').slice(0, 8)}`
        const sql = `insert into tasks (id, title, assignee, due, status) select ?, ?, ?, ?, 'open' where not exists (select 1 from tasks where id = ?)`
        change(file, sql, [made, task.title, task.assignee, task.due, made])
        return { id: made }
      },
    }),
    defineTool({
      name: 'complete_task',
      description: 'Marks a task as done.',
      parameters: z.object({ id }),
      effect: 'keyed',
      execute: (task) => changed(task.id, change(file, `update tasks set status = 'done' where id = ?`, [task.id])),
    }),
    defineTool({
      name: 'change_task',
      description: 'Gives a task to somebody else, moves it to another day, or both.',
      parameters: z.object({ id, assignee: assignee.optional(), due: due.optional() }),
      effect: 'keyed',
      execute(task) {
        const sql = 'update tasks set assignee = coalesce(?, assignee), due = coalesce(?, due) where id = ?'
        return changed(task.id, change(file, sql, [task.assignee ?? null, task.due ?? null, task.id]))
      },
    }),
  ]
}

/** Runs one statement, and says how many rows it changed. */
function change(file: string, sql: string, values: readonly (string | null)[]): number {
  const database = new DatabaseSync(file, { timeout: 20 })
  try {
    return Number(database.prepare(sql).run(...values).changes)
  } finally {
    database.close()
  }
}

function changed(task: string, rows: number): { readonly changed: string } {
  if (rows === 0) throw new Error('there is no task of that id')
  return { changed: task }
}
