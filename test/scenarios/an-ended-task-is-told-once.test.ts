/** Tasks that end while whoever started them ends, too: somebody is told of each, once. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryStore, type ModelRequest, type Store } from '@witan/core'
import { call, lastUserMessage } from '@witan/core/testing'
import type { AnyEvent } from '@witan/protocol'
import { createGate, createStage, type Gate, settle, type Stage, until } from '../support/stage.ts'

type Append = Parameters<Store['append']>[0]

/** A store that has stored at once what `isHeld` says, but tells of it, and of all that comes after it, only when the gate opens. */
function tellingLate(inner: Store, isHeld: (append: Append) => boolean, gate: Gate): Store {
  let told: Promise<unknown> = Promise.resolve()
  const append = (one: Append) => {
    const result = inner.append(one)
    const before = isHeld(one) ? Promise.all([told, gate.opened]) : told
    told = before
    return before.then(() => result)
  }
  return new Proxy(inner, {
    get(target, name) {
      if (name === 'append') return append
      const member: unknown = Reflect.get(target, name, target)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
}

const endsTask = ({ entries }: Append): boolean =>
  entries.some(({ type, body }) => type === 'task' && 'status' in body && body.status === 'completed')

/** How often what models were told names the task. */
function timesTold(events: readonly AnyEvent[], task: string): number {
  const said = events.flatMap(({ type, content }) => (type === 'message' ? [String(content['text'])] : []))
  return said.filter((text) => text.includes(`Task ${task} `)).length
}

test('[I18] [F22] [E55] a task whose end is stored just before its caller would end is told to the caller', async () => {
  const [gate, reads, answers] = [createGate(), createGate(), createGate()]
  const agents = [
    { id: 'root', subAgents: [{ agent: 'mid', description: 'Asks.' }] },
    { id: 'mid', subAgents: [{ agent: 'reader', description: 'Reads.', blocking: 'never' as const }] },
    { id: 'reader' },
  ]
  const store = tellingLate(memoryStore(), endsTask, gate)
  const stage = createStage({
    agents,
    plays: {
      root: (_request, turn) => (turn === 0 ? call('mid', { message: 'have it read' }) : 'mid has it read'),
      mid: (request, turn) => {
        if (lastUserMessage(request).startsWith('[from @reader')) return 'it was read'
        return turn === 0 ? call('reader', { message: 'read' }) : answers.opened.then(() => 'begun')
      },
      reader: () => reads.opened.then(() => 'read it'),
    },
    options: { store },
  })
  const { run } = await stage.runtime.start({ agent: 'root', id: 'chats/1', prompt: 'go' })
  await until(() => stage.seenBy('mid').length === 2 && stage.seenBy('reader').length === 1)
  const [task] = (await stage.runtime.getConversation('chats/1')).tasks
  assert.ok(task)
  reads.open()
  await until(async () => (await store.getJob('default', task.taskId))?.status === 'completed')
  // The task's end is stored, and its caller, which has not heard of it, has its answer: that waits for the end [O2].
  answers.open()
  await settle(20)
  assert.equal(stage.seenBy('root').length, 1)
  gate.open()
  assert.equal((await run?.result)?.usage.modelCalls, 6, 'the root twice, its caller three times, and the task once')
  await until(async () => (await stage.runtime.getConversation('chats/1')).status === 'idle')
  assert.equal(stage.seenBy('root').length, 2)
  assert.equal(timesTold(await stage.events('chats/1'), task.taskId), 1)
  await stage.runtime.close()
})

/** A root whose clerk, at work in the background, has a reader in the background; the clerk then thinks until the gate opens. */
function clerkWithReader(thinks: Gate): Stage {
  const inBackground = (agent: string) => ({ agent, description: 'Works.', blocking: 'never' as const })
  return createStage({
    agents: [
      { id: 'root', subAgents: [inBackground('clerk')] },
      { id: 'clerk', subAgents: [inBackground('reader')] },
      { id: 'reader' },
    ],
    plays: {
      root: (request, turn) => {
        if (lastUserMessage(request).startsWith('[from ')) return 'heard'
        return turn === 0 ? call('clerk', { message: 'have it read' }) : 'begun'
      },
      clerk: (_request, turn) =>
        turn === 0 ? call('reader', { message: 'read' }) : thinks.opened.then(() => new Error('broke')),
      reader: () => 'read it',
    },
  })
}

/** Waits until the reader's end was told to the clerk, who has not read it; gives the ids of both tasks, the clerk's first. */
async function untilUnread({ runtime }: Stage): Promise<readonly [string, string]> {
  await until(async () => (await runtime.tasks.list()).items.some(({ status }) => status === 'completed'))
  const { items } = await runtime.tasks.list()
  const idOf = (agent: string) => items.find((one) => one.agent === agent)?.taskId ?? ''
  return [idOf('clerk'), idOf('reader')]
}

const idle = (stage: Stage) => async () => (await stage.runtime.getConversation('chats/1')).status === 'idle'

test('[F22] [E57] what a task had heard of its own task, and not read, is told when it is cancelled', async () => {
  const stage = clerkWithReader(createGate())
  await stage.ask('root', 'go', { id: 'chats/1' })
  const [clerk, reader] = await untilUnread(stage)
  await stage.runtime.tasks.cancel(clerk)
  await until(() => stage.seenBy('root').length === 3)
  await until(idle(stage))
  const events = await stage.events('chats/1')
  assert.equal(events.filter(({ content }) => content['hidden'] === true).length, 1)
  assert.equal(timesTold(events, clerk), 0)
  assert.match(
    lastUserMessage(stage.seenBy('root')[2] as ModelRequest),
    new RegExp(`Task ${reader} is completed: read it$`),
  )
  await stage.runtime.close()
})

test('[F22] what a task had heard of its own task, and not read, is told together with its failure', async () => {
  const thinks = createGate()
  const stage = clerkWithReader(thinks)
  await stage.ask('root', 'go', { id: 'chats/1' })
  const ids = await untilUnread(stage)
  thinks.open()
  await until(() => stage.seenBy('root').length === 3)
  await until(idle(stage))
  const events = await stage.events('chats/1')
  assert.equal(events.filter(({ content }) => content['hidden'] === true).length, 1)
  const heard = lastUserMessage(stage.seenBy('root')[2] as ModelRequest)
  for (const id of ids) assert.equal(heard.split(`Task ${id} `).length, 2)
  await stage.runtime.close()
})
