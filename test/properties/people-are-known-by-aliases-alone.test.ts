/** People who come, speak, answer and go in any order: whoever reads their words reads who said them, and with aliases nobody's name. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import type { ModelRequest } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'
import { isWitanError } from '@witan/protocol'
import fc from 'fast-check'
import { assertAlternates, assertSound } from '../support/claims.ts'
import { holds } from '../support/seeds.ts'
import { type AgentDraft, createStage, playerOf, type Stage } from '../support/stage.ts'

const people = ['zoe', 'yan', 'xia', 'wim'].map((id) => ({ id: `${id}-id`, name: `${id} Name`, roles: [`${id}-role`] }))
const secrets = people.flatMap(({ id, name, roles }) => [id, name, ...roles])

const moves = fc.constantFrom('speak', 'speak', 'answer', 'answer', 'join', 'leave', 'nobody')
const stories = fc.record({
  seed: fc.nat(),
  first: fc.integer({ min: 1, max: 3 }),
  isListed: fc.boolean(),
  shares: fc.boolean(),
  moves: fc.array(fc.tuple(moves, fc.nat(3)), { minLength: 4, maxLength: 14 }),
})
type Story = typeof stories extends fc.Arbitrary<infer Value> ? Value : never

function agentsOf({ isListed, shares }: Story): AgentDraft[] {
  const own = { anonymizeUsers: 'guest', limits: { maxModelCalls: 40 } }
  const users = isListed ? people.slice(0, 3) : ('participants' as const)
  const history = shares ? 'shared' : 'agent'
  return [
    { id: 'ann', ...own, users, transfers: [{ agent: 'ben' }], subAgents: [{ agent: 'cal', history }] },
    { id: 'ben', ...own, users: [people[2] as (typeof people)[number]], transfers: [{ agent: 'ann' }] },
    { id: 'cal', ...own, users: 'participants' },
  ]
}

/** A model asks people, hands over, delegates or answers, as the hash of what it read says. */
function reply(seed: number, request: ModelRequest) {
  const read = JSON.stringify(request.messages)
  const [kind = 0, what = 0] = createHash('sha256')
    .update(`${seed} ${playerOf(request)} ${read}`)
    .digest()
  const tool = request.tools[kind % (request.tools.length + 2)]
  if (tool === undefined || request.messages.length > 12) return `said ${kind}`
  const properties = (tool.parameters as { properties: Record<string, { enum?: string[] }> }).properties
  const args: Record<string, unknown> = {}
  for (const name of Object.keys(properties)) {
    const options = properties[name]?.enum
    args[name] = options === undefined ? 'tell me' : options[what % options.length]
  }
  return { toolCalls: [{ name: tool.name, arguments: args }] }
}

async function play(stage: Stage, { moves: all, first }: Story): Promise<void> {
  const { runtime } = stage
  const id = 'chats/1'
  await runtime.start({ agent: 'ann', id, users: people.slice(0, first) })
  for (const [move, index] of all) {
    const person = people[index] as (typeof people)[number]
    try {
      const { interruptions, activeRunId } = await runtime.getConversation(id)
      const [open] = interruptions
      if (move === 'join') await runtime.addParticipant(id, person)
      else if (move === 'leave') await runtime.removeParticipant(id, person.id)
      else if (move === 'answer' && open !== undefined)
        await runtime.answerInterruption(open.id, { answer: `P${index}:fine` })
      else if (move === 'nobody') await (await runtime.run(id, { prompt: 'U9:news' })).result
      else await (await runtime.run(id, { prompt: `P${index}:words`, author: person.id })).result
      if (activeRunId !== null) await (await runtime.liveRun(id))?.result
    } catch (error) {
      if (
        !isWitanError(error) ||
        !['NOT_FOUND', 'USER_UNKNOWN', 'ALREADY_ANSWERED', 'RUN_FINISHED'].includes(error.code)
      )
        throw error
    }
  }
  const { activeRunId } = await runtime.getConversation(id)
  if (activeRunId !== null) await runtime.cancelRun(activeRunId)
}

const spoken = /^(\[from @([\w-]+) to @ann\] )?(P\d|U9):(words|news)$/

/** Each block of a person's words names its speaker, or stands behind no words of another. */
function assertNamed(request: ModelRequest, aliases: Map<string, string>): number {
  let named = 0
  for (const { role, content } of request.messages) {
    if (role !== 'user') continue
    let last: string | null = null
    for (const block of content.split('\n\n')) {
      const found = spoken.exec(block)
      const [, , alias, who = ''] = found ?? []
      if (alias === undefined) {
        assert.ok(found === null || last === null || last === who, `${who} would speak as ${last}: ${content}`)
        last = null
        continue
      }
      last = who
      named += 1
      if (who === 'U9') {
        assert.equal(alias, 'user')
        continue
      }
      const key = `${playerOf(request)} ${who}`
      assert.equal(aliases.get(key) ?? alias, alias, `the alias of ${who} changed`)
      aliases.set(key, alias)
    }
  }
  return named
}

test('[C36] [C6] [P21] whoever comes and goes, models read who speaks, by one alias for each person, and never a name', async (context) => {
  let named = 0
  let asked = 0
  const property = fc.asyncProperty(stories, async (story) => {
    const model = scriptedModel((request) => reply(story.seed, request))
    const stage = createStage({ agents: agentsOf(story), plays: {}, options: { models: { 'play/model': model } } })
    await play(stage, story)
    const events = await stage.events('chats/1')
    const isEnded = (await stage.runtime.getConversation('chats/1')).activeRunId === null
    if (isEnded) assertSound(events)
    asked += events.filter(({ type }) => type === 'message_required').length
    const aliases = new Map<string, string>()
    for (const request of model.requests) {
      assertAlternates(request)
      const text = JSON.stringify([request.messages, request.tools])
      for (const secret of secrets) assert.ok(!text.includes(secret), `${secret} is in what a model reads`)
      named += assertNamed(request, aliases)
    }
    for (const reader of ['ann', 'ben', 'cal']) {
      const own = [...aliases].filter(([key]) => key.startsWith(reader)).map(([, alias]) => alias)
      assert.equal(new Set(own).size, own.length, 'two people share an alias')
    }
    await stage.runtime.close()
  })
  const expected = await holds(context, property, 150)
  assert.ok(named > expected(200) && asked > expected(100), `${named} named, ${asked} asked`)
})
