/** Reasoning: shown to people where an agent says so, apart from the text, without hidden values, and read by no model. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuntime, memoryStore, ModelCallError, type ModelPart, type Model } from '@witan/core'
import { call, scriptedModel } from '@witan/core/testing'
import type { AnyEvent, Document } from '@witan/protocol'
import { assertSound, storedEntries } from '../support/claims.ts'
import { outliving } from '../support/reopen.ts'
import { agent, createGate, createStage, type Stage, until } from '../support/stage.ts'

const shows = { showReasoning: true } as const

/** Runs a prompt with a reader at work and returns the deltas it got. */
async function followed(
  stage: Pick<Stage, 'runtime'>,
  { verbose = true, parameters = {} }: { verbose?: boolean; parameters?: Record<string, unknown> } = {},
): Promise<AnyEvent[]> {
  const { runtime } = stage
  await runtime.start({ agent: 'root', id: 'chats/1', parameters })
  const leave = new AbortController()
  const deltas: AnyEvent[] = []
  const reading = (async () => {
    for await (const event of runtime.followEvents('chats/1', { verbose, signal: leave.signal })) {
      if (event.type === 'delta') deltas.push(event)
      else if (event.kind === 'agent' && event.type !== 'start' && event.callId === event.rootCallId) leave.abort()
    }
  })()
  await until(() => true)
  await (await runtime.run('chats/1', { prompt: 'go' })).result
  await reading
  return deltas
}

const reasonedBy = (events: readonly AnyEvent[], author = 'root'): unknown[] =>
  events.flatMap((event) => (event.kind === 'reasoning' && event.author === author ? [event.content] : []))

function reasonedIn({ messages }: Document): unknown[] {
  return messages.flatMap(({ role, reasoning }) => (role === 'assistant' ? [reasoning ?? null] : []))
}

const full = (stage: Stage, path = 'chats/1') => stage.runtime.getDocument(path, { detail: 'full' })

test('without the switch nothing of it is sent, stored or asked for', async () => {
  const logs: string[] = []
  for (const reasoning of [undefined, ['Let me ', 'see.']]) {
    const store = outliving(memoryStore())
    const asked: unknown[] = []
    const script = scriptedModel(() => ({ text: 'Yes.', ...(reasoning === undefined ? {} : { reasoning }) }))
    const model: Model = {
      ...script,
      stream: (request, options) => {
        asked.push(Object.keys(options))
        return script.stream(request, options)
      },
    }
    const stage = createStage({
      agents: [{ id: 'root' }],
      plays: {},
      options: { store, models: { 'play/model': model } },
    })
    const deltas = await followed(stage)
    assert.deepEqual(reasonedBy(deltas), [])
    assert.deepEqual(reasonedIn(await full(stage)), [null])
    assert.deepEqual(asked, [['signal', 'deltas', 'tell', 'state']])
    logs.push(
      JSON.stringify((await storedEntries(store, 'chats/1')).map(({ body }) => ('model' in body ? body : null))),
    )
  }
  assert.equal(logs[0], logs[1])
})

test('it comes as deltas of its own kind, stands in documents of full detail only, and is never part of the text', async () => {
  const store = outliving(memoryStore())
  const stage = createStage({
    agents: [{ id: 'root', ...shows }],
    plays: { root: [{ deltas: ['It ', 'is.'], reasoning: ['Let me ', 'see.'] }] },
    options: { store },
  })
  const deltas = await followed(stage, { verbose: false })
  assert.deepEqual(
    deltas.map(({ kind, content }) => [kind, content]),
    [
      ['reasoning', { reasoning: 'Let me ', attempt: 1 }],
      ['reasoning', { reasoning: 'see.', attempt: 1 }],
      ['agent', { text: 'It ', attempt: 1 }],
      ['agent', { text: 'is.', attempt: 1 }],
    ],
  )
  assert.deepEqual(reasonedIn(await full(stage)), ['Let me see.'])
  for (const detail of ['simple', 'detailed'] as const)
    assert.doesNotMatch(JSON.stringify(await stage.runtime.getDocument('chats/1', { detail })), /reasoning":"|see\./)
  const events = await stage.events('chats/1')
  assertSound(events)
  assert.doesNotMatch(JSON.stringify(events), /Let me/)
  const [run] = (await stage.runtime.getConversation('chats/1')).runs
  assert.doesNotMatch(JSON.stringify(await stage.runtime.getRun(run?.runId ?? '')), /Let me/)
})

test('no model reads it: not its own, not the caller’s, not one that reads the caller’s history', async () => {
  const stage = createStage({
    agents: [
      { id: 'root', ...shows, subAgents: [{ agent: 'child', history: 'shared', collect: 'all' }, { agent: 'other' }] },
      { id: 'child', ...shows },
      { id: 'other', ...shows, history: { trim: { kind: 'summarize', maxTokensBefore: 10 } } },
    ],
    plays: {
      root: [
        { ...call('child', { message: 'look' }), reasoning: 'thought-root' },
        { ...call('other', { message: 'look' }), reasoning: 'thought-root' },
        { text: 'done', reasoning: 'thought-root' },
      ],
      child: () => ({ text: 'Seen.', reasoning: 'thought-child' }),
      other: () => ({ text: 'Seen too.', reasoning: 'thought-other' }),
    },
  })
  const first = await stage.ask('root', 'hello', { id: 'chats/1' })
  await stage.run('chats/1', { prompt: 'again' })
  assert.equal(first.text, 'done')
  assert.doesNotMatch(JSON.stringify(stage.requests), /thought-/)
  assert.deepEqual(reasonedIn(await full(stage, 'chats/1/child')), ['thought-child', 'thought-child'])
  assert.doesNotMatch(JSON.stringify(await full(stage)), /thought-child/)
  assert.deepEqual(stage.reports, [])
})

test('a terse reader gets the root’s, a verbose one that of every agent that shows it', async () => {
  const stage = () =>
    createStage({
      agents: [
        { id: 'root', ...shows, subAgents: [{ agent: 'leaf' }, { agent: 'quiet' }] },
        { id: 'leaf', ...shows },
        { id: 'quiet' },
      ],
      plays: {
        root: [{ ...call('leaf', { message: 'x' }), reasoning: ['a'] }, call('quiet', { message: 'x' }), 'done'],
        leaf: () => ({ text: 'leaf', reasoning: ['b'] }),
        quiet: () => ({ text: 'quiet', reasoning: ['c'] }),
      },
    })
  const words = (events: readonly AnyEvent[]) =>
    events.flatMap(({ kind, content }) => (kind === 'reasoning' ? [content['reasoning']] : []))
  assert.deepEqual(words(await followed(stage(), { verbose: false })), ['a'])
  assert.deepEqual(words(await followed(stage(), { verbose: true })), ['a', 'b'])
})

const hidden = { name: 'key', policy: 'forbidModelGeneration', sendToModel: false } as const

test('[D15] a hidden value is taken out of the deltas, however it is split over them, and of the document', async () => {
  const disguises = [
    ['canary-one'],
    [...'canary-one'],
    ['It is can', 'ary', '-o', 'ne, I think'],
    ['c\u200ba\u200bnary', '\u200b-one'],
    ['%63anary%2', 'done', ' and \\u00', '63anary-one'],
    [Buffer.from('canary-one').toString('base64').slice(0, 7), Buffer.from('canary-one').toString('base64').slice(7)],
    [...'eno-yranac'],
  ]
  for (const reasoning of disguises) {
    const store = outliving(memoryStore())
    const stage = createStage({
      agents: [{ id: 'root', ...shows, parameters: [hidden] }],
      plays: { root: () => ({ text: 'Yes.', reasoning: ['So: ', ...reasoning, ' is it.'] }) },
      options: { store },
    })
    const deltas = await followed(stage, { parameters: { key: 'canary-one' } })
    const said = reasonedBy(deltas).map((content) => (content as { reasoning: string }).reasoning)
    const document = await full(stage)
    const [stored] = reasonedIn(document)
    assert.equal(said.join(''), stored, reasoning.join('|'))
    assert.match(said.join(''), /^So: .*\[hidden\].* is it\.$/)
    const everything = JSON.stringify([said, document, await storedEntries(store, 'chats/1')])
    assert.doesNotMatch(everything.replaceAll('\u200b', ''), /canary|yranac|Y2FuYXJ5|c2FuYX/)
  }
})

test('[D15] a value that is split around text of the answer is taken out as well', async () => {
  const model: Model = {
    id: 'weaving',
    async *stream() {
      const parts: ModelPart[] = [
        { type: 'reasoning', text: 'It is cana' },
        { type: 'delta', text: 'Yes.' },
        { type: 'reasoning', text: 'ry-one!' },
      ]
      yield* parts
      const reply = { text: 'Yes.', toolCalls: [], finishReason: 'stop', usage: null, model: null } as const
      yield { type: 'reply', reply: { ...reply, reasoning: 'It is canary-one!' } }
    },
  }
  const agents = [{ id: 'root', ...shows, parameters: [hidden] }]
  const stage = createStage({ agents, plays: {}, options: { models: { 'play/model': model } } })
  const deltas = await followed(stage, { parameters: { key: 'canary-one' } })
  const said = reasonedBy(deltas).map((content) => (content as { reasoning: string }).reasoning)
  assert.equal(said.join(''), 'It is [hidden]!')
})

test('[E19] a value that is hidden later leaves the reasoning that holds it, also in a fork', async () => {
  for (const parameter of [{ name: 'key' }, { name: 'key', policy: 'forbidModelGeneration' as const }]) {
    const stage = createStage({
      agents: [{ id: 'root', ...shows, parameters: [parameter] }],
      plays: { root: () => ({ text: 'I know.', reasoning: 'The key is canary-one, and all is well.' }) },
    })
    await stage.ask('root', 'hello', { id: 'chats/1', parameters: { key: 'canary-one' } })
    assert.deepEqual(reasonedIn(await full(stage)), ['The key is canary-one, and all is well.'])
    await stage.ask('root', 'hide', { id: 'chats/1', parameters: { key: { value: 'canary-one', sendToModel: false } } })
    const clean = 'The key is [hidden], and all is well.'
    assert.deepEqual(reasonedIn(await full(stage)), [clean, clean])
    const { lastSeq } = await stage.runtime.getConversation('chats/1')
    await stage.runtime.forkConversation('chats/1', { seq: lastSeq, id: 'chats/2' })
    assert.deepEqual(reasonedIn(await full(stage, 'chats/2')), [clean, clean])
  }
})

test('[D8] who comes late first gets the reasoning so far, apart from the text so far', async () => {
  const stage = createStage({
    agents: [{ id: 'root', ...shows }],
    plays: { root: () => ({ deltas: ['so ', 'far'], reasoning: ['I ', 'think '], hang: true }) },
  })
  const { runtime } = stage
  await runtime.start({ agent: 'root', id: 'chats/1' })
  const leave = new AbortController()
  const read = async (seen: AnyEvent[]) => {
    for await (const event of runtime.followEvents('chats/1', { signal: leave.signal })) seen.push(event)
  }
  const first: AnyEvent[] = []
  const late: AnyEvent[] = []
  const readings = [read(first)]
  await until(() => true)
  const run = await runtime.run('chats/1', { prompt: 'go' })
  await until(() => first.filter(({ type }) => type === 'delta').length === 4)
  readings.push(read(late))
  const deltasOf = (events: readonly AnyEvent[]) => events.filter(({ type }) => type === 'delta')
  await until(() => deltasOf(late).length === 2)
  assert.deepEqual(
    deltasOf(late).map(({ kind, content }) => [kind, content]),
    [
      ['reasoning', { reasoning: 'I think ', attempt: 1, snapshot: true }],
      ['agent', { text: 'so far', attempt: 1, snapshot: true }],
    ],
  )
  await runtime.cancelRun(run.runId)
  await run.result
  await until(() => late.at(-1)?.type === 'end')
  leave.abort()
  await Promise.all(readings)
})

test('[D8] once a reply is stored, who comes late gets its reasoning from the document alone', async () => {
  const gate = createGate()
  const stage = createStage({
    agents: [{ id: 'root', ...shows, subAgents: [{ agent: 'leaf' }] }, { id: 'leaf' }],
    plays: {
      root: [{ ...call('leaf', { message: 'x' }), reasoning: 'I ask the leaf.' }, 'done'],
      leaf: async () => {
        await gate.opened
        return 'leaf'
      },
    },
  })
  const { runtime } = stage
  const leave = new AbortController()
  const read = async (seen: AnyEvent[]) => {
    for await (const event of runtime.followEvents('chats/1', { verbose: true, signal: leave.signal })) seen.push(event)
  }
  await runtime.start({ agent: 'root', id: 'chats/1' })
  const first: AnyEvent[] = []
  const late: AnyEvent[] = []
  const readings = [read(first)]
  await until(() => true)
  const run = await runtime.run('chats/1', { prompt: 'go' })
  await until(() => first.some(({ author, type }) => author === 'leaf' && type === 'start'))
  readings.push(read(late))
  await until(() => late.some(({ author, type }) => author === 'leaf' && type === 'start'))
  gate.open()
  await run.result
  await until(() => late.at(-1)?.type === 'end')
  leave.abort()
  await Promise.all(readings)
  assert.equal(reasonedBy(first).length, 4)
  assert.deepEqual(reasonedBy(late), [])
})

/** Reasons, and breaks off; the second time it answers. */
function breaking(id: string, status: number): Model {
  let calls = 0
  return {
    id,
    async *stream(_request, { deltas }) {
      calls += 1
      if (deltas) yield { type: 'reasoning', text: `try ${calls}` }
      if (calls === 1) throw new ModelCallError('broke off', { status, retryable: status >= 500, trouble: 'access' })
      if (deltas) yield { type: 'delta', text: 'Yes.' }
      const reply = { text: 'Yes.', toolCalls: [], finishReason: 'stop', usage: null, model: null } as const
      yield { type: 'reply', reply: { ...reply, reasoning: `try ${calls}` } }
    },
  }
}

test('[D23] reasoning does not keep a broken call from being tried again, and the next try begins it anew', async () => {
  const runtime = createRuntime({
    agents: [agent('root', shows)],
    models: { 'play/model': breaking('play/model', 503) },
    retry: { tries: 2, baseMs: 1 },
  })
  const deltas = await followed({ runtime })
  assert.deepEqual(reasonedBy(deltas), [
    { reasoning: 'try 1', attempt: 1 },
    { reasoning: '', attempt: 1, snapshot: true },
    { reasoning: 'try 2', attempt: 1 },
  ])
  const document = await runtime.getDocument('chats/1', { detail: 'full' })
  assert.deepEqual(reasonedIn(document), ['try 2'])
  await runtime.close()
})

test('a fallback begins the reasoning anew too', async () => {
  const other = breaking('other/model', 401)
  for await (const _ of other.stream({} as never, { signal: AbortSignal.abort(), deltas: true })) break // its first call is spent
  const runtime = createRuntime({
    agents: [agent('root', { ...shows, fallbacks: ['other/model'] })],
    models: { 'play/model': breaking('play/model', 401), 'other/model': other },
  })
  assert.deepEqual(reasonedBy(await followed({ runtime })), [
    { reasoning: 'try 1', attempt: 1 },
    { reasoning: '', attempt: 1, snapshot: true },
    { reasoning: 'try 2', attempt: 1 },
  ])
  await runtime.close()
})

test('reasoning without end is cut, at a place that tells no part of a hidden value', async () => {
  const long = `${'so '.repeat(33_332)}canary-one and more`
  const stage = createStage({
    agents: [{ id: 'root', ...shows, parameters: [hidden] }],
    plays: { root: () => ({ text: 'Yes.', reasoning: [long] }) },
  })
  const deltas = await followed(stage, { parameters: { key: 'canary-one' } })
  const document = await full(stage)
  const [stored] = reasonedIn(document) as [string]
  assert.match(stored, /\[hidden\] \[cut: 100000 of 100015 characters\]$/)
  assert.doesNotMatch(JSON.stringify([reasonedBy(deltas), document]), /canary/)
})

test('a model that reasons although nobody asked is not heard', async () => {
  const model: Model = {
    id: 'talkative',
    async *stream() {
      yield { type: 'reasoning', text: 'Let me see.' }
      const reply = { text: 'Yes.', toolCalls: [], finishReason: 'stop', usage: null, model: null } as const
      yield { type: 'reply', reply: { ...reply, reasoning: 'Let me see.' } }
    },
  }
  const store = outliving(memoryStore())
  const stage = createStage({
    agents: [{ id: 'root' }],
    plays: {},
    options: { store, models: { 'play/model': model } },
  })
  assert.deepEqual(await followed(stage), [])
  const everything = [await full(stage), await storedEntries(store, 'chats/1')]
  assert.doesNotMatch(JSON.stringify(everything), /Let me see/)
})

test('what a model calls its reasoning without a right to is left out', async () => {
  const stage = (reasoning: unknown) => {
    const reply = { text: 'Yes.', toolCalls: [], finishReason: 'stop', usage: null, model: null } as const
    const model = {
      id: 'odd',
      async *stream() {
        yield { type: 'reply', reply: { ...reply, reasoning } } as unknown as ModelPart
      },
    }
    return createStage({ agents: [{ id: 'root', ...shows }], plays: {}, options: { models: { 'play/model': model } } })
  }
  for (const reasoning of ['', 7, null, {}, ['a']]) {
    const one = stage(reasoning)
    assert.equal((await one.ask('root', 'go', { id: 'chats/1' })).status, 'completed')
    assert.deepEqual(reasonedIn(await full(one)), [null], JSON.stringify(reasoning))
  }
  const broken = stage('half \ud83d')
  await broken.ask('root', 'go', { id: 'chats/1' })
  assert.deepEqual(reasonedIn(await full(broken)), ['half \ufffd'])
})
