/** What a model has read in a document stands at the same place in its next request, byte for byte: memory, knowledge and plans are added behind it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ModelCall } from '@witan/protocol/schemas'
import fc from 'fast-check'
import { modelCallsOf } from '../support/asked.ts'
import { definedBy, note, randomPlay, randomSystem, toTheEnd } from '../support/random-system.ts'
import { holds } from '../support/seeds.ts'
import { type AgentDraft, createStage } from '../support/stage.ts'

/** A plan stands in its calls: its line is for what follows a summary, which is another prefix. */
const words = ['memory', 'knowledge'] as const

/** The requests of each reader in their order: of one agent in one document. */
function byReader(calls: readonly ModelCall[]): readonly (readonly ModelCall[])[] {
  const readers = new Map<string, ModelCall[]>()
  for (const call of calls) {
    const key = `${call.document} ${call.agent}`
    readers.set(key, [...(readers.get(key) ?? []), call])
  }
  return [...readers.values()]
}

const block = { subject: 'user:local', scope: 'person', key: 'k0', text: 'known' } as const

/**
 * One reader for each agent in a document. Else several peers are read beside each other; an agent as a tool, an isolated and a shared history
 * begin anew in each call; and values that a model makes stand in front of all.
 */
function asOneReader({
  speaks: _,
  subAgents = [],
  reflection,
  guardrails,
  mcp = [],
  ...draft
}: AgentDraft): AgentDraft {
  const delegates = subAgents.map((edge) => ({ ...edge, history: 'agent' as const, style: 'delegate' as const }))
  // Critics and agents that check begin anew each time.
  const critic = reflection === undefined ? {} : { reflection: { ...reflection, agent: null } }
  const checks =
    guardrails?.input?.some(({ kind }) => kind === 'agent') === true ? {} : { guardrails: guardrails ?? {} }
  const own = { ...critic, ...checks, mcp: mcp.filter(({ bind }) => bind === undefined) }
  return draft.workflow ? draft : { ...draft, ...own, subAgents: delegates, parameters: [] }
}

/** How deep a document's agent stands differs where it is reached by a delegation and by a hand-over: its system message says so. */
const lastLevel = /\nThis is the last level \(\d+ of \d+\): [^\n]*/

/** A user's message goes on where nothing was said between: so it has no end here. */
function textOf(messages: NonNullable<ModelCall['request']>['messages']): string {
  return messages
    .map(({ role, content: written, ...rest }, at) => {
      const content = role === 'system' ? written.replace(lastLevel, '') : written
      const isLast = at === messages.length - 1
      const head = JSON.stringify([role, content]).slice(0, -2)
      return isLast && role === 'user' ? head : `${head}${JSON.stringify(rest)}`
    })
    .join('\n')
}

test('[F02] [F08] [F39] what a model has read is the beginning of what it reads next, with memory, knowledge and plans', async (context) => {
  const seen = new Map<string, number>()
  let compared = 0
  const property = fc.asyncProperty(randomSystem, async (system) => {
    const play = randomPlay(system.seed)
    const plays = Object.fromEntries(system.agents.map(({ id }) => [id, play]))
    const agents = system.agents.map(asOneReader)
    const stage = createStage({ agents, plays, options: { tools: [note], ...definedBy(system) } })
    await stage.runtime.start({ agent: 'a', id: 'chats/1' })
    for (const { id, memory } of agents) if (memory) await stage.runtime.memory.create({ ...block, agent: id })
    for (const prompt of ['go', 'again', 'once more'])
      await toTheEnd(stage.runtime, await stage.run('chats/1', { prompt }))
    for (const calls of byReader(await modelCallsOf(stage.runtime, 'chats/1'))) {
      let before = ''
      for (const { request, reply, id, purpose } of calls) {
        if (request === null) continue
        const text = textOf(request.messages)
        assert.equal(text.slice(0, before.length), before, `model call ${id}`)
        for (const word of words) if (text.includes(`] ${word}: `)) seen.set(word, 1 + (seen.get(word) ?? 0))
        // What a delegate was asked in vain is taken back, and a question about an answer is in no document.
        if (purpose === 'answer' && reply !== null && (reply.text !== '' || reply.toolCalls.length > 0)) before = text
        compared += 1
      }
    }
    await stage.runtime.close()
  })
  const expected = await holds(context, property, { all: 300, quick: 60 })
  context.diagnostic(`${compared} requests, ${JSON.stringify(Object.fromEntries(seen))}`)
  assert.ok(compared > expected(1_000), `only ${compared} requests were compared`)
  assert.ok((seen.get('knowledge') ?? 0) > expected(100) && (seen.get('memory') ?? 0) > expected(300), 'too few lines')
})
