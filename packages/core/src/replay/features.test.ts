/** Tb29: what random systems do not do: trims, retries, checkpoints, people who come and go, values hidden later, tools that wait. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  createRuntime,
  defineAgent,
  defineTool,
  ModelCallError,
  type ModelRequest,
  type RuntimeOptions,
  type Runtime,
} from '@witan/core'
import { defineKnowledgeSource } from '@witan/core/knowledge'
import { call, lastUserMessage, scriptedModel } from '@witan/core/testing'
import { z } from 'zod'
import { rewordedSource } from '../../../../test/support/reworded.ts'
import { readReplaySource } from './prepare.ts'
import { replay } from './replay.ts'

/** Plays the conversation, and its log with other words, and gives the types and codes of its log. */
async function replayed(runtime: Runtime): Promise<ReadonlySet<string>> {
  const source = await readReplaySource(runtime.exportConversation('chats/1'))
  for (const one of [source, rewordedSource(source)]) assert.equal((await replay(one)).difference, null)
  await runtime.close()
  return new Set(
    source.whole.entries.flatMap(({ type, body }) => [
      type,
      ...('code' in body ? [String(body.code)] : []),
      ...('embedded' in body ? [`${type} with embeddings`] : []),
    ]),
  )
}

const desk = (more: Partial<Parameters<typeof defineAgent>[0]>) =>
  defineAgent({ id: 'desk', instructions: 'Help.', model: scriptedModel(() => 'Yes.'), ...more } as Parameters<
    typeof defineAgent
  >[0])

async function started(options: RuntimeOptions, body: object = {}): Promise<Runtime> {
  const runtime = createRuntime({ retry: { tries: 2, baseMs: 1 }, ...options })
  const { run } = await runtime.start({ agent: 'desk', id: 'chats/1', prompt: 'go', ...body })
  await run?.result
  return runtime
}
const say = async (runtime: Runtime, body: object) => (await runtime.run('chats/1', body)).result

test('[Tb29] a history that was summarised, or cut, is so again', async () => {
  for (const trim of [
    { kind: 'summarize' as const, maxTokensBefore: 1, maxTokensAfter: 1 },
    { kind: 'truncate' as const, messagesBefore: 2, messagesAfter: 1 },
  ]) {
    const runtime = await started({ agents: [desk({ history: { trim } })] })
    for (const prompt of ['one', 'two', 'three']) await say(runtime, { prompt })
    assert.ok((await replayed(runtime)).has('summary'), trim.kind)
  }
})

test('[Tb29] a call that was made again, and one that failed, are so again', async () => {
  let asked = 0
  const model = scriptedModel((request) => {
    asked += 1
    if (lastUserMessage(request) === 'down') return new ModelCallError('down', { retryable: false })
    return asked === 1 ? new ModelCallError('busy', { status: 503, retryable: true }) : 'Yes.'
  })
  const runtime = await started({ agents: [desk({ model })] })
  await say(runtime, { prompt: 'down' })
  const seen = await replayed(runtime)
  for (const code of ['MODEL_RETRIED', 'MODEL_CALL_FAILED', 'USAGE_INCOMPLETE']) assert.ok(seen.has(code), code)
})

test('[Tb29] a tool that saves notes and files, asks and runs an agent does so again', async () => {
  const busy = defineTool({
    name: 'busy',
    description: 'Works.',
    parameters: z.object({}),
    execute: async (_, context) => {
      await context.checkpoint.save({ step: 1 })
      const saved = await context.artifacts.save({ name: 'a.txt', mediaType: 'text/plain', text: 'A' })
      await context.artifacts.read(saved.id)
      const { why } = await context.ask([{ id: 'why', text: 'Why?' }])
      const { text } = await context.agents.run('clerk', `Because ${why?.text}.`)
      return { text, id: saved.id }
    },
  })
  const model = scriptedModel((_, turn) => (turn === 0 ? call('busy', {}) : 'Done.'))
  const clerk = defineAgent({
    id: 'clerk',
    instructions: 'Help.',
    model: scriptedModel(() => 'Noted.', { id: 'x/clerk' }),
    parents: [],
  })
  const runtime = await started({ agents: [desk({ model, tools: [busy] }), clerk] })
  const { interruptions } = await runtime.getConversation('chats/1')
  const answers = interruptions.map(({ id }) => ({ id, answer: { why: { text: 'it rains' } } }))
  assert.equal((await say(runtime, { answers })).text, 'Done.')
  const seen = await replayed(runtime)
  for (const type of ['checkpoint', 'artifact', 'question_required', 'resolved']) assert.ok(seen.has(type), type)
})

test('[Tb29] people come, are asked and leave again, and a value is hidden later', async () => {
  const model = scriptedModel((request, turn) =>
    lastUserMessage(request).includes('ask') && turn === 1
      ? call('ask_user', { user: 'anna', message: 'Well?' })
      : 'Yes.',
  )
  const parameters = [{ name: 'key', type: 'string' as const }]
  const runtime = await started(
    { agents: [desk({ model, parameters, users: [{ id: 'anna' }, { id: 'ben' }] })] },
    { parameters: { key: 'value-4711' }, users: ['anna'] },
  )
  await runtime.addParticipant('chats/1', { id: 'ben' })
  await runtime
    .start({
      agent: 'desk',
      id: 'chats/1',
      prompt: 'hide',
      parameters: { key: { value: 'value-4711', sendToModel: false } },
    })
    .then(({ run }) => run?.result)
  await say(runtime, { prompt: 'ask anna' })
  await runtime.removeParticipant('chats/1', 'ben')
  await say(runtime, { prompt: 'bye', onActive: 'interrupt' }).catch(() => undefined)
  const seen = await replayed(runtime)
  for (const one of ['participant', 'PARAMETERS_HIDDEN']) assert.ok(seen.has(one), one)
})

test('[Tb29] a fork comes to the same log from where it begins; its function tools need no declaration', async () => {
  const note = defineTool({
    ...{ name: 'note', description: 'Notes.', effect: 'once' as const },
    parameters: z.object({ what: z.string() }),
    execute: ({ what }) => `noted ${what}`,
  })
  const model = scriptedModel((request) =>
    request.messages.at(-1)?.role === 'user' ? call('note', { what: lastUserMessage(request), odd: 1 }) : 'Done.',
  )
  const runtime = await started({ agents: [desk({ model, tools: [note] })] })
  const { lastSeq } = await runtime.getConversation('chats/1')
  await runtime.forkConversation('chats/1', { seq: lastSeq, id: 'chats/2' })
  const { runId } = (await (await runtime.run('chats/2', { prompt: 'more' })).result) ?? {}
  const fork = await readReplaySource(runtime.exportConversation('chats/2'))
  for (const tools of [fork.tools, []]) {
    const { difference, entries, copied, runs } = await replay({ ...fork, tools })
    assert.equal(difference, null)
    assert.deepEqual([entries, copied, runs.map(({ id }) => id)], [fork.whole.entries.length, lastSeq, [runId]])
  }
  await runtime.close()
})

test('[Tb29] what was searched for and found is so again, at every depth', async () => {
  const clerk = defineAgent({
    id: 'clerk',
    instructions: 'Search.',
    model: scriptedModel((_, turn) => (turn % 2 === 0 ? call('search_knowledge', { query: 'noon' }) : 'At noon.'), {
      id: 'x/clerk',
    }),
    knowledgeBases: ['house', { id: 'broken', retrieval: 'both' }],
  })
  const model = scriptedModel((request) =>
    request.messages.at(-1)?.role === 'user' ? call('clerk', { message: 'When is noon?' }) : 'Done.',
  )
  const near = { id: 'near', embed: async (texts: readonly string[]) => ({ vectors: texts.map(() => [1]), tokens: 3 }) }
  const shut = { id: 'house', filter: { floor: 'floor' }, retrieval: 'both' as const }
  const runtime = createRuntime({
    agents: [
      desk({
        model,
        parameters: [{ name: 'floor', type: 'number', sendToModel: false }],
        subAgents: [{ agent: 'clerk' }],
        knowledgeBases: [{ id: 'hours', retrieval: 'auto' }, shut],
      }),
      clerk,
    ],
    embeddings: { near },
    knowledge: [
      { id: 'house', attributes: { floor: 'number' }, embedding: 'near' },
      { id: 'hours', embedding: 'near' },
      defineKnowledgeSource({ id: 'broken', search: () => Promise.reject(new Error('down')) }),
    ],
  })
  const documents = [{ key: 'a', text: 'The sauna opens at noon. Go early.' }]
  for (const base of ['house', 'hours']) await runtime.knowledge.documents.ingest(base, { documents })
  const { run } = await runtime.start({ agent: 'desk', id: 'chats/1', prompt: 'When is noon?' })
  assert.equal((await run?.result)?.status, 'completed')
  await say(runtime, { prompt: 'And midnight?' })
  const seen = await replayed(runtime)
  for (const one of ['retrieval with embeddings', 'end with embeddings', 'KNOWLEDGE_UNAVAILABLE', 'KNOWLEDGE_FAILED'])
    assert.ok(seen.has(one), one)
})

test('[Tb29] [F08] a plan is written so again, refused where it was, and noted where it is left open', async () => {
  const step = (id: string, status: string) => ({ id, title: `Do ${id}`, status })
  const clerk = defineAgent({
    id: 'clerk',
    instructions: 'Help.',
    enablePlanning: true,
    model: scriptedModel(
      (_, turn) => (turn % 2 === 0 ? call('update_plan', { steps: [step('x', 'pending')] }) : 'Yes.'),
      {
        id: 'x/clerk',
      },
    ),
  })
  const plays = [
    call('update_plan', { steps: [step('a', 'in_progress')] }),
    call('clerk', { message: 'Help.' }),
    call('update_plan', { steps: [step('a', 'in_progress'), step('b', 'in_progress')] }),
    call('update_plan', { steps: [step('a', 'completed'), step('b', 'pending')] }),
    'Done.',
  ]
  const model = scriptedModel((_, turn) => plays[turn % plays.length] ?? 'Done.')
  const trim = { kind: 'truncate', messagesBefore: 2, messagesAfter: 1 } as const
  const limits = { maxPlanRevisions: 1 }
  const more = { enablePlanning: true, subAgents: [{ agent: 'clerk' }], history: { trim }, limits }
  const runtime = await started({ agents: [desk({ model, ...more }), clerk] })
  for (const prompt of ['one', 'two']) await say(runtime, { prompt })
  const seen = await replayed(runtime)
  for (const one of ['plan', 'PLAN_UNFINISHED', 'PLAN_LIMIT', 'TOOL_ARGS_INVALID', 'summary'])
    assert.ok(seen.has(one), one)
})

test('[Tb29] [F08] an answer is criticised so again, revised, left as it is, or failed', async () => {
  const says = (request: ModelRequest) => request.messages.at(-1)?.content ?? ''
  const isCheck = (request: ModelRequest) => says(request).includes('"task":"check"')
  const clerk = defineAgent({
    ...{ id: 'clerk', instructions: 'Help.', enableReflection: true, reflection: { onFail: 'error' as const } },
    model: scriptedModel((request) => (isCheck(request) ? 'no JSON' : 'Yes.'), { id: 'x/clerk' }),
  })
  const critiques = ['{"verdict":"revise","problems":["It is short."]}', '{"verdict":"pass","problems":[]}', 'hm']
  let checks = 0
  const model = scriptedModel((request, turn) => {
    if (isCheck(request)) return critiques[checks++ % critiques.length] ?? ''
    if (says(request).includes('"task":"revise"')) return 'Better.'
    return says(request) === 'ask' && turn === 0 ? call('clerk', { message: 'Help.' }) : 'Well.'
  })
  const runtime = await started({
    agents: [desk({ model, enableReflection: true, subAgents: [{ agent: 'clerk' }] }), clerk],
  })
  for (const prompt of ['two', 'three', 'ask']) await say(runtime, { prompt })
  const seen = await replayed(runtime)
  for (const one of ['critique', 'REFLECTION_SKIPPED', 'REFLECTION_FAILED']) assert.ok(seen.has(one), one)
})
