/** The course of a run: the root is asked, asks whom its model chooses, each child works as an agent of its own, and the root answers. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineTool, type QuerySource } from '@witan/core'
import { call, lastUserMessage, type Rule, systemText } from '@witan/core/testing'
import { z } from 'zod'
import { createStage, type Stage } from '../support/stage.ts'

const tool = (name: string) =>
  defineTool({
    name,
    description: `Does ${name}.`,
    parameters: z.object({}),
    effect: 'none',
    execute: () => `${name} done`,
  })

const shop: QuerySource = {
  kind: 'shop',
  check: async () => ({ ok: true, placeholders: ['userId'] }),
  run: async ({ bindings }) => ({ ok: true, rows: [{ owner: bindings.get('userId') }], truncated: false }),
  close: async () => {},
}

const offered = (stage: Stage, id: string) => stage.seenBy(id)[0]?.tools.map(({ name }) => name)
const read = (stage: Stage, id: string, nth: number) => stage.seenBy(id)[nth]?.messages.slice(1)
const startsOf = async (stage: Stage, conversation: string) =>
  (await stage.events(conversation)).filter(({ type, kind }) => type === 'start' && kind === 'agent')

/** A front desk, a clerk with everything that an agent can have, and somebody below the clerk. */
const office = (front: Rule) =>
  createStage({
    agents: [
      {
        id: 'front',
        tools: ['clock'],
        subAgents: [{ agent: 'clerk', description: 'Knows orders.' }, { agent: 'poet' }],
      },
      {
        id: 'clerk',
        instructions: 'You are clerk. Be exact.',
        parameters: [{ name: 'userId', sendToModel: false }],
        queries: [{ name: 'orders', description: 'Orders.', source: 'shop', query: 'select $userId' }],
        tools: ['stamp'],
        subAgents: [{ agent: 'archive' }],
      },
      { id: 'poet', description: 'Rhymes.' },
      { id: 'archive' },
    ],
    plays: {
      front,
      clerk: (request, turn) =>
        [
          call('orders'),
          call('stamp'),
          call('archive', { message: 'look up' }),
          `clerk on ${lastUserMessage(request)}`,
        ][turn],
      poet: (request) => `poet on ${lastUserMessage(request)}`,
      archive: ['found'],
    },
    options: { tools: [tool('clock'), tool('stamp')], sources: { shop } },
  })

const given = { id: 'chats/1', parameters: { userId: 'Users/1' } }

test('[R01] [F01] [F02] [F19] a delegate is a tool of its parent and a whole agent of its own', async () => {
  const stage = office((_, turn) => (turn === 0 ? call('clerk', { message: 'Where is my order?' }) : 'done'))
  await stage.ask('front', 'hello', given)
  // The parent has tools of its own, and its delegates among them; what a delegate can use is not the parent's.
  assert.deepEqual(offered(stage, 'front')?.sort(), ['clerk', 'clock', 'poet'])
  assert.deepEqual(offered(stage, 'clerk')?.sort(), ['archive', 'orders', 'stamp'])
  assert.deepEqual(offered(stage, 'archive'), [])
  const first = stage.seenBy('clerk')[0]
  assert.equal(first && systemText(first), 'You are clerk. Be exact.\nuserId: supplied by the system')
  assert.deepEqual(read(stage, 'clerk', 0), [{ role: 'user', content: 'Where is my order?' }])
  // It goes through its own loop, with its own query, tool and sub-agent.
  const results = stage.seenBy('clerk')[3]?.messages.filter(({ role }) => role === 'tool')
  assert.deepEqual(
    results?.map(({ content }) => content),
    ['[{"owner":"Users/1"}]', 'stamp done', 'found'],
  )
  // The same agent is a root as well, with the same tools and instructions.
  const alone = await stage.ask('clerk', 'Where is it?', { ...given, id: 'chats/2' })
  assert.equal(alone.text, 'clerk on Where is it?')
  assert.deepEqual(stage.seenBy('clerk')[4]?.tools, first?.tools)
})

test('[R12] [R13] whom to ask is up to the model of the root: one, several or nobody', async () => {
  const asks: Record<string, Rule> = {
    nobody: () => 'I know it myself.',
    poet: (_, turn) => (turn === 0 ? call('poet', { message: 'go' }) : 'done'),
    both: (_, turn) => [call('poet', { message: 'go' }), call('clerk', { message: 'go' }), 'done'][turn],
  }
  for (const [whom, play] of Object.entries(asks)) {
    const stage = office(play)
    const { run, ...opened } = await stage.runtime.start({ agent: 'front', prompt: whom, ...given })
    assert.deepEqual(opened, { id: 'chats/1', agent: 'front', created: true })
    assert.equal((await run?.result)?.status, 'completed')
    const [first] = stage.seenBy('front')
    assert.equal(first?.toolChoice, 'auto')
    assert.deepEqual(first?.messages.at(-1), { role: 'user', content: whom })
    const told = first?.tools.map(({ description }) => description.split('\n')[0])
    assert.deepEqual(told?.sort(), ['Does clock.', 'Knows orders.', 'Rhymes.'])
    const paths = (await startsOf(stage, 'chats/1')).map(({ agentPath }) => agentPath)
    const clerk = ['front/clerk', 'front/clerk/archive']
    const expected = { nobody: [], poet: ['front/poet'], both: ['front/poet', ...clerk] }[whom]
    assert.deepEqual(paths, ['front', ...(expected ?? [])])
  }
  // Without values and without a prompt it is a conversation all the same, and nobody is asked.
  const stage = office(() => 'hello')
  const opened = await stage.runtime.start({ agent: 'front' })
  assert.equal(opened.run, null)
  assert.equal(stage.requests.length, 0)
  await assert.rejects(stage.runtime.start({ agent: 'nobody' }), { code: 'NOT_FOUND' })
})

test('[R14] [R16] each delegation works in a document of its own, and the root has the last word', async () => {
  const stage = office(
    (_, turn) =>
      [
        call('poet', { message: 'one' }),
        call('clerk', { message: 'two' }),
        call('poet', { message: 'three' }),
        'all told',
      ][turn],
  )
  const result = await stage.ask('front', 'hello', given)
  assert.deepEqual([result.status, result.text], ['completed', 'all told'])
  const documents = await Promise.all(
    ['chats/1', 'chats/1/poet', 'chats/1/clerk', 'chats/1/clerk/archive'].map((path) => stage.document(path)),
  )
  assert.deepEqual(
    documents.map(({ messages }) => messages.map(({ text, toolCalls }) => toolCalls[0]?.name ?? text)),
    [
      ['hello', 'poet', 'clerk', 'poet', 'all told'],
      ['one', 'poet on one', 'three', 'poet on three'],
      ['two', 'orders', 'stamp', 'archive', 'clerk on two'],
      ['look up', 'found'],
    ],
  )
  const last = (await stage.events('chats/1')).at(-1)
  assert.deepEqual([last?.type, last?.agentPath, last?.content['text']], ['end', 'front', 'all told'])
})

test('[R51] one call sends a prompt and gives the result, also where an action comes between', async () => {
  const stage = createStage({
    agents: [
      { id: 'plain' },
      { id: 'acting', actions: [{ name: 'Send' }] },
      { id: 'shaped', outputSample: { answer: 'yes' } },
    ],
    plays: { plain: ['hello'], acting: [call('Send'), 'sent'], shaped: ['{"answer":"no"}'] },
  })
  const { runtime } = stage
  const plain = await runtime.conversation('plain').run('hi')
  assert.deepEqual([plain.status, plain.text, plain.error], ['completed', 'hello', null])
  const acted = await runtime
    .conversation('acting')
    .handle('Send', () => 'ok')
    .run('send it')
  assert.deepEqual([acted.status, acted.text], ['completed', 'sent'])
  assert.deepEqual((await runtime.conversation('shaped').run('well?')).output, { answer: 'no' })
})

test('[C25] the next message starts at the root, whoever spoke or waited last', async () => {
  const stage = createStage({
    agents: [
      { id: 'root', subAgents: [{ agent: 'leaf' }] },
      { id: 'leaf', actions: [{ name: 'Ask' }] },
    ],
    plays: {
      root: (request, turn) =>
        lastUserMessage(request) === 'thanks' ? 'welcome' : turn === 0 ? call('leaf', { message: 'go' }) : 'done',
      leaf: [call('Ask'), 'leaf done'],
    },
  })
  await stage.ask('root', 'first', { id: 'chats/1' })
  const said = await stage.run('chats/1', { prompt: 'thanks', cancelPendingActions: true })
  const again = await stage.run('chats/1', { prompt: 'thanks' })
  assert.deepEqual([said.text, again.text], ['welcome', 'welcome'])
  const roots = (await startsOf(stage, 'chats/1')).filter(({ parentCallId }) => parentCallId === null)
  assert.deepEqual(
    roots.map(({ agentPath }) => agentPath),
    ['root', 'root'],
  )
  const words = (await stage.events('chats/1')).filter(({ type }) => type === 'message')
  assert.deepEqual(
    words.map(({ agentPath, author }) => `${author} to ${agentPath}`),
    Array(3).fill('user to root'),
  )
  assert.equal(stage.requests.at(-1), stage.seenBy('root').at(-1))
  assert.deepEqual(stage.requests.at(-1)?.messages.at(-1), { role: 'user', content: 'thanks' })
})

test('[C9] who the parent is depends on the call: the same agents call each other both ways', async () => {
  const other = { a: 'b', b: 'a' } as const
  const play =
    (id: 'a' | 'b'): Rule =>
    (request) =>
      lastUserMessage(request) === 'start' && request.messages.at(-1)?.role === 'user'
        ? call(other[id], { message: 'help' })
        : `${id} done`
  const stage = createStage({
    agents: [
      { id: 'a', subAgents: [{ agent: 'b' }] },
      { id: 'b', subAgents: [{ agent: 'a' }] },
    ],
    plays: { a: play('a'), b: play('b') },
  })
  for (const [root, child] of Object.entries(other)) {
    await stage.ask(root, 'start', { id: `chats/${root}` })
    const starts = await startsOf(stage, `chats/${root}`)
    assert.deepEqual(
      starts.map(({ author, parentCallId }) => [author, parentCallId]),
      [
        [root, null],
        [child, starts[0]?.callId],
      ],
    )
  }
  for (const id of ['a', 'b']) assert.equal((await stage.runtime.agents.get(id)).parents, null)
})
