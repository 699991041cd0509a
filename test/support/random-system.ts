/** Random systems of agents whose models do random things: what each does depends only on what it reads, so a run can be repeated. */
import { createHash } from 'node:crypto'
import { defineTool, type FunctionTool, type ModelRequest, type Runtime, type RuntimeOptions } from '@witan/core'
import { defineKnowledgeSource } from '@witan/core/knowledge'
import type { Rule, ScriptedAnswer, ScriptedCall } from '@witan/core/testing'
import type { Interruption, RunResult } from '@witan/protocol'
import { stepStatuses } from '@witan/protocol/plan'
import type { ProtocolInput } from '@witan/protocol/protocols'
import fc from 'fast-check'
import { z } from 'zod'
import { withoutIds } from './made.ts'
import { guardrailsOf } from './random-guardrails.ts'
import { mcpUsesOf, randomMcp } from './random-mcp.ts'
import { randomHooks } from './random-hooks.ts'
import { type AgentDraft, settle } from './stage.ts'

export interface RandomSystem {
  readonly seed: number
  readonly agents: readonly AgentDraft[]
  /** The protocols that they speak; absent in systems of before there were any. */
  readonly protocols?: readonly ProtocolInput[]
}

const ids = ['a', 'b', 'c', 'd', 'e']

/** Up to five agents with any edges but to themselves, small limits, a tool, an action, files, and ways to ask people. */
export const randomSystem: fc.Arbitrary<RandomSystem> = fc
  .record({
    seed: fc.nat(),
    size: fc.integer({ min: 1, max: ids.length }),
    edges: fc.array(fc.tuple(fc.nat(4), fc.nat(4), fc.nat(17)), { maxLength: 12 }),
    acting: fc.array(fc.boolean(), { minLength: 5, maxLength: 5 }),
    bound: fc.array(fc.boolean(), { minLength: 5, maxLength: 5 }),
    asking: fc.array(fc.nat(7), { minLength: 5, maxLength: 5 }),
    flows: fc.array(fc.nat(8), { minLength: 5, maxLength: 5 }),
    shaped: fc.array(fc.boolean(), { minLength: 5, maxLength: 5 }),
    peering: fc.array(fc.tuple(fc.nat(4), fc.nat(4), fc.nat(1)), { maxLength: 6 }),
    limits: fc.record({
      maxIterations: fc.integer({ min: 1, max: 4 }),
      maxDepth: fc.integer({ min: 1, max: 4 }),
      maxModelCalls: fc.integer({ min: 2, max: 40 }),
      maxParallel: fc.integer({ min: 1, max: 4 }),
      maxModelIterationsPerCall: fc.option(fc.integer({ min: 1, max: 20 })),
    }),
    saving: fc.array(fc.boolean(), { minLength: 5, maxLength: 5 }),
    knowing: fc.array(fc.nat(5), { minLength: 5, maxLength: 5 }),
    planning: fc.array(fc.boolean(), { minLength: 5, maxLength: 5 }),
    remembering: fc.array(fc.nat(5), { minLength: 5, maxLength: 5 }),
    reflecting: fc.array(fc.nat(5), { minLength: 5, maxLength: 5 }),
    guarding: fc.array(fc.nat(8), { minLength: 5, maxLength: 5 }),
    serving: fc.array(fc.nat(11), { minLength: 5, maxLength: 5 }),
  })
  .map((drawn) => {
    const { seed, size, edges, acting, asking, bound, flows, shaped, peering, limits } = drawn
    const { saving, knowing, planning, remembering, reflecting, guarding, serving } = drawn
    const agents = ids.slice(0, size).map((id, index): AgentDraft => {
      const targets = new Map<string, number>()
      for (const [from, to, kind] of edges) {
        const target = ids[to]
        if (from === index && to !== index && to < size && target !== undefined) targets.set(target, kind)
      }
      const flow = flows[index] ?? 0
      if (index > 0 && flow < 3 && targets.size > 0) return { id, limits, ...flowOf(flow, [...targets.keys()]) }
      const delegates = [...targets].filter(([, kind]) => kind < 12)
      return {
        id,
        limits: { ...limits, maxTransfers: 4, maxPlanRevisions: 2 },
        tools: ['note'],
        subAgents: delegates.map(([agent, kind]) => edgeOf(agent, kind)),
        transfers: [...targets].filter(([, kind]) => kind >= 12).map(([agent, kind]) => transferOf(agent, kind)),
        transferReach: flow === 8 ? 'tree' : 'edges',
        ...waysToAsk(
          asking[index] ?? 0,
          delegates.map(([agent]) => agent),
        ),
        artifacts: saving[index] ?? false,
        enablePlanning: planning[index] ?? false,
        ...reflectionOf(reflecting[index] ?? 5, ids[(index + 1) % size] ?? 'a', size),
        memory: memoryOf(remembering[index] ?? 5),
        knowledgeBases: usesOf(knowing[index] ?? 5),
        guardrails: guardrailsOf(guarding[index] ?? 8, {
          isShaped: shaped[index] === true,
          other: size > 1 ? (ids[(index + 1) % size] ?? null) : null,
        }),
        mcp: mcpUsesOf(serving[index] ?? 11, bound[index] === true && index > 0),
        actions: acting[index] ? [{ name: 'Ask' }] : [],
        parameters: bound[index] && index > 0 ? [{ name: 'key' }, { name: 'made' }] : [],
        outputSchema: shaped[index] ? { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } : null,
      }
    })
    return { seed, agents: withPeers(agents, peering), protocols }
  })

/** One base, searched by a tool, by itself, or both; or none. */
function usesOf(kind: number): NonNullable<AgentDraft['knowledgeBases']> {
  const retrieval = (['tool', 'auto', 'both'] as const)[kind]
  return retrieval === undefined ? [] : [{ id: 'lore', retrieval, limit: 2 }]
}

/** By its own model with either end of a critique that fails, by the agent after it, or none. */
function reflectionOf(kind: number, other: string, size: number): Pick<AgentDraft, 'enableReflection' | 'reflection'> {
  if (kind === 2 && size > 1) return { enableReflection: true, reflection: { agent: other } }
  const onFail = (['answer', 'error'] as const)[kind]
  return onFail === undefined ? {} : { enableReflection: true, reflection: { onFail } }
}

/** Of every owner, small and with all kinds; of people alone; or none. */
function memoryOf(kind: number): AgentDraft['memory'] {
  if (kind === 0)
    return { scopes: ['conversation', 'person', 'agent'], archival: 'auto', coreBlocks: 2, inGroups: true }
  return kind === 1 ? { coreCharacters: 100, archival: 'off' } : null
}

/** What a search finds depends on its words alone; every fourth finds nothing, and every ninth fails. */
const lore = defineKnowledgeSource({
  id: 'lore',
  description: 'What is told.',
  search: async ({ query }) => {
    const dice = createHash('sha256').update(query).digest()
    await settle((dice[0] ?? 0) % 2)
    if ((dice[1] ?? 0) % 9 === 0) throw new Error('the search is down')
    if ((dice[1] ?? 0) % 4 === 0) return []
    return [0, 1].map((at) => ({
      id: `d${(dice[2 + at] ?? 0) % 3}`,
      title: 'Lore',
      text: `told ${(dice[4 + at] ?? 0) % 5}`,
    }))
  },
})

/** What a runtime has of a system beside its agents. */
export function definedBy({
  seed,
  agents,
  protocols = [],
}: RandomSystem): Pick<RuntimeOptions, 'protocols' | 'knowledge' | 'hooks' | 'mcpServers'> {
  const knows = agents.some(({ knowledgeBases = [] }) => knowledgeBases.length > 0)
  return { protocols, knowledge: knows ? [lore] : [], hooks: randomHooks(seed), mcpServers: randomMcp() }
}

/** One protocol without an order and one with, of two ends that both may write. */
const protocols: readonly ProtocolInput[] = [
  { name: 'talk', messages: [message('ask', 'initiator'), message('tell', 'responder')] },
  {
    name: 'deal',
    purpose: 'A bargain.',
    messages: [message('offer', 'initiator'), message('counter', 'responder'), message('accept', 'initiator')],
    order: {
      start: 'open',
      final: ['open', 'done'],
      states: { open: { offer: 'offered' }, offered: { counter: 'offered', accept: 'done' }, done: {} },
    },
  },
]

function message(name: string, from: 'initiator' | 'responder'): ProtocolInput['messages'][number] {
  const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
  const reply = name === 'ask' ? null : { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] }
  return { name, from, schema: text, reply }
}

/** The agents with the acquaintances that were drawn, both ends of each. Workflows speak with nobody. */
function withPeers(
  agents: readonly AgentDraft[],
  peering: readonly (readonly [number, number, number])[],
): AgentDraft[] {
  const speaks = new Map<string, Map<string, Set<string>>>()
  const add = (id: string, as: string, peer: string) => {
    const own = speaks.get(id) ?? new Map<string, Set<string>>()
    own.set(as, (own.get(as) ?? new Set()).add(peer))
    speaks.set(id, own)
  }
  for (const [from, to, which] of peering) {
    const [initiator, responder] = [agents[from], agents[to]]
    if (initiator === undefined || responder === undefined || from === to) continue
    if (initiator.workflow || responder.workflow) continue
    add(initiator.id, `${which} initiator`, responder.id)
    add(responder.id, `${which} responder`, initiator.id)
  }
  return agents.map((draft) => {
    const own = [...(speaks.get(draft.id) ?? [])].map(([as, peers]) => {
      const [which, role] = as.split(' ')
      const protocol = protocols[Number(which)]?.name ?? ''
      return {
        protocol,
        role: role === 'initiator' ? ('initiator' as const) : ('responder' as const),
        peers: [...peers],
      }
    })
    return own.length === 0 ? draft : { ...draft, speaks: own }
  })
}

/** Approvals of the tool and the first delegate, questions, and a person. */
function waysToAsk(kind: number, targets: readonly string[]): Partial<AgentDraft> {
  return {
    approvals: [...(kind % 4 === 1 ? ['note'] : []), ...(kind % 4 === 2 ? targets.slice(0, 1) : [])],
    questions: kind === 3 || kind === 5,
    users: kind > 5 ? [{ id: 'anna' }] : [],
  }
}

/** A workflow of one of the three kinds over these agents. */
function flowOf(kind: number, agents: string[]): Pick<AgentDraft, 'workflow'> {
  const onError = agents.length % 2 === 0 ? 'stop' : 'continue'
  return {
    workflow: { kind: (['sequence', 'parallel', 'loop'] as const)[kind] ?? 'loop', agents, onError, maxIterations: 2 },
  }
}

/** With and without return, and both histories. */
function transferOf(agent: string, kind: number): NonNullable<AgentDraft['transfers']>[number] {
  return { agent, returnsTo: kind % 2 === 0 ? 'caller' : null, history: kind % 3 === 0 ? 'words' : 'all' }
}

/** Every history with every style, and both ways to collect. */
function edgeOf(agent: string, kind: number): NonNullable<AgentDraft['subAgents']>[number] {
  return {
    agent,
    history: (['agent', 'isolated', 'shared'] as const)[kind % 3] ?? 'agent',
    style: kind % 2 === 0 ? 'delegate' : 'agentTool',
    collect: kind < 6 ? 'final' : 'all',
  }
}

/** The value that a start gives, where some agent that the root reaches declares it. */
export function givenTo({ agents }: RandomSystem): Readonly<Record<string, unknown>> {
  const seen = new Set<string>(['a'])
  for (const id of seen) {
    const { subAgents = [], speaks = [] } = agents.find((one) => one.id === id) ?? {}
    for (const { agent } of subAgents) seen.add(agent)
    for (const { peers } of speaks) for (const peer of peers ?? []) seen.add(peer)
  }
  return agents.some(({ id, parameters }) => seen.has(id) && (parameters ?? []).length > 0) ? { key: 'k' } : {}
}

/** The greatest depth that the agents allow. */
export function depthOf(system: RandomSystem): number {
  return system.agents[0]?.limits?.maxDepth ?? 8
}

/** A read that says nothing of note. */
export const note: FunctionTool = defineTool({
  name: 'note',
  description: 'Notes.',
  parameters: z.object({}),
  effect: 'none',
  execute: async () => {
    await settle(1)
    return 'noted'
  },
})

/** What a model does: a function of the seed and of what it reads, but for the ids of artifacts, which no two runs share. */
export function randomPlay(seed: number, { isChecking = true } = {}): Rule {
  return async (request) => {
    const dice = createHash('sha256')
      .update(`${seed} ${withoutIds(JSON.stringify(request.messages))}`)
      .digest()
    if ((dice[1] ?? 0) % 3 === 0) await settle((dice[2] ?? 0) % 3)
    return answerOf(request, { dice, isChecking })
  }
}

interface Dice {
  readonly dice: Buffer
  /** Whether it is asked to check what others say: models of stored logs were not. */
  readonly isChecking: boolean
}

function answerOf(request: ModelRequest, { dice, isChecking }: Dice): ScriptedAnswer {
  const kind = (dice[0] ?? 0) % 16
  const isCritic = request.messages.at(-1)?.content.startsWith('{"question":') === true
  if ((request.output?.name === 'critique' || isCritic) && kind > 2) return critiqueOf(kind)
  const isGuard = isChecking && request.messages.at(-1)?.content.startsWith('{"text":') === true
  if (isGuard && kind > 1) return JSON.stringify({ allow: kind % 5 !== 0, reason: `because ${kind}` })
  const number = (dice[3] ?? 0) % 3
  if (kind === 0) return ''
  if (kind === 1) return new Error('the model is down')
  if (kind < 7) return request.output === null || kind === 2 ? `text ${number}` : `{"n":${number}}`
  const count = 1 + ((dice[4] ?? 0) % 3)
  const toolCalls = Array.from({ length: count }, (_, index) => callOf(request, dice.subarray(5 + index * 3)))
  return kind === 7 ? { text: 'words and calls', toolCalls } : { toolCalls }
}

/** Half of them find something; some are in a fence. */
function critiqueOf(kind: number): string {
  if (kind % 2 === 0) return '{"verdict":"pass","problems":[]}'
  const found = JSON.stringify({ verdict: 'revise', problems: [`problem ${kind}`] })
  return kind === 3 ? `\`\`\`json\n${found}\n\`\`\`` : found
}

function callOf(request: ModelRequest, dice: Buffer): ScriptedCall {
  const [which = 0, what = 0, how = 0] = dice
  const fileTools = what > 127 ? request.tools.filter(({ name }) => name.endsWith('_artifact')) : []
  const tools = fileTools.length > 0 ? fileTools : request.tools
  const tool = tools[which % (tools.length + 1)]
  if (tool === undefined) return { name: ids[what % ids.length] ?? 'a', arguments: { message: 'unasked' } }
  if (how % 12 === 0) return { name: tool.name, arguments: '{"message":' }
  const asked = Object.keys((tool.parameters['properties'] ?? {}) as object)
  if (tool.name === 'ask_question')
    return { name: tool.name, arguments: { questions: [{ id: 'q', text: `question ${what % 3}` }] } }
  if (tool.name === 'transfer_to_agent') return { name: tool.name, arguments: { agent_name: ids[what % ids.length] } }
  if (tool.name === 'save_artifact') {
    const file = { name: `file-${what % 3}.txt`, media_type: 'text/plain', text: `text ${how % 4}` }
    return { name: tool.name, arguments: file }
  }
  if (tool.name === 'update_plan')
    return { name: tool.name, arguments: { steps: stepsOf(what), reason: `why ${how % 3}` } }
  if (tool.name === 'remember') return { name: tool.name, arguments: blockOf(what, how) }
  if (tool.name === 'read_artifact') return { name: tool.name, arguments: { artifact_id: idIn(request, what) } }
  const made = Object.fromEntries(asked.map((name) => [name, `${name} ${what % 3}`]))
  return { name: tool.name, arguments: how % 12 === 1 ? { ...made, extra: 1 } : made }
}

/** One of three keys, as new or over one of its first revisions; every fifth is deleted. */
function blockOf(what: number, how: number) {
  const expected = what % 3 === 0 ? {} : { expected_revision: what % 4 }
  const kind = how % 3 === 0 ? { kind: 'archival' } : {}
  return { key: `k${how % 3}`, text: what % 5 === 0 ? '' : `text ${what % 7}`, ...expected, ...kind }
}

/** Up to three steps; some lists have two in progress, which no plan may have. */
function stepsOf(which: number) {
  return Array.from({ length: which % 4 }, (_, index) => {
    const status = stepStatuses[(which >> (2 * index)) % stepStatuses.length]
    return { id: `s${index}`, title: `step ${which % 3}`, status, ...(which % 5 === 0 ? { note: 'noted' } : {}) }
  })
}

/** One of the ids of artifacts that the model reads; one that there is nowhere, if it reads none. */
function idIn(request: ModelRequest, which: number): string {
  const known = [...new Set(JSON.stringify(request.messages).match(/art_[0-9a-v]{26}/g))]
  return known[which % known.length] ?? 'art_00000000000000000000000000'
}

/** Answers whatever waits until the run is over; every third action gets an error, every seventh ends the run by a cancel. */
export async function toTheEnd(
  runtime: Runtime,
  first: RunResult,
  between: () => Promise<Runtime> = async () => runtime,
) {
  let result = first
  let door = runtime
  for (let round = 0; result.status === 'waiting'; round += 1) {
    if (round > 200) throw new Error('a run waits without end')
    door = await between()
    if (round % 7 === 6) {
      await door.cancelRun(result.runId)
      result = await ended(door, result.runId)
      continue
    }
    const open = result.interruptions.slice(0, 1 + (round % 2))
    const answers = open.map(({ id, kind }) => ({ id, answer: answerTo(kind, round) }))
    result = await (await door.run(result.conversationId, { answers })).result
  }
  return result
}

/** An answer that fits its kind; the third of each three approvals is denied. */
export function answerTo(kind: Interruption['kind'], round: number): unknown {
  const text = `answer ${round}`
  if (kind === 'question') return { q: { text } }
  if (kind === 'approval') return round % 3 === 2 ? { decision: 'denied', reason: text } : { decision: 'approved' }
  return text
}

async function ended(runtime: Runtime, run: string): Promise<RunResult> {
  for (let round = 0; round < 500; round += 1) {
    const { status, result } = await runtime.getRun(run)
    if (result !== null && status !== 'running' && status !== 'waiting') return result
    await settle(1)
  }
  throw new Error(`run ${run} does not end`)
}
