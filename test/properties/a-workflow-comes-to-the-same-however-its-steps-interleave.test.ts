/** Any nest of workflows: whichever of its children is faster, it comes to the same. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import type { Workflow } from '@witan/protocol/entries'
import fc from 'fast-check'
import { assertSound } from '../support/claims.ts'
import { holds } from '../support/seeds.ts'
import { type AgentDraft, createStage, playerOf, settle } from '../support/stage.ts'
import { scriptedModel } from '@witan/core/testing'

interface Nest {
  readonly kind: Workflow['kind']
  readonly pass: Workflow['pass']
  readonly onError: Workflow['onError']
  readonly children: readonly (Nest | number)[]
}

const leaves = ['p', 'q', 'r', 's', 't', 'u']

const { nest } = fc.letrec<{ nest: Nest; child: Nest | number }>((tie) => ({
  nest: fc.record({
    kind: fc.constantFrom('sequence', 'parallel', 'loop'),
    pass: fc.constantFrom('all', 'previous', 'input'),
    onError: fc.constantFrom('stop', 'continue'),
    children: fc.array(tie('child'), { minLength: 1, maxLength: 3 }),
  }),
  child: fc.oneof({ maxDepth: 2, withCrossShrink: true }, fc.nat(leaves.length - 1), tie('nest')),
}))

/** The agents of a nest: one for each workflow in it, and the leaves that they name. */
function agentsOf(root: Nest): AgentDraft[] {
  const agents: AgentDraft[] = leaves.map((id) => ({ id }))
  const add = (of: Nest, id: string): void => {
    const named = of.children.map((child, index) => {
      if (typeof child === 'number') return leaves[child] ?? 'p'
      add(child, `${id}-${index}`)
      return `${id}-${index}`
    })
    const steps = of.kind === 'parallel' ? [...new Set(named)] : named
    agents.push({
      id,
      workflow: { kind: of.kind, agents: steps, pass: of.pass, onError: of.onError, maxIterations: 2 },
    })
  }
  add(root, 'w')
  return agents
}

async function told(agents: readonly AgentDraft[], { seed, pace }: { seed: number; pace: number }) {
  const dice = (text: string) => createHash('sha256').update(text).digest()
  const model = scriptedModel(async (request) => {
    const words = JSON.stringify(request.messages)
    await settle((dice(`${pace} ${words}`)[0] ?? 0) % 5)
    const [kind = 0, what = 0] = dice(`${seed} ${words}`)
    if (kind % 8 === 0) return new Error('no connection')
    if (kind % 8 === 1 && request.tools.some(({ name }) => name === 'exit_loop'))
      return { text: what % 2 === 0 ? 'enough' : '', toolCalls: [{ name: 'exit_loop', arguments: {} }] }
    return `${playerOf(request)} ${what}`
  })
  const stage = createStage({ agents, plays: {}, options: { models: { 'play/model': model } } })
  const { status, agent, text, output, finishReason, error } = await stage.ask('w', 'go', { id: 'chats/1' })
  const events = await stage.events('chats/1')
  assertSound(events)
  const steps = events.filter(({ type, kind }) => type === 'start' && kind === 'agent')
  const tree = steps.map(({ agentPath, branchPath, content }) =>
    JSON.stringify([agentPath, branchPath, content['step'], content['message']]),
  )
  return { result: { status, agent, text, output, finishReason, detail: error?.detail }, tree: tree.sort() }
}

test('[C34] a workflow comes to the same however its steps interleave', async (context) => {
  const statuses = new Map<string, number>()
  const property = fc.asyncProperty(nest, fc.nat(), async (root, seed) => {
    const agents = agentsOf(root)
    const first = await told(agents, { seed, pace: 1 })
    for (const pace of [2, 3]) assert.deepEqual(await told(agents, { seed, pace }), first)
    const { status, finishReason } = first.result
    for (const key of [status, finishReason]) statuses.set(key, 1 + (statuses.get(key) ?? 0))
  })
  const expected = await holds(context, property, 300)
  for (const key of ['completed', 'failed', 'iteration_limit'])
    assert.ok((statuses.get(key) ?? 0) > expected(5), `${key} came up`)
})
