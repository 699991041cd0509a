/** A fork at the end of any run reads, says and costs from there on what its original does, and neither touches the other. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ModelRequest } from '@witan/core'
import type { WitanError } from '@witan/protocol'
import fc from 'fast-check'
import {
  givenTo,
  note,
  randomPlay,
  type RandomSystem,
  randomSystem,
  toTheEnd,
  definedBy,
} from '../support/random-system.ts'
import { artifactsOf, assertArtifacts, lineageOf, withoutIds } from '../support/made.ts'
import { randomMcp } from '../support/random-mcp.ts'
import { holds } from '../support/seeds.ts'
import { createStage, type Stage } from '../support/stage.ts'

const prompts = ['go', 'again', 'once more']

interface Round {
  /** Where a fork before this round begins. */
  readonly seq: number
  readonly requests: readonly string[]
  readonly told: unknown
}

/** Says the prompts one after the other; what each made the models read, and what came of it. */
async function converse(stage: Stage, id: string, said: readonly string[]): Promise<readonly Round[]> {
  const rounds: Round[] = []
  for (const prompt of said) {
    const { lastSeq: seq } = await stage.runtime.getConversation(id)
    const before = stage.requests.length
    const result = await toTheEnd(stage.runtime, await stage.run(id, { prompt }))
    const { runId: _, traceId: __, conversationId: ___, ...told } = result
    rounds.push({ seq, requests: stage.requests.slice(before).map(plain).sort(), told })
  }
  return rounds
}

const plain = (request: ModelRequest) => withoutIds(JSON.stringify(request))

async function documentsOf(stage: Stage, id: string) {
  const events = await stage.events(id)
  const paths = [...new Set(events.map(({ document }) => document))].sort()
  const documents = await Promise.all(paths.map((path) => stage.runtime.getDocument(path, { limit: 200 })))
  const renamed = JSON.parse(
    JSON.stringify([events, documents]).replaceAll(`${id}/`, 'x/').replaceAll(`"${id}"`, '"x"'),
  )
  return renamed as [{ seq: number }[], unknown[]]
}

/** What agents remember of a person goes on with time, and is the same in a fork and its original. */
async function assertForks(drawn: RandomSystem): Promise<void> {
  const system = { ...drawn, agents: drawn.agents.map((agent) => ({ ...agent, memory: null })) }
  const play = randomPlay(system.seed)
  const plays = Object.fromEntries(system.agents.map(({ id }) => [id, play]))
  const stage = createStage({
    agents: system.agents,
    plays,
    options: { tools: [note], ...definedBy(system), mcpServers: randomMcp(true) },
  })
  await stage.runtime.start({ agent: 'a', id: 'chats/1', parameters: givenTo(system) })
  const rounds = await converse(stage, 'chats/1', prompts)
  const original = await documentsOf(stage, 'chats/1')
  const files = await artifactsOf(stage.runtime, 'chats/1')
  for (const [index, { seq }] of rounds.entries()) {
    const fork = await stage.runtime.forkConversation('chats/1', { seq, id: `forks/${index}` })
    assert.deepEqual([fork.lastSeq, fork.runs, fork.activeRunId, fork.interruptions], [seq, [], null, []])
    const [events] = await documentsOf(stage, fork.id)
    assert.deepEqual(events, original[0].slice(0, seq))
    const inFork = (await artifactsOf(stage.runtime, fork.id)).map((one) => ({ ...one, conversationId: 'chats/1' }))
    assert.deepEqual(inFork, files.slice(0, inFork.length), 'the same artifacts under the same ids')
    const again = await converse(stage, fork.id, prompts.slice(index))
    assert.deepEqual(again, rounds.slice(index))
    await assertArtifacts(stage.runtime, fork.id)
    assert.deepEqual(lineageOf(await artifactsOf(stage.runtime, fork.id)), lineageOf(files))
  }
  assert.deepEqual(await documentsOf(stage, 'chats/1'), original, 'the original is as it was')
  await assertRefusals(stage, [...rounds.map(({ seq }) => seq), original[0].length])
}

/** Everywhere else a call is open, and the last legal seq is named. */
async function assertRefusals(stage: Stage, legal: readonly number[]): Promise<void> {
  for (let seq = 0; seq <= (legal.at(-1) ?? 0); seq += 1) {
    if (legal.includes(seq)) continue
    const last = legal.findLast((one) => one < seq)
    await assert.rejects(stage.runtime.forkConversation('chats/1', { seq }), (error: WitanError) => {
      assert.deepEqual([error.code, error.details['lastLegalSeq']], ['FORK_OPEN_CALLS', last])
      return error.message.includes(`last legal seq is ${last}.`)
    })
  }
}

test('[Rb55] [P19] [T31] a fork of any random history goes on as its original does', async (context) => {
  await holds(context, fc.asyncProperty(randomSystem, assertForks), 60)
})
