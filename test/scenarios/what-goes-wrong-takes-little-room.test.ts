/** What goes wrong takes little room in the log and in a request, however long the names and words are that outsiders choose. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineTool, type Model } from '@witan/core'
import { call, scriptedModel } from '@witan/core/testing'
import { z } from 'zod'
import { allEvents, createStage } from '../support/stage.ts'

const long = 'a '.repeat(10_000_000)
const most = 16_200

function tool(execute: () => unknown, parameters: z.ZodObject = z.object({ city: z.string().optional() })) {
  return defineTool({ name: 'weather', description: 'Tells.', parameters, effect: 'none', execute })
}

const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, 0]))

test('of very many arguments that a tool does not list, a few are named and the rest is counted', async () => {
  for (const count of [5, 6, 9_000]) {
    const stage = createStage({
      agents: [{ id: 'root', tools: ['weather'] }],
      plays: { root: [call('weather', keys(count)), 'done'] },
      options: { tools: [tool(() => 'fine')] },
    })
    const { conversationId } = await stage.ask('root', 'go')
    const events = await stage.events(conversationId)
    const notices = events.filter(({ type }) => type === 'notice').map(({ content }) => String(content['detail']))
    assert.deepEqual(
      notices.slice(0, 5),
      [0, 1, 2, 3, 4].map((at) => `\`weather\` has no argument \`k${at}\`; it was dropped.`),
    )
    const rest = `\`weather\` has none of ${count - 5} more arguments either; they were dropped.`
    assert.deepEqual(notices.slice(5), count === 5 ? [] : [rest])
  }
})

test('a call with too many arguments to read is refused, its model reads the limit, and the run goes on', async () => {
  const stage = createStage({
    agents: [{ id: 'root', tools: ['weather'] }],
    plays: { root: [call('weather', keys(10_001)), 'done'] },
    options: { tools: [tool(() => 'fine')] },
  })
  const { conversationId, text } = await stage.ask('root', 'go')
  const events = await stage.events(conversationId)
  const [refused] = events.filter(({ type, kind }) => type === 'error' && kind === 'tool')
  assert.equal(refused?.content['code'], 'TOOL_ARGS_INVALID')
  assert.match(String(refused?.content['detail']), /one JSON object: it has more than 10000 different keys/)
  assert.equal(text, 'done')
})

test('[C19] a bound name is named once, also behind thousands of others and in other spellings', async () => {
  const stage = createStage({
    agents: [{ id: 'root', parameters: [{ name: 'userId', sendToModel: false }], tools: ['weather'] }],
    plays: { root: [call('weather', { ...keys(9_000), userId: 'x', USERID: 'y', 'user\u200bId': 'z' }), 'done'] },
    options: { tools: [tool(() => 'fine', z.object({ userId: z.string() }))] },
  })
  const { conversationId } = await stage.ask('root', 'go', { parameters: { userId: 'employees/3' } })
  const events = await stage.events(conversationId)
  const codes = events.filter(({ type }) => type === 'notice').map(({ content }) => content['code'])
  assert.deepEqual(
    codes.filter((code) => code === 'ARGUMENT_OVERRIDE_IGNORED'),
    ['ARGUMENT_OVERRIDE_IGNORED'],
  )
  assert.equal(codes.length, 7)
})

const failing: Model = {
  id: 'far/model',
  // biome-ignore lint/correctness/useYield: it fails before it says anything.
  async *stream() {
    throw new Error(long)
  },
}
const refusing = z.object({}).refine(() => false, { message: long })
const throwing = tool(() => {
  throw new Error(long)
})
const unwritable = tool(() => ({
  toJSON() {
    throw new Error(long)
  },
}))

/** Where a long text comes from, the tool or model with it, and what the model writes. */
const troubles: readonly (readonly [what: string, options: object, play: readonly ReturnType<typeof call>[]])[] = [
  ['a tool throws it', { tools: [throwing] }, [call('weather')]],
  ['a result cannot be written because of it', { tools: [unwritable] }, [call('weather')]],
  ['the check of arguments says it', { tools: [tool(() => 'fine', refusing)] }, [call('weather')]],
]

for (const [what, options, play] of troubles) {
  test(`an error text of 20 million characters is cut: ${what}`, async () => {
    for (const hidden of [false, true]) {
      const parameters = hidden ? [{ name: 'key', secret: true, sendToModel: false }] : []
      const stage = createStage({
        agents: [{ id: 'root', parameters, tools: ['weather'] }],
        plays: { root: [...play, 'done'] },
        options,
      })
      const given = hidden ? { parameters: { key: 'employees/3' } } : {}
      const { conversationId } = await stage.ask('root', 'go', given)
      const events = await allEvents(stage.runtime, conversationId)
      const error = events.find(({ type }) => type === 'error')
      assert.ok(String(error?.content['detail']).length <= most, what)
      const read = stage.requests.at(-1)?.messages.find(({ role }) => role === 'tool')
      assert.ok(read !== undefined && read.content.length <= most + 100, what)
    }
  })
}

test('an error text of 20 million characters is cut: a model fails with it', async () => {
  const child = { id: 'child', model: 'far/model', instructions: 'You are child.', description: 'Helps.' }
  const root = scriptedModel((_, turn) => (turn === 0 ? call('child', { request: 'go' }) : 'done'), { id: 'near' })
  const stage = createStage({
    agents: [],
    plays: {},
    options: {
      models: { 'far/model': failing, near: root },
      agents: [child, { id: 'root', model: 'near', instructions: 'You lead.', subAgents: [{ agent: 'child' }] }],
    },
  })
  const { conversationId } = await stage.ask('root', 'go')
  const direct = await stage.ask('child', 'go')
  assert.ok((direct.error?.detail.length ?? 0) <= most)
  for (const event of await allEvents(stage.runtime, conversationId))
    assert.ok(JSON.stringify(event).length < 2 * most, event.type)
})
