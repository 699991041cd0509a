/** What A2A asks of a server where tasks are read, listed, cancelled and followed. */
import assert from 'node:assert/strict'
import type { StreamFrame } from './a2a.ts'
import { until } from './stage.ts'
import { type A2aTask, message } from './a2a.ts'
import {
  type Requirement,
  asks,
  ended,
  framesOf,
  isEnd,
  lastState,
  list,
  next,
  reasonOf,
  send,
  value,
  working,
} from './a2a-requirement.ts'

export const reading: readonly Requirement[] = [
  {
    ...{ section: '3.1.3', level: 'MUST', says: 'GetTask gives the state, the artifacts and the history' },
    async check(at) {
      const task = await ended(at)
      assert.deepEqual(value(await at.ask('GetTask', { id: task.id })), task)
    },
  },
  {
    ...{
      section: '3.1.3, 3.3.2, 13.1',
      level: 'MUST',
      says: 'a task that is missing and one of another client are TaskNotFound alike',
    },
    async check(at, other) {
      const { task, finish } = await working(other)
      for (const method of ['GetTask', 'CancelTask', 'SubscribeToTask']) {
        const [foreign, missing] = [await at.ask(method, { id: task.id }), await at.ask(method, { id: 'none' })]
        assert.equal(foreign.reason, 'TASK_NOT_FOUND')
        assert.equal(foreign.text, missing.text)
      }
      finish()
    },
  },
  {
    ...{ section: '3.1.4, 13.1', level: 'MUST', says: 'ListTasks gives the client’s own tasks alone' },
    async check(at, other) {
      const [mine, foreign] = [await ended(at), await ended(other)]
      const ids = (await list(at, { pageSize: 100 })).tasks.map(({ id }) => id)
      assert.deepEqual([ids.includes(mine.id), ids.includes(foreign.id)], [true, false])
      assert.deepEqual((await list(at, { contextId: foreign.contextId })).tasks, [])
    },
  },
  {
    ...{ section: '3.1.4', level: 'MUST', says: 'pages go by a token, which is always there and empty at the end' },
    async check(at) {
      const { contextId } = await ended(at)
      next({ text: 'two' }, { text: 'three' })
      for (const text of ['2', '3']) await send(at, message(text, { contextId }))
      const first = await list(at, { contextId, pageSize: 2 })
      assert.ok(first.nextPageToken !== '')
      const rest = await list(at, { contextId, pageSize: 2, pageToken: first.nextPageToken })
      assert.equal(rest.nextPageToken, '')
      assert.deepEqual([first.pageSize, first.totalSize, first.tasks.length, rest.tasks.length], [2, 3, 2, 1])
      assert.equal(new Set([...first.tasks, ...rest.tasks].map(({ id }) => id)).size, 3)
      assert.equal((await list(at)).pageSize, 50)
    },
  },
  {
    ...{ section: '3.1.4', level: 'MUST', says: 'the list goes by the time of the status, the latest first' },
    async check(at) {
      const { task: first, finish } = await working(at)
      const second = await ended(at)
      finish()
      await until(
        async () => value<A2aTask>(await at.ask('GetTask', { id: first.id })),
        ({ status }) => isEnd(status.state),
      )
      const { tasks } = await list(at, { pageSize: 2 })
      assert.deepEqual(
        tasks.map(({ id }) => id),
        [first.id, second.id],
      )
    },
  },
  {
    ...{ section: '3.1.4', level: 'MUST', says: 'artifacts are left out, unless includeArtifacts asks for them' },
    async check(at) {
      const { contextId } = await ended(at)
      assert.ok((await list(at, { contextId })).tasks.every((task) => !Object.hasOwn(task, 'artifacts')))
      assert.equal((await list(at, { contextId, includeArtifacts: true })).tasks[0]?.artifacts?.length, 1)
    },
  },
  {
    ...{ section: '3.1.4', level: 'MUST', says: 'filters by context, state and time, and a pageSize of 1 to 100' },
    async check(at) {
      const task = await ended(at)
      const { contextId, status } = task
      assert.equal((await list(at, { contextId, status: 'TASK_STATE_COMPLETED' })).totalSize, 1)
      assert.equal((await list(at, { contextId, status: 'TASK_STATE_FAILED' })).totalSize, 0)
      const later = new Date(Date.parse(status.timestamp) + 60_000).toISOString()
      assert.equal((await list(at, { contextId, statusTimestampAfter: later })).totalSize, 0)
      for (const wrong of [
        { pageSize: 0 },
        { pageSize: 101 },
        { pageToken: 'x' },
        { status: 'done' },
        { historyLength: -1 },
      ])
        assert.equal(await reasonOf(at.ask('ListTasks', wrong)), 'INVALID_PARAMS', JSON.stringify(wrong))
    },
  },
  {
    ...{
      section: '3.2.4',
      level: 'MUST',
      says: 'historyLength bounds the history; with 0 there is none; it is in order and what was said',
    },
    async check(at) {
      next(asks, { text: 'nine' })
      const asked = await send(at, message('first'), { historyLength: 0 })
      assert.ok(!Object.hasOwn(asked, 'history'))
      await send(at, message('9', { taskId: asked.id }))
      const read = async (historyLength?: number) =>
        value<A2aTask>(
          await at.ask('GetTask', { id: asked.id, ...(historyLength === undefined ? {} : { historyLength }) }),
        )
      assert.deepEqual(
        (await read()).history?.map(({ role }) => role),
        ['ROLE_USER', 'ROLE_AGENT', 'ROLE_USER'],
      )
      assert.equal((await read()).history?.[0]?.parts[0]?.text, 'first')
      assert.deepEqual([(await read(1)).history?.length, (await read(9)).history?.length], [1, 3])
      assert.ok(!Object.hasOwn(await read(0), 'history'))
    },
  },
  {
    ...{ section: '3.1.5', level: 'MUST', says: 'CancelTask gives the cancelled task, and refuses an ended one' },
    async check(at) {
      const { task, finish } = await working(at)
      assert.equal(value<A2aTask>(await at.ask('CancelTask', { id: task.id })).status.state, 'TASK_STATE_CANCELED')
      finish()
      assert.equal(await reasonOf(at.ask('CancelTask', { id: task.id })), 'TASK_NOT_CANCELABLE')
    },
  },
  {
    ...{
      section: '3.1.7–3.1.11, 3.3.4',
      level: 'MUST',
      says: 'what the card says is not there is refused: push notifications, the extended card',
    },
    async check(at) {
      const { id } = await ended(at)
      for (const deed of ['Create', 'Get', 'Delete'])
        assert.equal(
          await reasonOf(at.ask(`${deed}TaskPushNotificationConfig`, { taskId: id })),
          'PUSH_NOTIFICATION_NOT_SUPPORTED',
        )
      assert.equal(
        await reasonOf(at.ask('ListTaskPushNotificationConfigs', { taskId: id })),
        'PUSH_NOTIFICATION_NOT_SUPPORTED',
      )
      const configuration = { taskPushNotificationConfig: { url: 'https://x.example' } }
      assert.equal(
        await reasonOf(at.ask('SendMessage', { message: message('x'), configuration })),
        'PUSH_NOTIFICATION_NOT_SUPPORTED',
      )
      assert.equal(await reasonOf(at.ask('GetExtendedAgentCard')), 'UNSUPPORTED_OPERATION')
    },
  },
]

export const streaming: readonly Requirement[] = [
  {
    ...{
      section: '3.1.2, 11.7',
      level: 'MUST',
      says: 'a stream begins with the task, goes on in order, and closes at its end or interruption',
    },
    async check(at) {
      next({ text: 'one two three', pieces: 3 }, asks)
      for (const state of ['TASK_STATE_COMPLETED', 'TASK_STATE_INPUT_REQUIRED']) {
        const frames = await framesOf(at.open('SendStreamingMessage', { message: message('x') }))
        assert.ok(frames[0]?.task !== undefined && frames.slice(1).every(({ task }) => task === undefined))
        assert.equal(lastState(frames), state)
      }
    },
  },
  {
    ...{
      section: '3.1.6',
      level: 'MUST',
      says: 'SubscribeToTask begins with the task as it is, closes at its end, and refuses an ended one',
    },
    async check(at) {
      const { task, finish } = await working(at)
      const stream = at.open('SubscribeToTask', { id: task.id })
      const first = (await stream.next()).value
      assert.equal(first?.task?.id, task.id)
      finish()
      assert.equal(lastState(await framesOf(stream)), 'TASK_STATE_COMPLETED')
      assert.equal(await reasonOf(at.ask('SubscribeToTask', { id: task.id })), 'UNSUPPORTED_OPERATION')
    },
  },
  {
    ...{
      section: '3.5.2',
      level: 'MUST',
      says: 'several streams of a task have the same events in order, and one that closes ends no other',
    },
    async check(at) {
      const { task, finish } = await working(at)
      const streams = [0, 1, 2].map(() => at.open('SubscribeToTask', { id: task.id }))
      for (const stream of streams) for (let seen = 0; seen < 2; seen += 1) await stream.next()
      await streams[2]?.return()
      finish()
      const [one, two] = await Promise.all(streams.slice(0, 2).map(framesOf))
      const text = (frames: StreamFrame[] = []) =>
        frames.map(({ artifactUpdate }) => artifactUpdate?.artifact.parts[0]?.text ?? '').join('')
      assert.equal(text(one), text(two))
      assert.deepEqual([lastState(one ?? []), lastState(two ?? [])], ['TASK_STATE_COMPLETED', 'TASK_STATE_COMPLETED'])
    },
  },
]
