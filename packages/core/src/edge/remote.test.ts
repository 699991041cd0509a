/** When an agent on another server is offered, and why not: the depth, the chain, a mention that its caller routes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuntime } from '../runtime.ts'
import type { AgentData } from '@witan/protocol'
import { agentSchema } from '@witan/protocol/schemas'
import type { IncomingCall } from '@witan/protocol/entries'
import type { RemoteCaller } from '../tool/remote.ts'
import type { Caller, ImmediateTool } from '../tool/tool.ts'
import { remoteTools } from './remote.ts'

const nobody: RemoteCaller = { call: () => Promise.reject(new Error('not called')), abandon: () => {} }
const remotes = [
  { name: 'docs', address: '@docs@b.test', description: 'Knows the documents.' },
  { name: 'travel', card: 'https://travel.test/card.json', mentionRelay: 'inline', blocking: 'model' },
]
const desk: AgentData = agentSchema.parse({ id: 'desk', instructions: 'x', model: 'm/m', remotes })

interface At {
  readonly incoming?: IncomingCall
  readonly depth?: number
  readonly isCalled?: boolean
  readonly caller?: RemoteCaller | null
  readonly address?: string
}

function toolsAt({ incoming, depth = 0, isCalled = true, caller = nobody }: At = {}): readonly ImmediateTool[] {
  const lineage = isCalled ? [{}] : [{}, {}]
  const at = { agent: desk, depth, maxDepth: 2, lineage, principal: incoming === undefined ? {} : { incoming } }
  return remoteTools(caller)(at as unknown as Caller) as readonly ImmediateTool[]
}

const chain = (hop: number, path: readonly string[] = ['@a@a.test']) => ({ hop, maxHops: 4, root: 'r', path })
const offered = (at?: At) => toolsAt(at).flatMap(({ offer }) => offer?.name ?? [])
const refusal = (at: At, args: Record<string, unknown> = { message: 'x' }) => {
  const [tool] = toolsAt(at)
  const request = { callId: 'c', toolCallId: 't', arguments: args }
  const outcome = tool?.invoke(request, {
    agent: { ...desk, address: at.address ?? null },
    principal: { incoming: at.incoming },
  } as unknown as Caller)
  return outcome?.kind === 'result' ? outcome.failure?.code : outcome?.kind
}

test('remotes are offered by their names, with what they say of themselves', () => {
  const [docs, travel] = toolsAt()
  assert.equal(docs?.offer?.description, 'Knows the documents.')
  assert.match(travel?.offer?.description ?? '', /https:\/\/travel\.test\/card\.json/)
  assert.deepEqual(Object.keys((travel?.offer?.parameters['properties'] ?? {}) as object), ['message', 'blocking'])
  assert.equal(refusal({}), 'pending')
})

const rows: readonly (readonly [string, At, readonly string[], string | undefined])[] = [
  ['without a chain', {}, ['docs', 'travel'], 'pending'],
  ['in the middle of a chain', { incoming: { chain: chain(2) } }, ['docs', 'travel'], 'pending'],
  ['[M12] [E29] at the final hop', { incoming: { chain: chain(4) } }, [], 'CHAIN_EXHAUSTED'],
  [
    '[M07] at the final hop, below the called agent',
    { incoming: { chain: chain(4) }, isCalled: false },
    [],
    'CHAIN_EXHAUSTED',
  ],
  [
    '[M13] where the caller routes mentions',
    { incoming: { chain: chain(1), mentionRelay: 'inline' } },
    ['travel'],
    'TOOL_UNKNOWN',
  ],
  [
    '[M13] below the agent whose mentions are routed',
    { incoming: { chain: chain(1), mentionRelay: 'inline' }, isCalled: false },
    ['docs', 'travel'],
    'pending',
  ],
  ['[C2] at the greatest depth', { depth: 2 }, [], 'DEPTH_EXCEEDED'],
  ['without a domain', { caller: null }, [], 'TOOL_UNKNOWN'],
  [
    '[M28] where the call came through it',
    { incoming: { chain: chain(2, ['@docs@b.test', '@a@a.test']) } },
    ['docs', 'travel'],
    'CHAIN_LOOP',
  ],
  ['[M28] of itself', { address: '@docs@b.test' }, ['docs', 'travel'], 'CHAIN_LOOP'],
  [
    '[M28] behind 64 agents',
    {
      incoming: {
        chain: chain(
          2,
          Array.from({ length: 64 }, (_, index) => `@n${index}@a.test`),
        ),
      },
    },
    ['docs', 'travel'],
    'CHAIN_LOOP',
  ],
]
for (const [what, at, names, code] of rows)
  test(`remotes ${what}: ${names.join(', ') || 'none'}`, () => {
    assert.deepEqual(offered(at), names)
    assert.equal(refusal(at), code)
  })

test('[Mb01] an address is kept in canonical form, and one that is none is refused', async () => {
  const runtime = createRuntime({ agents: [] })
  const draft = { id: 'desk', instructions: 'x', model: 'm/m' }
  const save = (remote: object) => runtime.agents.save({ ...draft, remotes: [{ name: 'docs', ...remote }] } as never)
  for (const address of ['docs', '@docs@localhost', '@v1@b.test', '@docs@127.0.0.1', '@do cs@b.test'])
    await assert.rejects(save({ address }), { code: 'ADDRESS_INVALID', path: 'remotes.0.address' }, address)
  for (const remote of [
    {},
    { address: '@a@b.test', card: 'https://b.test/c' },
    { address: '@a@b.test', bearerEnv: 'X' },
  ])
    await assert.rejects(save(remote), { code: 'AGENT_INVALID' }, JSON.stringify(remote))
  await runtime.close()
})
