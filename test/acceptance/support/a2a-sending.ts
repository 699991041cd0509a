/** What A2A asks of a server where a message is sent. */
import assert from 'node:assert/strict'
import { message } from './a2a.ts'
import {
  type Requirement,
  asks,
  ended,
  framesOf,
  isEnd,
  list,
  next,
  reasonOf,
  send,
  stageNow,
  working,
} from './a2a-requirement.ts'

export const sending: readonly Requirement[] = [
  {
    ...{ section: '3.1.1', level: 'MUST', says: 'SendMessage gives a task or a message' },
    async check(at) {
      const task = await ended(at)
      assert.ok(task.id !== '' && task.contextId !== '' && isEnd(task.status.state))
    },
  },
  {
    ...{
      section: '3.1.1',
      level: 'MUST',
      says: 'a message to an ended task is UnsupportedOperation, also as a stream',
    },
    async check(at) {
      const { id: taskId } = await ended(at)
      for (const method of ['SendMessage', 'SendStreamingMessage'])
        assert.equal(await reasonOf(at.ask(method, { message: message('x', { taskId }) })), 'UNSUPPORTED_OPERATION')
    },
  },
  {
    ...{
      section: '3.1.1',
      level: 'MUST',
      says: 'a media type that the agent does not take is ContentTypeNotSupported',
    },
    async check(at) {
      const part = { raw: 'dGVzdA==', mediaType: 'application/x-nobody-takes-this' }
      for (const method of ['SendMessage', 'SendStreamingMessage'])
        assert.equal(await reasonOf(at.ask(method, { message: message([part]) })), 'CONTENT_TYPE_NOT_SUPPORTED')
    },
  },
  {
    ...{ section: '3.2.2', level: 'MUST', says: 'SendMessage waits until the task has ended or is interrupted' },
    async check(at) {
      next(asks)
      assert.equal((await send(at, message('x'))).status.state, 'TASK_STATE_INPUT_REQUIRED')
      assert.ok(isEnd((await ended(at)).status.state))
    },
  },
  {
    ...{ section: '3.2.2', level: 'MUST', says: 'with returnImmediately it gives the task at once' },
    async check(at) {
      const { task, finish } = await working(at)
      assert.equal(task.status.state, 'TASK_STATE_WORKING')
      finish()
    },
  },
  {
    ...{ section: '3.2.1', level: 'SHOULD', says: 'an answer has only modes of acceptedOutputModes' },
    async check(at) {
      const rows: readonly (readonly [modes: string[], part: object])[] = [
        [['text/plain; charset=utf-8'], { text: 'an answer' }],
        [['image/png', 'TEXT/*'], { text: 'an answer' }],
        [['application/json'], { data: 'an answer' }],
        [['*/*'], { text: 'an answer' }],
        [[], { text: 'an answer' }],
      ]
      for (const [acceptedOutputModes, part] of rows) {
        next({ text: 'an answer', pieces: 3 }, { text: 'an answer', pieces: 3 })
        const configuration = { acceptedOutputModes }
        assert.deepEqual((await send(at, message('x'), configuration)).artifacts?.[0]?.parts, [part])
        const frames = await framesOf(at.open('SendStreamingMessage', { message: message('x'), configuration }))
        const parts = frames.flatMap(({ artifactUpdate }) => artifactUpdate?.artifact.parts ?? [])
        if ('data' in part) assert.deepEqual(parts, [part])
        else assert.ok(parts.every((one) => one.text !== undefined && one.data === undefined))
      }
      for (const [modes, reason] of [
        [['image/png', 'text'], 'CONTENT_TYPE_NOT_SUPPORTED'],
        ['text/plain', 'INVALID_PARAMS'],
        [[1], 'INVALID_PARAMS'],
        [Array(101).fill('text/plain'), 'INVALID_PARAMS'],
      ])
        for (const method of ['SendMessage', 'SendStreamingMessage']) {
          const params = { message: message('x'), configuration: { acceptedOutputModes: modes } }
          assert.equal(await reasonOf(at.ask(method, params)), reason)
        }
    },
  },
  {
    ...{ section: '3.3.1', level: 'MAY', says: 'a messageId that was used gives the same task' },
    async check(at) {
      next({ text: 'once' })
      const sent = message('x')
      assert.equal((await send(at, sent)).id, (await send(at, sent)).id)
    },
  },
  {
    ...{
      section: '3.4.1',
      level: 'MUST',
      says: 'a context that the agent made stands in its answer, and groups what follows',
    },
    async check(at) {
      const { contextId } = await ended(at)
      next({ text: 'more' })
      assert.equal((await send(at, message('x', { contextId }))).contextId, contextId)
    },
  },
  {
    ...{
      section: '3.4.1',
      level: 'MUST',
      says: 'a context that the agent does not take is refused, and none is made in its place',
    },
    async check(at) {
      const before = (await list(at)).totalSize
      assert.equal(
        await reasonOf(at.ask('SendMessage', { message: message('x', { contextId: 'mine' }) })),
        'TASK_NOT_FOUND',
      )
      assert.equal((await list(at)).totalSize, before)
    },
  },
  {
    ...{
      section: '3.4.2',
      level: 'MUST',
      says: 'each new task has an id of its own, and an unknown taskId is TaskNotFound',
    },
    async check(at) {
      assert.notEqual((await ended(at)).id, (await ended(at)).id)
      for (const method of ['SendMessage', 'SendStreamingMessage'])
        assert.equal(await reasonOf(at.ask(method, { message: message('x', { taskId: 'none' }) })), 'TASK_NOT_FOUND')
    },
  },
  {
    ...{ section: '3.4.3', level: 'MUST', says: 'the context follows from the taskId, and another one is refused' },
    async check(at) {
      next(asks, { text: 'nine' })
      const { id: taskId, contextId } = await send(at, message('x'))
      const other = await ended(at)
      next({ text: 'nine' })
      const wrong = message('9', { taskId, contextId: other.contextId })
      assert.equal(await reasonOf(at.ask('SendMessage', { message: wrong })), 'INVALID_PARAMS')
      const done = await send(at, message('9', { taskId }))
      assert.deepEqual([done.id, done.contextId, done.status.state], [taskId, contextId, 'TASK_STATE_COMPLETED'])
    },
  },
  {
    ...{ section: '3.4.3', level: 'SHOULD', says: 'tasks of referenceTaskIds are understood', differs: true },
    async check(at, other) {
      const { id, contextId } = await ended(at, 'a word of the first task')
      next({ text: 'ok' })
      await send(at, { ...message('x', { contextId }), referenceTaskIds: [id] })
      const read = JSON.stringify(stageNow().model.of('docs').at(-1)?.body.messages)
      assert.ok(read.includes('a word of the first task'))
      const [elsewhere, foreign] = [await ended(at), await ended(other)]
      const before = (await list(at)).totalSize
      for (const [more, referenceTaskIds, reason] of [
        [{}, [id], 'UNSUPPORTED_OPERATION'],
        [{ contextId }, [id, elsewhere.id], 'UNSUPPORTED_OPERATION'],
        [{ contextId }, [foreign.id], 'TASK_NOT_FOUND'],
        [{ contextId }, ['none'], 'TASK_NOT_FOUND'],
        [{ contextId }, id, 'INVALID_PARAMS'],
        [{ contextId }, [{}], 'INVALID_PARAMS'],
        [{ contextId }, Array(21).fill(id), 'INVALID_PARAMS'],
      ] as const)
        for (const method of ['SendMessage', 'SendStreamingMessage']) {
          const sent = { ...message('x', more), referenceTaskIds }
          assert.equal(await reasonOf(at.ask(method, { message: sent })), reason, JSON.stringify(referenceTaskIds))
        }
      assert.equal((await list(at)).totalSize, before, 'nothing was stored')
    },
  },
  {
    ...{ section: '3.7', level: 'SHOULD', says: 'results are artifacts, not messages' },
    async check(at) {
      const task = await ended(at, 'the result')
      assert.equal(task.artifacts?.[0]?.parts[0]?.text, 'the result')
      assert.equal(task.status.message, undefined)
    },
  },
]
