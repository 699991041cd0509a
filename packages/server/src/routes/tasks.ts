/** Tasks: list, read, message, ask for progress, cancel. */
import {
  taskMessageSchema,
  taskProgressSchema,
  taskQuestionSchema,
  taskReplySchema,
  taskSchema,
} from '@witan/protocol/schemas'
import { z } from 'zod'
import { defineRoute, param, type Route } from '../route.ts'
import { waitFor } from '../wait.ts'
import { given, pageOf, pageQuery } from './paging.ts'

const tag = 'tasks'
const cancelledSchema = z.object({ taskId: z.string() })

/** Everything under /api/v1/tasks. */
export const taskRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/tasks',
    name: 'listTasks',
    tag,
    summary: 'Lists the tasks of all conversations, the newest first.',
    query: z.strictObject(pageQuery),
    answers: { 200: { schema: pageOf(taskSchema), description: 'A page of tasks.' } },
    handle: async ({ witan, query }) => ({ status: 200, body: await witan.tasks.list(given(query)) }),
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/tasks/{id}',
    name: 'getTask',
    tag,
    summary: 'The state of a task, and its result once it has ended.',
    answers: { 200: { schema: taskSchema, description: 'The task.' } },
    handle: async (call) => ({ status: 200, body: await call.witan.tasks.get(param(call, 'id')) }),
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/tasks/{id}/messages',
    name: 'messageTask',
    tag,
    summary: 'Sends a message to a live task, which reads it at its next step; may wait for its reply.',
    body: taskMessageSchema,
    answers: { 200: { schema: taskReplySchema, description: 'The message is stored; the reply so far.' } },
    handle: async (call) => {
      const { noted: _, made: __, ...noting } = call.keyed
      const said = call.witan.tasks.message(param(call, 'id'), call.body, noting)
      // A server that stops has stored the message and waits no longer.
      const reply = await waitFor(said, call.halt)
      return { status: 200, body: reply ?? { status: 'waiting', reply: null } }
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/tasks/{id}/progress',
    name: 'askTask',
    tag,
    summary:
      'Asks what a live task is doing. A model call of its own answers from the log; the task learns nothing of it.',
    body: taskQuestionSchema,
    answers: { 200: { schema: taskProgressSchema, description: 'The answer, from the log up to that seq.' } },
    handle: async (call) => ({ status: 200, body: await call.witan.tasks.progress(param(call, 'id'), call.body) }),
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/tasks/{id}/cancel',
    name: 'cancelTask',
    tag,
    summary: 'Cancels a live task and everything below it.',
    body: z.strictObject({}),
    bodyOptional: true,
    answers: { 202: { schema: cancelledSchema, description: 'The cancel is stored.' } },
    handle: async (call) => {
      const taskId = param(call, 'id')
      await call.witan.tasks.cancel(taskId)
      return { status: 202, body: { taskId } }
    },
  }),
]
