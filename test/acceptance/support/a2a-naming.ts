/** Under which names A2A has its fields read. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { A2aTask } from './a2a.ts'
import { type Listed, type Requirement, ended, next, reasonOf, send, value, working } from './a2a-requirement.ts'

/** A message whose fields have the names of the Protocol Buffers. */
const message = (more: object = {}) => ({
  message_id: randomUUID(),
  role: 'ROLE_USER',
  parts: [{ text: 'x' }],
  ...more,
})

export const naming: readonly Requirement[] = [
  {
    ...{
      section: '5.5',
      level: 'MAY',
      says: 'a field is read under its name in the Protocol Buffers too, as in ProtoJSON',
    },
    async check(at) {
      const first = await ended(at)
      next({ text: 'two' })
      const sent = message({ context_id: first.contextId })
      const second = await send(at, sent, { history_length: 0, accepted_output_modes: ['application/json'] })
      assert.equal(second.contextId, first.contextId)
      assert.deepEqual([second.history, second.artifacts?.[0]?.parts], [undefined, [{ data: 'two' }]])
      assert.equal((await send(at, sent)).id, second.id)
      const none = value<A2aTask>(await at.ask('GetTask', { id: second.id, history_length: 0 }))
      assert.equal(none.history, undefined)
      const page = { context_id: first.contextId, page_size: 1, include_artifacts: true, history_length: 1 }
      const { tasks, totalSize, nextPageToken } = value<Listed>(await at.ask('ListTasks', page))
      assert.deepEqual([tasks.length, totalSize, tasks[0]?.artifacts?.length, tasks[0]?.history?.length], [1, 2, 1, 1])
      const rest = value<Listed>(await at.ask('ListTasks', { ...page, page_token: nextPageToken }))
      assert.deepEqual([rest.tasks.length, rest.nextPageToken], [1, ''])
      const later = { status_timestamp_after: '2100-01-01T00:00:00Z' }
      assert.deepEqual(value<Listed>(await at.ask('ListTasks', later)).tasks, [])
    },
  },
  {
    ...{
      section: '5.5',
      level: 'MAY',
      says: 'what is refused under one name is refused under the other; that of JSON goes first',
    },
    async check(at) {
      const { id, contextId } = await ended(at)
      const part = { raw: 'dGVzdA==', media_type: 'application/x-nobody-takes-this' }
      const rows: readonly (readonly [reason: string, sent: object, configuration?: object])[] = [
        ['UNSUPPORTED_OPERATION', message({ task_id: id })],
        ['TASK_NOT_FOUND', message({ task_id: 'none' })],
        ['TASK_NOT_FOUND', message({ context_id: 'none' })],
        ['TASK_NOT_FOUND', message({ contextId: 'none', context_id: contextId })],
        ['TASK_NOT_FOUND', message({ reference_task_ids: ['none'] })],
        ['CONTENT_TYPE_NOT_SUPPORTED', message({ parts: [part] })],
        ['INVALID_PARAMS', message({ message_id: '' })],
        ['INVALID_PARAMS', message(), { return_immediately: 'soon' }],
        ['PUSH_NOTIFICATION_NOT_SUPPORTED', message(), { task_push_notification_config: { url: 'https://a.example' } }],
      ]
      for (const [reason, sent, configuration] of rows)
        assert.equal(
          await reasonOf(at.ask('SendMessage', { message: sent, configuration })),
          reason,
          JSON.stringify(sent),
        )
      const { task, finish } = await working(at)
      assert.equal((await send(at, message({ task_id: task.id }), { return_immediately: true })).id, task.id)
      finish()
    },
  },
]
