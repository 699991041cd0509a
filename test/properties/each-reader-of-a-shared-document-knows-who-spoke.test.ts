/** Agents that hand over to each other in any order: each reads its own words as its own, and those of any other with the speaker. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import type { ModelRequest } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'
import fc from 'fast-check'
import { assertAlternates, assertSound } from '../support/claims.ts'
import { holds } from '../support/seeds.ts'
import { type AgentDraft, createStage, playerOf } from '../support/stage.ts'

const ids = ['ann', 'ben', 'cal', 'dot']

const systems = fc.record({
  seed: fc.nat(),
  words: fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }),
  returns: fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }),
  isBelow: fc.boolean(),
})

type System = typeof systems extends fc.Arbitrary<infer Value> ? Value : never

function agentsOf({ words, returns, isBelow }: System): AgentDraft[] {
  const agents = ids.map(
    (id): AgentDraft => ({
      id,
      actions: [{ name: 'Note' }],
      limits: { maxTransfers: 12, maxModelCalls: 60 },
      transfers: ids
        .filter((other) => other !== id)
        .map((agent) => ({
          agent,
          history: words[ids.indexOf(agent)] === true ? ('words' as const) : ('all' as const),
          returnsTo: returns[ids.indexOf(agent)] === true ? ('caller' as const) : null,
        })),
    }),
  )
  return isBelow ? [{ id: 'top', subAgents: [{ agent: 'ann' }] }, ...agents] : agents
}

/** What a model says: words that name it and no other, with calls in between. */
function said(seed: number, request: ModelRequest, turn: number) {
  const who = playerOf(request)
  const [kind = 0, what = 0] = createHash('sha256')
    .update(`${seed} ${who} ${JSON.stringify(request.messages)}`)
    .digest()
  const text = `${who}:${createHash('sha256')
    .update(`${seed}${turn}${JSON.stringify(request.messages)}`)
    .digest('hex')
    .slice(0, 12)}`
  if (who === 'top') return turn === 0 ? { toolCalls: [{ name: 'ann', arguments: { message: 'top:task' } }] } : text
  const hand = { name: 'transfer_to_agent', arguments: { agent_name: ids[what % ids.length] } }
  if (kind % 8 < 4) return { text: kind % 2 === 0 ? text : '', toolCalls: [hand] }
  if (kind % 8 === 4) return { text, toolCalls: [{ name: 'nothing', arguments: {} }, hand] }
  return text
}

const token = /(ann|ben|cal|dot):[0-9a-f]{12}/g

function assertSpeakers(request: ModelRequest): void {
  const reader = playerOf(request)
  for (const { role, content } of request.messages) {
    if (role === 'system' || role === 'tool') continue
    for (const { 1: speaker, index } of content.matchAll(token)) {
      if (role === 'assistant') assert.equal(speaker, reader, 'words of another as its own')
      else {
        assert.notEqual(speaker, reader, 'its own words as those of another')
        const block = content.slice(content.lastIndexOf('\n\n', index) + 1, index).trimStart()
        assert.ok(block.startsWith(`[from @${speaker} to @`), `no speaker before it: ${block}`)
      }
    }
  }
}

test('[P21] [C6] [Kb20] each reader of a shared document knows who spoke', async (context) => {
  let handOvers = 0
  let foreign = 0
  const property = fc.asyncProperty(systems, async (system) => {
    const model = scriptedModel((request, turn) => said(system.seed, request, turn))
    const stage = createStage({ agents: agentsOf(system), plays: {}, options: { models: { 'play/model': model } } })
    const root = system.isBelow ? 'top' : 'ann'
    await stage.ask(root, 'go', { id: 'chats/1' })
    await stage.run('chats/1', { prompt: 'and on' })
    const events = await stage.events('chats/1')
    assertSound(events)
    handOvers += events.filter(({ type }) => type === 'transfer').length
    for (const request of model.requests) {
      assertAlternates(request)
      assertSpeakers(request)
      foreign += request.messages.filter(({ role, content }) => role === 'user' && content.includes('[from @')).length
    }
  })
  const expected = await holds(context, property, 300)
  assert.ok(handOvers > expected(500) && foreign > expected(500), `${handOvers} hand-overs, ${foreign} told`)
})
