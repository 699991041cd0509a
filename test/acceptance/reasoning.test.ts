/** What a model reasons, over HTTP: only of agents that show it, apart from the text, and without hidden values. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { agent, createStage, segment, type Stage, sub } from './support/stage.ts'
import type { RunResult, WitanEvent } from './support/wire.ts'
import type { Frame } from './support/witan.ts'

let stage: Stage
before(async () => {
  stage = await createStage()
})
after(() => stage?.close())

interface Streamed {
  readonly result: RunResult
  /** The joined deltas of reasoning and of text, by author. */
  readonly reasoned: Record<string, string>
  readonly said: Record<string, string>
  readonly whole: string
}

async function streamRun(id: string, prompt: string): Promise<Streamed> {
  const body = { prompt, verbose: true }
  const { status, frames } = await stage.witan.stream('POST', `/api/v1/conversations/${segment(id)}/runs`, { body })
  assert.equal(status, 200)
  const seen: Frame[] = []
  for await (const frame of frames) seen.push(frame)
  const streamed: Streamed = {
    result: JSON.parse(seen.at(-1)?.data ?? 'null') as RunResult,
    reasoned: {},
    said: {},
    whole: seen.map(({ data }) => data).join('\n'),
  }
  for (const { event, data, id: frameId } of seen) {
    if (event !== 'delta') continue
    const { kind, author, content } = JSON.parse(data) as WitanEvent & { content: Record<string, unknown> }
    assert.equal(frameId || undefined, undefined)
    const [into, key] = kind === 'reasoning' ? [streamed.reasoned, 'reasoning'] : [streamed.said, 'text']
    assert.deepEqual(Object.keys(content).sort(), ['attempt', key].sort())
    into[author] = `${into[author] ?? ''}${String(content[key])}`
  }
  return streamed
}

async function reasoningIn(path: string, query: string): Promise<unknown[]> {
  const { messages } = await stage.document(path, query)
  return messages.flatMap((one) => ('reasoning' in one ? [(one as { reasoning: unknown }).reasoning] : []))
}

test('off by default: a server that sends it changes nothing that anybody reads', async () => {
  await stage.save(agent('silent'))
  stage.model.script('silent', { reasoning: 'I wonder why.', text: 'Because.' })
  const { id } = await stage.begin('silent')
  const { reasoned, said, whole } = await streamRun(id, 'why?')
  assert.deepEqual([reasoned, said], [{}, { silent: 'Because.' }])
  assert.deepEqual(await reasoningIn(id, 'detail=full'), [])
  const log = JSON.stringify([whole, await stage.events(id), await stage.document(id, 'detail=full')])
  assert.doesNotMatch(log, /I wonder/)
})

test('an agent that shows it streams it apart, and its document holds it in full detail only', async () => {
  await stage.save(
    agent('open', { showReasoning: true, subAgents: [sub('open-leaf'), sub('open-quiet')] }),
    agent('open-leaf', { showReasoning: true }),
    agent('open-quiet'),
  )
  const asks = (name: string) => [{ name, args: { message: 'why?' } }]
  stage.model.script(
    'open',
    { reasoning: 'The leaf may know.', calls: asks('open-leaf') },
    { reasoning: 'The quiet one too.', calls: asks('open-quiet'), plain: true },
    { reasoning: 'That will do.', text: 'Because of that.', pieces: 9 },
  )
  stage.model.script('open-leaf', { reasoning: 'Leaves fall.', text: 'It is autumn.', pieces: 5 })
  stage.model.script('open-quiet', { reasoning: 'My secret.', text: 'Hm.' })
  const { id } = await stage.begin('open')
  const { result, reasoned, said, whole } = await streamRun(id, 'why?')
  assert.equal(result.text, 'Because of that.')
  assert.deepEqual(reasoned, {
    open: 'The leaf may know.The quiet one too.That will do.',
    'open-leaf': 'Leaves fall.',
  })
  assert.deepEqual(said, { open: 'Because of that.', 'open-leaf': 'It is autumn.', 'open-quiet': 'Hm.' })
  assert.deepEqual(await reasoningIn(id, 'detail=full'), ['The leaf may know.', 'The quiet one too.', 'That will do.'])
  assert.deepEqual(await reasoningIn(`${id}/open-leaf`, 'detail=full'), ['Leaves fall.'])
  for (const query of ['', 'detail=detailed', 'detail=simple']) assert.deepEqual(await reasoningIn(id, query), [])
  assert.doesNotMatch(whole, /My secret/)
  const asked = stage.model.of('open').map(({ body }) => JSON.stringify(body))
  assert.ok(asked.every((body) => !/Leaves fall|My secret/.test(body)))
  // What goes back to its own model is what came from it, as without the switch.
  assert.match(asked[1] ?? '', /"reasoning_content":"The leaf may know\."/)
})

test('[D15] [E19] a hidden value is in no delta and in no document, also one that is hidden later', async () => {
  await stage.save(
    agent('keeper', {
      showReasoning: true,
      parameters: [
        { name: 'key', sendToModel: false, policy: 'forbidModelGeneration' },
        { name: 'place', policy: 'forbidModelGeneration' },
      ],
    }),
  )
  const reasoning = 'The key is canary-5417, kept at harbour-5417.'
  stage.model.on('keeper', () => ({ reasoning, text: 'No.', pieces: 17 }))
  const parameters = { key: 'canary-5417', place: 'harbour-5417' }
  const { id } = await stage.begin('keeper', { id: 'chats/keeper', parameters })
  const { reasoned } = await streamRun(id, 'where?')
  assert.deepEqual(reasoned, { keeper: 'The key is [hidden], kept at harbour-5417.' })
  assert.deepEqual(await reasoningIn(id, 'detail=full'), ['The key is [hidden], kept at harbour-5417.'])
  const later = { ...parameters, place: { value: 'harbour-5417', sendToModel: false } }
  const hide = { agent: 'keeper', id: 'chats/keeper', parameters: later }
  assert.equal((await stage.witan.call('POST', '/api/v1/conversations', { body: hide })).status, 200)
  const again = await streamRun(id, 'where?')
  const clean = 'The key is [hidden], kept at [hidden].'
  assert.deepEqual(again.reasoned, { keeper: clean })
  assert.deepEqual(await reasoningIn(id, 'detail=full'), [clean, clean])
})

test('the switch is a boolean of an agent, and no other key turns it on', async () => {
  const put = (body: Record<string, unknown>) =>
    stage.witan.call('PUT', '/api/v1/agents/switch', { body: { ...agent('switch'), ...body } })
  assert.equal((await put({ showReasoning: true })).status, 201)
  assert.equal((await put({ showReasoning: false })).status, 200)
  for (const showReasoning of ['yes', 1, null, {}]) assert.equal((await put({ showReasoning })).status, 422)
  assert.equal((await put({ reasoning: true })).status, 422)
})
