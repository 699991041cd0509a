/** The system under torture: agents whose models do what the prompt says, and tools whose effects a ledger counts. */
import { defineTool, type FunctionTool, type ModelRequest } from '@witan/core'
import { defineKnowledgeSource, type KnowledgeSource } from '@witan/core/knowledge'
import { lastUserMessage, type Rule, type ScriptedCall, type ScriptedReply } from '@witan/core/testing'
import type { AgentInput } from '@witan/protocol'
import { z } from 'zod'
import { agent, playerOf } from '../../support/stage.ts'

/** What the tools of the world are told to count: one execution, by the call it belongs to. */
export interface Deed {
  readonly tool: string
  readonly effect: 'none' | 'keyed' | 'once'
  readonly callId: string
  readonly conversation: string
}

/** Does a deed outside, and resolves when it is done. */
type Doer = (deed: Deed, signal: AbortSignal) => Promise<void>

/** Tools of the world by name, with their effects. A person releases each call of `sign`. */
const deeds = { read: 'none', book: 'keyed', pay: 'once', sign: 'once' } as const

/** Tools whose effect must not repeat. */
export const onceTools: ReadonlySet<string> = new Set(
  Object.entries(deeds).flatMap(([name, effect]) => (effect === 'once' ? [name] : [])),
)

/** A hidden value that no sink may show [I13]. */
export const hiddenValue = 'cny_user_q7w2e9r4t6y1u3i5o8p0a2s4d6f8g1h3'

const hiddenParameter = { name: 'userId', sendToModel: false, policy: 'forbidModelGeneration' } as const
const tools = Object.keys(deeds)

/** What an agent may ask of people: an action, a question, and a release. */
const asking = { actions: [{ name: 'Confirm' }], questions: true, approvals: ['sign'] }

/** What is looked for with each message, before the model reads it. What is found depends on the message alone. */
export const worldKnowledge: KnowledgeSource = defineKnowledgeSource({
  id: 'lore',
  description: 'What is told.',
  search: async ({ query }) => (query.includes('#1') ? [] : [{ id: 'tale', title: 'Tale', text: 'Once it was told.' }]),
})

/** What everybody may know: read with the first message of each document once the rig has written a block. */
const memory: AgentInput['memory'] = { scopes: ['agent'], archival: 'off' }

/** The block that the root reads. */
export const worldBlock = { agent: 'root', scope: 'agent', key: 'house', text: 'Shoes off.' } as const

const knowledgeBases: AgentInput['knowledgeBases'] = [{ id: 'lore', retrieval: 'auto' }]

/** What an interruption of the hasty one is given: several of them must be open at once on a busy machine. */
export const hastyMs = 5_000

/**
 * The tree: a root, a delegate below it, and a leaf below that, which may ask people; a clerk who works in the background and asks, too;
 * and one who waits for an answer for a few seconds only. A scribe works in the background for the delegate and for the clerk.
 * The line from the root to the leaf looks into a base with each message. The root remembers a block.
 */
export const worldAgents: readonly AgentInput[] = [
  agent('root', {
    tools: [...tools, 'bad'],
    subAgents: [{ agent: 'mid' }, { agent: 'leaf' }, { agent: 'hasty' }, { agent: 'clerk', blocking: 'never' }],
    limits: { maxModelCalls: 40 },
    knowledgeBases,
    memory,
  }),
  agent('mid', { tools, knowledgeBases, subAgents: [{ agent: 'leaf' }, { agent: 'scribe', blocking: 'never' }] }),
  agent('clerk', { tools, ...asking, subAgents: [{ agent: 'scribe', blocking: 'never' }] }),
  agent('scribe', { tools, ...asking }),
  agent('hasty', { tools, ...asking, interruptionExpiresInSeconds: hastyMs / 1000 }),
  agent('leaf', { tools, ...asking, knowledgeBases, parameters: [hiddenParameter] }),
]

/** The tools, over whatever does their deeds; `bad` misbehaves as its argument says. */
export function worldTools(
  perform: Doer,
  zoo: (manner: string, signal: AbortSignal) => unknown,
): readonly FunctionTool[] {
  const counted = Object.entries(deeds).map(([name, effect]) =>
    defineTool({
      name,
      description: name,
      parameters: z.object({}),
      effect,
      execute: async (_args, { callId, conversationId, signal }) => {
        await perform({ tool: name, effect, callId, conversation: conversationId }, signal)
        return `${name} ok`
      },
    }),
  )
  const bad = defineTool({
    name: 'bad',
    description: 'Misbehaves.',
    parameters: z.object({ manner: z.string() }),
    effect: 'none',
    timeoutMs: 500,
    execute: ({ manner }, { signal }) => zoo(manner, signal),
  })
  return [...counted, bad]
}

/**
 * Every agent does what its message says, one step a turn: `pay read+book leaf:act` pays, then reads and books at once, then has the
 * leaf act; `ask` asks a question. After a colon stands what a delegate is told, with commas for spaces. A word with `#` is a mark, which delegates are told, too, but
 * not those in the background: `#think50` has the model take 50 ms for each reply, `#rest` has its last one never come, and
 * `#paid:chats/1` has its calls counted.
 */
export const worldScript: Rule = (request, turn) => {
  const step = stepsOf(request)[turn]
  const reply = step === undefined ? { text: `${playerOf(request)} done` } : replyTo(step, marksOf(request))
  const said = saidIn(request)
  if (step === undefined && said.includes('#rest')) return { hang: true }
  const pause = /#think(\d+)/.exec(said)?.[1]
  return pause === undefined ? reply : { ...reply, delayMs: Number(pause) }
}

/** What was said last, without the lines of what was found for it or is remembered. */
function saidIn(request: ModelRequest): string {
  return lastUserMessage(request).replace(found, '').trim()
}

const found = /^\[from \S+ to \S+\] (?:knowledge|memory): .*$/gm

function stepsOf(request: ModelRequest): readonly string[] {
  const said = saidIn(request)
  // What the runtime tells of tasks is no order.
  if (said.startsWith('[from ')) return []
  return said.split(' ').filter((word) => word !== '' && !word.includes('#'))
}

const marksOf = (request: ModelRequest): readonly string[] =>
  saidIn(request)
    .split(' ')
    .filter((word) => word.startsWith('#'))

/** The conversation whose model calls are counted, if this is one of them. */
export function paidFor(request: ModelRequest): string | null {
  return (
    marksOf(request)
      .find((mark) => mark.startsWith('#paid:'))
      ?.slice('#paid:'.length) ?? null
  )
}

function replyTo(step: string, marks: readonly string[]): ScriptedReply {
  return { toolCalls: step.split('+').map((word) => callOf(word, marks)) }
}

/** What people are asked by these words. */
const asks: Readonly<Record<string, ScriptedCall>> = {
  act: { name: 'Confirm', arguments: { what: 'it' } },
  ask: {
    name: 'ask_question',
    arguments: { questions: [{ id: 'which', text: 'Which?', options: ['a', 'b'].map((id) => ({ id, label: id })) }] },
  },
}

function callOf(word: string, marks: readonly string[]): ScriptedCall {
  const [name = '', ...rest] = word.split(':')
  if (rest.length === 0) return asks[name] ?? { name, arguments: {} }
  if (name === 'bad') return { name, arguments: { manner: rest.join(':') } }
  const told = rest.join(':').replaceAll(',', ' ')
  return { name, arguments: { message: [told, ...(inBackground.has(name) ? [] : marks)].join(' ') } }
}

const inBackground: ReadonlySet<string> = new Set(['clerk', 'scribe'])

/** Waits in real time; an abort ends the wait. */
export function atLarge(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(signal.reason)
    })
  })
}

const large = 50_000_000
/** Two and a half leases of the process that it stands in. */
const blockMs = 2.5 * Number(process.env['WITAN_LEASE_MS'] ?? 300)
const long = 250_000

/** What a tool may do to its process, by name. */
const manners: Readonly<Record<string, (signal: AbortSignal) => unknown>> = {
  throw: () => {
    throw new Error('the tool broke')
  },
  hang: () => new Promise(() => {}),
  late: (signal) =>
    new Promise((resolve) => signal.addEventListener('abort', () => setTimeout(() => resolve('too late'), 10))),
  large: () => 'x'.repeat(large),
  long: () => 'x'.repeat(long),
  cyclic: () => {
    const circle: Record<string, unknown> = {}
    circle['self'] = circle
    return circle
  },
  bigint: () => 12n,
  binary: () => new Uint8Array([0, 255, 128]),
  detached: () => {
    void Promise.reject(new Error('nobody waits for this'))
    return 'gone astray'
  },
  exit: () => process.exit(7),
  block: () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, blockMs) && 'blocked',
}

/** Does what the name says, and nothing good. */
export function zoo(manner: string, signal: AbortSignal): unknown {
  return manners[manner]?.(signal) ?? 'harmless'
}
