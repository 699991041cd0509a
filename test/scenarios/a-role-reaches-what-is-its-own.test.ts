/** Roles in the library: what each principal reaches of a conversation and of all that belongs to it; the rest is as if it were missing. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Principal, Witan } from '@witan/core'
import { call } from '@witan/core/testing'
import type { DatabaseId, WitanError } from '@witan/protocol'
import { createStage, type Stage, until } from '../support/stage.ts'

const as = (id: string, ...roles: string[]): Principal => ({
  database: 'default' as DatabaseId,
  id,
  roles,
  address: null,
})
const maker = as('user:maker', 'run', 'staff')
const key = as('key:k1', 'run')
const people = [{ id: 'bob' }, { id: 'carl' }, { id: 'fred' }]

/** A conversation of `maker` with bob in it, whom carl has left; a run that waits for an action, and a task that waits for another. */
async function lived(by: Principal = maker): Promise<{ stage: Stage; ids: Ids }> {
  const stage = createStage({
    agents: [
      {
        id: 'root',
        parameters: [{ name: 'secret', sendToModel: false }],
        actions: [{ name: 'Ask' }],
        subAgents: [{ agent: 'clerk', blocking: 'never' }],
      },
      { id: 'clerk', actions: [{ name: 'Look' }] },
    ],
    plays: {
      root: (_, turn) => (turn === 0 ? call('clerk', { message: 'go' }) : turn === 1 ? call('Ask') : 'done'),
      clerk: (_, turn) => (turn === 0 ? call('Look') : 'seen'),
    },
  })
  const start = { agent: 'root', id: 'chats/1', users: people, parameters: { secret: 'sec-7' }, prompt: 'go' }
  const opened = await stage.runtime.as(by).start(start)
  await opened.run?.result
  await until(async () => (await stage.runtime.listInterruptions()).items.length === 2)
  await stage.runtime.removeParticipant('chats/1', 'carl')
  const { tasks, runs } = await stage.runtime.getConversation('chats/1')
  const [open] = (await stage.runtime.listInterruptions()).items.filter(({ path }) => path === 'Ask')
  const ids = { conversation: 'chats/1', run: runs[0]?.runId ?? '', task: tasks[0]?.taskId ?? '', open: open?.id ?? '' }
  return { stage, ids }
}

type Ids = Readonly<Record<'conversation' | 'run' | 'task' | 'open', string>>
type Act = (witan: Witan, ids: Ids) => Promise<unknown>

const first = async (events: AsyncIterable<unknown>): Promise<void> => {
  for await (const _ of events) return
}
const prompt =
  (more: object): Act =>
  (witan, { conversation }) =>
    witan.run(conversation, { prompt: 'more', ...more })

const reads: Readonly<Record<string, Act>> = {
  conversation: (witan, { conversation }) => witan.getConversation(conversation),
  runs: (witan, { conversation }) => witan.listRuns(conversation),
  people: (witan, { conversation }) => witan.listParticipants(conversation),
  document: (witan, { conversation }) => witan.getDocument(conversation),
  'document below': (witan, { conversation }) => witan.getDocument(`${conversation}/clerk`),
  artifacts: (witan, { conversation }) => witan.artifacts.list(conversation),
  events: (witan, { conversation }) => witan.readEvents(conversation),
  stream: (witan, { conversation }) => first(witan.followEvents(conversation, { signal: AbortSignal.timeout(60_000) })),
  'live run': (witan, { conversation }) => witan.liveRun(conversation),
  run: (witan, { run }) => witan.getRun(run),
  exchanges: (witan, { run }) => witan.getExchanges(run),
  diagram: (witan, { run }) => witan.getDiagram(run),
  result: async (witan, { run }) => (await witan.followRun(run)).result,
  task: (witan, { task }) => witan.tasks.get(task),
}
const speaks: Readonly<Record<string, Act>> = { 'a prompt': prompt({}) }
const controls: Readonly<Record<string, Act>> = {
  'a person more': (witan, { conversation }) => witan.addParticipant(conversation, { id: 'dora' }),
  'a person less': (witan, { conversation }) => witan.removeParticipant(conversation, 'fred'),
  'a message to a task': (witan, { task }) => witan.tasks.message(task, { text: 'hi', mode: 'send' }),
  'a question about a task': (witan, { task }) => witan.tasks.progress(task, { question: 'so?' }),
  fork: (witan, { conversation }) => witan.forkConversation(conversation, { seq: 0 }),
  'what agents seem to have called': prompt({
    artificialActions: [{ name: 'Ask', response: 1 }],
    cancelPendingActions: true,
  }),
  'an end of pending actions': prompt({ cancelPendingActions: true }),
  'a prompt that interrupts': prompt({ onActive: 'interrupt' }),
  'a prompt that cancels when its reader goes': prompt({ onDisconnect: 'cancel' }),
  'the end of a task': (witan, { task }) => witan.tasks.cancel(task),
  'the end of a run': async (witan, { run }) => witan.cancelRun(run),
  delete: (witan, { conversation }) => witan.deleteConversation(conversation),
}
const all = { ...reads, ...speaks, ...controls }

const missing: Ids = { conversation: 'chats/9', run: 'c_9', task: 'c_9', open: 'i_9' }

/** How an act ends: as if nothing were there, or in any other way, which need not be a success. */
async function reached(act: Act, { witan, ids }: { witan: Witan; ids: Ids }): Promise<boolean> {
  const told = await refusal(act(witan, ids), ids)
  const nothing = await refusal(act(witan, missing), missing)
  if (told === 'done' || !told.includes('NOT_FOUND')) return true
  assert.equal(told, nothing)
  return false
}

async function refusal(work: Promise<unknown>, ids: Ids): Promise<string> {
  try {
    await work
    return 'done'
  } catch (error) {
    const { name, code, message, path, hint, details } = error as Record<string, unknown>
    let text = JSON.stringify({ name, code, message, path, hint, details })
    for (const [kind, id] of Object.entries(ids)) text = text.replaceAll(id, `<${kind}>`)
    return text.replaceAll(/<run>|<task>/g, '<job>')
  }
}

const none: readonly string[] = []
const callers: readonly (readonly [who: Principal, reaches: readonly string[]])[] = [
  [as('key:a', 'admin'), Object.keys(all)],
  [maker, Object.keys(all)],
  [as('user:maker'), none],
  [as('user:maker', 'answer', 'staff'), none],
  [as('user:eve', 'read'), Object.keys(reads)],
  [as('user:bob'), [...Object.keys(reads), ...Object.keys(speaks)]],
  [as('user:bob', 'run', 'answer', 'read'), [...Object.keys(reads), ...Object.keys(speaks)]],
  [as('user:carl', 'run', 'answer'), none],
  [as('key:bob', 'run'), none],
  [as('bob', 'run'), none],
  [as('user:eve', 'run', 'answer', 'Admin', 'READ', ' admin', 'staff'), none],
  [as('user:eve', 'answer'), none],
  [as('user:eve'), none],
]

test('[R11] [R45] [D17] each principal reaches what its roles and its conversations give; the rest is as if it were missing', async () => {
  for (const [who, expected] of callers) {
    for (const [name, act] of Object.entries(all)) {
      const { stage, ids } = await lived()
      const isReached = await reached(act, { witan: stage.runtime.as(who), ids })
      assert.equal(isReached, expected.includes(name), `${name} for ${who.id} as ${who.roles.join()}`)
      await stage.runtime.close()
    }
  }
})

test('[R11] [D17] a fork and a start onto the id of a conversation out of reach say the same', async () => {
  const { stage } = await lived()
  const eve = stage.runtime.as(as('user:eve', 'run'))
  await (await eve.start({ agent: 'root', id: 'own/1', prompt: 'go' })).run?.result
  const told = async (work: Promise<unknown>) =>
    work.then(
      () => 'done',
      ({ code, message, path, hint }: WitanError) => JSON.stringify([code, message, path, hint]),
    )
  const fork = (witan: typeof eve, id: string) => told(witan.forkConversation('own/1', { seq: 0, id }))
  const foreign = await fork(eve, 'chats/1')
  assert.equal(foreign, await told(eve.start({ agent: 'root', id: 'chats/1' })))
  assert.match(foreign, /NOT_FOUND/)
  assert.match(await fork(eve, 'own/1'), /NAME_TAKEN/)
  assert.match(await fork(stage.runtime.as(as('key:a', 'admin')), 'chats/1'), /NAME_TAKEN/)
  assert.equal(await fork(eve, 'own/2'), 'done')
})

test('[R11] [D17] lists show what is reached, in whole pages, however much of others lies between', async () => {
  const { stage, ids } = await lived()
  const { runtime } = stage
  for (let index = 0; index < 9; index += 1) {
    const users = index % 3 === 0 ? people.slice(0, 1) : []
    await runtime
      .as(index % 2 === 0 ? key : as('user:eve', 'run'))
      .start({ agent: 'clerk', id: `more/${index}`, users })
  }
  const conversations = async (who: Principal, filter = {}) => {
    const found: string[] = []
    let cursor: string | null = null
    do {
      const page = await runtime.as(who).listConversations({ limit: 2, cursor, ...filter })
      found.push(...page.items.map(({ id }) => id.replace('more/', '')))
      assert.ok(page.nextCursor === null || page.items.length === 2)
      cursor = page.nextCursor
    } while (cursor !== null)
    return found.join(' ')
  }
  assert.equal(await conversations(as('key:a', 'admin')), '8 7 6 5 4 3 2 1 0 chats/1')
  assert.equal(await conversations(as('key:r', 'read')), '8 7 6 5 4 3 2 1 0 chats/1')
  assert.equal(await conversations(key), '8 6 4 2 0')
  assert.equal(await conversations(as('user:bob')), '6 3 0 chats/1')
  assert.equal(await conversations(as('user:bob', 'run'), { agent: 'clerk' }), '6 3 0')
  assert.equal(await conversations(as('user:maker', 'run')), 'chats/1')
  for (const who of [as('key:k1'), as('key:k1', 'answer'), as('user:carl', 'run'), as('user:maker')])
    assert.equal(await conversations(who), '', who.id)
  assert.deepEqual((await runtime.as(key).listConversations({ search: 'go' })).items, [])

  const tasks = async (who: Principal) => (await runtime.as(who).tasks.list()).items.map(({ taskId }) => taskId)
  for (const who of [maker, as('user:bob'), as('key:r', 'read')]) assert.deepEqual(await tasks(who), [ids.task], who.id)
  for (const who of [key, as('user:carl', 'run', 'answer'), as('user:maker')]) assert.deepEqual(await tasks(who), [])

  const asked = async (who: Principal) => (await runtime.as(who).listInterruptions()).items.length
  for (const who of [maker, as('user:bob'), as('key:r', 'read'), as('key:x', 'answer')])
    assert.equal(await asked(who), 2)
  for (const who of [key, as('user:carl', 'run'), as('user:maker'), as('key:x')])
    assert.equal(await asked(who), 0, who.id)
})

test('[R11] [D17] a cursor that names what is not reached is one whose row is gone', async () => {
  const { stage, ids } = await lived()
  const lists: readonly (readonly [list: (witan: Witan, cursor: string) => Promise<unknown>, id: string])[] = [
    [(witan, cursor) => witan.listConversations({ cursor }), ids.conversation],
    [(witan, cursor) => witan.listConversations({ cursor, search: 'go' }), ids.conversation],
    [(witan, cursor) => witan.tasks.list({ cursor }), ids.task],
    [(witan, cursor) => witan.listInterruptions({ cursor }), ids.open],
  ]
  for (const [list, id] of lists) {
    for (const who of [maker, as('user:bob'), as('key:r', 'read')]) await list(stage.runtime.as(who), id)
    for (const who of [as('user:carl', 'run'), as('user:eve', 'run'), key]) {
      const foreign = await refusal(list(stage.runtime.as(who), id), ids)
      assert.equal(foreign, await refusal(list(stage.runtime.as(who), 'nothing'), ids))
      assert.match(foreign, /BODY_INVALID/)
    }
  }
})

test('[D17] [C18] a bound value is merged for those who may answer: not for readers, and not for people who only take part', async () => {
  const { stage, ids } = await lived()
  const shown = async (who: Principal) => {
    const witan = stage.runtime.as(who)
    const seen = [await witan.listInterruptions()]
    if (!who.roles.includes('answer'))
      seen.push((await witan.getConversation('chats/1')) as never, (await witan.getRun(ids.run)) as never)
    return seen.map((one) => JSON.stringify(one).includes('sec-7'))
  }
  for (const who of [maker, as('key:a', 'admin')]) assert.deepEqual(await shown(who), [true, true, true], who.id)
  assert.deepEqual(await shown(as('key:x', 'answer')), [true])
  for (const who of [as('key:r', 'read'), as('user:bob'), as('user:bob', 'run')])
    assert.deepEqual(await shown(who), [false, false, false], who.id)
})

test('[D17] who takes part without a role answers what is addressed to them by id, and nothing else', async () => {
  const asks = (user: string) => ({ name: 'ask_user', arguments: { user, message: 'so?' } })
  const stage = createStage({
    agents: [{ id: 'root', users: [{ id: 'bob' }, { id: 'dora' }, { role: 'buyer' }], actions: [{ name: 'Do' }] }],
    plays: {
      root: (_, turn) =>
        turn === 0 ? { toolCalls: [...['bob', 'dora', 'role:buyer'].map(asks), { name: 'Do', arguments: {} }] } : 'ok',
    },
  })
  const opened = await stage.runtime.as(key).start({ agent: 'root', id: 'chats/1', users: ['bob'], prompt: 'go' })
  await opened.run?.result
  const open = (await stage.runtime.listInterruptions()).items
  const mine = async (who: Principal) => {
    const found: string[] = []
    for (const { id, addressee } of open) {
      const work = stage.runtime.as(who).answerInterruption(id, { answer: 7 })
      const code = await work.then(
        () => 'answered',
        (error: { code: string }) => error.code,
      )
      if (code !== 'NOT_FOUND') found.push(addressee ?? 'nobody')
    }
    return found
  }
  assert.deepEqual(await mine(as('user:bob', 'buyer')), ['bob'])
  assert.deepEqual(await mine(as('user:dora')), [])
  assert.deepEqual(await mine(as('user:dora', 'run')), [])
  assert.deepEqual(await mine(as('key:x', 'buyer')), [])
})
