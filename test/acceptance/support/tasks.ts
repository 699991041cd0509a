/** Tasks as an outside client sees them: the handle that a model read, the doors of a task, and waiting for its end. */
import assert from 'node:assert/strict'
import type { Seen } from './exchange.ts'
import { type Stage, until } from './stage.ts'
import { toolContents } from './transcript.ts'
import type { Conversation, Page, Task, TaskReply } from './wire.ts'
import type { Answer } from './witan.ts'

interface Handle {
  status: string
  task_id: string
  tool_call_id: string
  mode: string
}

/** An edge to an agent whose caller never waits. */
export function background(id: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  return { agent: id, description: `Ask ${id}.`, blocking: 'never', ...more }
}

/** The handles among the tool results that a model read, oldest first. */
export function handlesIn(seen: Seen | undefined): Handle[] {
  return toolContents(seen)
    .filter((content) => content.includes('"non_blocking"'))
    .map((content) => JSON.parse(content) as Handle)
}

/** The id of the task whose handle a model read first. */
export function taskIdIn(seen: Seen | undefined): string {
  const [handle] = handlesIn(seen)
  assert.ok(handle, 'the model read a handle')
  return handle.task_id
}

export interface TaskDoors {
  get(id: string): Promise<Task>
  list(query?: string): Promise<Page<Task>>
  message(id: string, body: Record<string, unknown>): Promise<Answer<TaskReply>>
  progress(id: string, question: string): Promise<Answer<{ text: string; asOfSeq: number }>>
  cancel(id: string): Promise<Answer<unknown>>
  /** Waits until it has that status. */
  reaches(id: string, status: Task['status']): Promise<Task>
  /** Waits until nothing of the conversation is at work: no run, no task. */
  quiet(conversation: string): Promise<Conversation>
}

/** The doors of the tasks of this stage's server. */
export function taskDoors({ witan, conversation }: Stage): TaskDoors {
  const read = async <T>(path: string): Promise<T> => {
    const answer = await witan.call<T>('GET', path)
    assert.equal(answer.status, 200, `${path}: ${answer.text}`)
    return answer.body
  }
  const get = (id: string) => read<Task>(`/api/v1/tasks/${id}`)
  return {
    get,
    list: (query = '') => read(`/api/v1/tasks${query}`),
    message: (id, body) => witan.call('POST', `/api/v1/tasks/${id}/messages`, { body }),
    progress: (id, question) => witan.call('POST', `/api/v1/tasks/${id}/progress`, { body: { question } }),
    cancel: (id) => witan.call('POST', `/api/v1/tasks/${id}/cancel`),
    reaches: (id, status) =>
      until(
        () => get(id),
        (task) => task.status === status,
      ),
    quiet: (id) =>
      until(
        () => conversation(id),
        ({ status, tasks }) => status === 'idle' && tasks.length === 0,
      ),
  }
}
