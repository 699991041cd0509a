/** The script of the agent `tasks`. */
import { today } from '../world.ts'
import { lines, one, playing, type Result, rowsOf, type Steps } from './play.ts'
import { daysIn, peopleIn } from './words.ts'

const added = /\b(?:add|create|new|make)\b.*?\btask\b[^:“"]*[:“"] ?(.+?)["”]?$/i
const addedTo =
  /\b(?:add|create|make) (?:a|the|me a)? ?(?:new )?task(?: for (\w+))? to (.+?)(?: (?:by|until|on|due) .+)?[.!]?$/i
const done = /\b(complete|finish|close|done|tick off)\b/i
const moved = /\b(move|postpone|reschedule|assign|give|hand)\b/i

/** Lists tasks, adds one, completes one, or moves one to another day or person. */
export const tasksScript = playing(function* ({ message }): Steps {
  const [, , toDo] = addedTo.exec(message) ?? []
  const [, titled] = added.exec(message) ?? []
  const title = (titled ?? toDo ?? '').replace(/[.!]$/, '')
  const [who] = peopleIn(message.replace(title, ' ')).filter((_, at, all) => all.length === 1 || at > 0)
  if (title !== '') {
    const due = daysIn(message)?.to ?? today
    const result = yield* one('add_task', { title, assignee: who?.id ?? 'nora', due })
    return result.error === null ? `Added: “${title}” for ${who?.id ?? 'nora'}, due ${due}.` : refused(result)
  }
  if (done.test(message) || moved.test(message)) return yield* changes(message)
  if (/\b(delete|remove)\b/i.test(message)) return 'I can add, complete and move tasks, and delete none.'
  if (/\boverdue|late\b/i.test(message)) {
    const rows = rowsOf(yield* one('open_tasks', { assignee: 'all' })).filter(({ due }) => String(due) < today)
    return rows.length === 0 ? 'No task is overdue.' : `Overdue:\n${listed(rows)}`
  }
  const whose = peopleIn(message)
  const rows = rowsOf(yield* one('open_tasks', { assignee: whose.length === 1 ? whose[0]?.id : 'all' }))
  return rows.length === 0 ? 'There are no open tasks.' : `Open tasks:\n${listed(rows)}`
})

/** How a task is named: by its id, by words in quotes, or by what it is about. */
const named = [
  /\b(t-\w+)\b/,
  /[“"](.+?)[”"]/,
  /\babout (?:the )?(\w+)/i,
  /\btask ([\w ]+?)(?: (?:to|as|is|until)\b|[.!]|$)/i,
]

function* changes(message: string): Steps {
  const words = named.map((pattern) => pattern.exec(message)?.[1]).find((found) => found !== undefined)
  if (words === undefined) return 'Which task? Name its id, such as t-3, or words of its title in quotes.'
  const rows = rowsOf(yield* one('find_tasks', { words }))
  const [task] = rows
  if (task === undefined) return `There is no task “${words}”.`
  if (rows.length > 1) return `Several tasks fit “${words}”; name one by its id:\n${listed(rows)}`
  if (done.test(message)) {
    const result = yield* one('complete_task', { id: task['id'] })
    return result.error === null ? `Done: ${task['id']}, “${task['title']}”.` : refused(result)
  }
  const [due, assignee] = [daysIn(message)?.to, peopleIn(message.replace(/\bmy\b/gi, '')).at(-1)?.id]
  if (due === undefined && assignee === undefined) return 'To which day, or to whom?'
  const result = yield* one('change_task', {
    id: task['id'],
    ...(due === undefined ? {} : { due }),
    ...(assignee === undefined ? {} : { assignee }),
  })
  return result.error === null
    ? `Changed: ${task['id']}, “${task['title']}”${assignee === undefined ? '' : `, now of ${assignee}`}${due === undefined ? '' : `, due ${due}`}.`
    : refused(result)
}

function refused({ error }: Result): string {
  return `Nothing was changed: ${error}.`
}

function listed(rows: ReturnType<typeof rowsOf>): string {
  return lines(
    rows,
    ({ id, title, assignee, due, status }) =>
      `${id}: ${title} (${assignee}, due ${due}${status === 'done' ? ', done' : ''})`,
  )
}
