/** Typical mistakes of code: each is refused where it is made, with what is wrong and what to write instead. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuntime, defineAgent, defineTool, openaiCompatible, sqliteStore } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'
import { z } from 'zod'

/** Whatever JavaScript, or a cast, lets through. */
const loose = <Taken extends (one: never) => unknown>(make: Taken) => make as unknown as (one?: unknown) => unknown
const model = scriptedModel(() => 'ok', { id: 'demo/any' })
const base = { instructions: 'Work.', model }
const tool = { name: 'look', description: 'Looks.', parameters: z.object({}), execute: () => 'seen' }

const mistakes: readonly (readonly [what: string, wrong: () => unknown, told: object])[] = [
  [
    'a tool without its function',
    () => loose(defineTool)({ ...tool, execute: undefined }),
    { code: 'AGENT_INVALID', path: 'execute', message: 'Tool `look`: `execute` is not a function.' },
  ],
  [
    'a misspelt option of a tool',
    () => loose(defineTool)({ ...tool, timeout: 5 }),
    { code: 'UNKNOWN_KEY', path: 'timeout', hint: /timeoutMs/ },
  ],
  [
    'a schema that is none',
    () => loose(defineTool)({ ...tool, parameters: { type: 'object' } }),
    { code: 'AGENT_INVALID', path: 'parameters', hint: /z\.object/ },
  ],
  [
    'an effect that is none',
    () => loose(defineTool)({ ...tool, effect: 'read' }),
    { code: 'AGENT_INVALID', path: 'effect', hint: 'One of none, keyed, once.' },
  ],
  [
    'a function for a model',
    () => loose(defineAgent)({ ...base, id: 'a', model: () => 'hi' }),
    {
      code: 'AGENT_INVALID',
      path: 'model',
      message: 'Agent `a`: `model` is not a model.',
      hint: /local\/qwen3.*`stream`/,
    },
  ],
  [
    'a sub-agent by its id alone',
    () => loose(defineAgent)({ ...base, id: 'a', subAgents: ['b'] }),
    { code: 'AGENT_INVALID', path: 'subAgents.0', hint: 'Write `{ agent: "b" }`.' },
  ],
  [
    'no instructions',
    () => loose(defineAgent)({ id: 'a', model }),
    {
      code: 'AGENT_INVALID',
      path: 'instructions',
      hint: 'Add it: an agent needs `id`, and either `model` and `instructions` or `workflow`.',
    },
  ],
  [
    'a zod schema where JSON Schema stands',
    () => loose(defineAgent)({ ...base, id: 'a', outputSchema: z.object({ n: z.number() }) }),
    { code: 'AGENT_INVALID', path: 'outputSchema', hint: /z\.toJSONSchema/ },
  ],
  [
    'a handler for many paths',
    () =>
      createRuntime()
        .conversation('a')
        .handle('*/Send', () => 1),
    { code: 'ID_INVALID', path: 'path', hint: /`profile\/ChangeName`/ },
  ],
  [
    'agents that are no list',
    () => loose(createRuntime)({ agents: { a: defineAgent({ ...base, id: 'a' }) } }),
    { code: 'CONFIG_INVALID', path: 'agents' },
  ],
  [
    'an agent that is not there yet, as between modules that import each other',
    () => loose(createRuntime)({ agents: [defineAgent({ ...base, id: 'a' }), undefined] }),
    { code: 'CONFIG_INVALID', path: 'agents.1', hint: /`defineAgent`/ },
  ],
  [
    'a name without a model',
    () => loose(createRuntime)({ models: { 'demo/any': model, 'demo/other': undefined } }),
    { code: 'CONFIG_INVALID', path: 'models.demo/other', hint: /`stream`/ },
  ],
  [
    'a store without a file',
    () => loose(sqliteStore)('./witan.db'),
    { code: 'CONFIG_INVALID', path: 'file', hint: /sqliteStore\(\{ file/ },
  ],
  [
    'a server without an address',
    () => loose(openaiCompatible)({ model: 'qwen3' }),
    { code: 'CONFIG_INVALID', path: 'baseUrl', hint: /\/v1/ },
  ],
]

for (const [what, wrong, told] of mistakes) test(`${what} is told at once`, () => assert.throws(wrong, told))

test('two scripts under one id are refused: one agent had played the script of the other', async () => {
  const script = (text: string) => scriptedModel(() => text)
  const agent = (id: string, own: ReturnType<typeof script>) => defineAgent({ id, instructions: 'Work.', model: own })
  const agents = [agent('one', script('I am one.')), agent('two', script('I am two.'))]
  assert.throws(() => createRuntime({ agents }), { code: 'NAME_TAKEN', message: /`scripted\/model`/, hint: /\{ id: / })

  const shared = script('We are one.')
  const runtime = createRuntime({ agents: [agent('one', shared), agent('two', shared)] })
  assert.equal((await runtime.conversation('two').run('Who?')).text, 'We are one.')
  await runtime.close()
})

test('what a runtime does not have is told with the agent that names it, and where it comes from', async () => {
  const start = (more: object) => {
    const runtime = createRuntime({ agents: [{ id: 'clerk', instructions: 'Work.', model: 'local/any', ...more }] })
    return runtime.ready.finally(() => runtime.close())
  }
  const lacks = { code: 'MODEL_UNKNOWN', message: 'Agent `clerk` names model `local/any`, which does not exist here.' }
  await assert.rejects(start({}), { ...lacks, hint: /`connections`/ })
  await assert.rejects(start({ tools: ['look'] }), { code: 'TOOL_UNKNOWN', message: /`clerk`/, hint: /`defineTool`/ })
  for (const wrong of [model, null, 5])
    await assert.rejects(start({ model: wrong }), {
      code: 'AGENT_INVALID',
      hint: /^Name one, .* Only `defineAgent` accepts/,
    })
})

test('a run without words is refused before anything is made of it', async () => {
  const runtime = createRuntime({ agents: [defineAgent({ ...base, id: 'a' })] })
  const run = (prompt: unknown) => runtime.conversation('a').run(prompt as string)
  await assert.rejects(run(undefined), { code: 'RUN_INPUT_INVALID', path: 'prompt' })
  await assert.rejects(run(''), { code: 'BODY_INVALID', message: /must say something/ })
  await assert.rejects(run(' \n'), { code: 'BODY_INVALID', message: /holds only blanks/ })
  assert.deepEqual((await runtime.listConversations()).items, [])
  await runtime.close()
})
