/** Tasks over HTTP, as plain calls: work that its parent does not wait for. */
import type { Task, TaskProgress, TaskReply } from '@witan/protocol'
import { eachItem, type Page, type PageQuery } from './page.ts'
import { segment, type Transport } from './transport.ts'

/** A message to a task. `send_and_wait` waits for its reply, by default 30 s and at most 600. */
export interface TaskWords {
  readonly text: string
  readonly mode?: 'send' | 'send_and_wait'
  readonly timeoutSeconds?: number
}

/** Tasks by id. All but reads refuse one that has ended with `TASK_FINISHED`. */
export interface Tasks {
  /** Those of all conversations, the newest first. */
  list(query?: PageQuery): Promise<Page<Task>>
  all(query?: PageQuery): AsyncGenerator<Task, void, undefined>
  get(taskId: string): Promise<Task>
  /** Sends a message, which the task reads at its next step; a plain text is only sent. `signal` ends the wait; the message stays. */
  message(taskId: string, words: string | TaskWords, options?: { readonly signal?: AbortSignal }): Promise<TaskReply>
  /** Asks for its progress: a separate model call answers from the log; the task does not see the question. */
  progress(taskId: string, question: string, options?: { readonly signal?: AbortSignal }): Promise<TaskProgress>
  /** Asks it to stop, with all below it. */
  cancel(taskId: string): Promise<void>
}

/** The task calls over one transport. */
export function taskCalls(transport: Transport): Tasks {
  const list = (query: PageQuery = {}): Promise<Page<Task>> =>
    transport.json('GET', '/api/v1/tasks', { query: { ...query } })
  const at = (taskId: string) => `/api/v1/tasks/${segment(taskId)}`
  return {
    list,
    all: (query) => eachItem(list, query),
    get: (taskId) => transport.json('GET', at(taskId)),
    message: (taskId, words, { signal } = {}) => {
      const body = typeof words === 'string' ? { text: words } : words
      return transport.json('POST', `${at(taskId)}/messages`, { body, signal })
    },
    progress: (taskId, question, { signal } = {}) =>
      transport.json('POST', `${at(taskId)}/progress`, { body: { question }, signal }),
    cancel: async (taskId) => {
      await transport.json('POST', `${at(taskId)}/cancel`, { body: {} })
    },
  }
}
