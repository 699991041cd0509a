/** Family A: a value is hidden by its declaration, by the conversation, by both or by neither, at every depth; who sees it? */
import { inspect } from 'node:util'
import { defineTool, memoryStore } from '@witan/core'
import type { Rule, ScriptedCall } from '@witan/core/testing'
import type { AgentInput, AnyEvent } from '@witan/protocol'
import { z } from 'zod'
import { type AgentDraft, createStage, settle } from '../../support/stage.ts'
import { canary, scannerOf } from '../support/canary.ts'
import type { Ledger } from '../support/ledger.ts'
import { placesOf, type Witnessed } from '../support/sinks.ts'
import { textOf } from '../support/texts.ts'
import { type Facts, type Sink, visibilityTable } from '../support/visibility-table.ts'

type Parameter = NonNullable<AgentInput['parameters']>[number]

const depths = [0, 1, 2, 3, 4] as const
const types = ['string', 'string[]', 'any'] as const
/** Who else declares the value: nobody, everybody below, the root, or the root under another name. */
const trees = ['only', 'below', 'above', 'mapped'] as const
const readers = ['text', 'stream'] as const

interface Case {
  readonly depth: number
  readonly byAuthor: boolean
  readonly byCaller: boolean
  readonly type: (typeof types)[number]
  readonly tree: (typeof trees)[number]
  readonly reader: (typeof readers)[number]
  readonly forbidden: boolean
}

function* allCases(): Generator<Case> {
  let count = 0
  for (const depth of depths)
    for (const byAuthor of [true, false])
      for (const byCaller of [true, false])
        for (const type of types)
          for (const tree of trees)
            for (const reader of readers) {
              count += 1
              yield { depth, byAuthor, byCaller, type, tree, reader, forbidden: count % 3 === 0 }
            }
}

/** Plays every case. */
export async function playVisibility(ledger: Ledger): Promise<void> {
  let number = 0
  for (const one of allCases()) {
    const id = `a${++number}`
    ledger.begin(nameOf(one))
    await playCase(one, id, ledger)
  }
}

function nameOf({ depth, byAuthor, byCaller, type, tree, reader, forbidden }: Case): string {
  const hidden = [byAuthor ? 'declaration' : '', byCaller ? 'conversation' : ''].filter((word) => word !== '')
  const by = hidden.length === 0 ? 'nobody' : hidden.join(' and ')
  return `hidden by ${by} at depth ${depth}, ${type}, tree ${tree}, ${reader}${forbidden ? ', forbidden to models' : ''}`
}

/** Stands where anybody may read it, so that a place in which nothing hidden is found is known to be one in which it would be. */
const mark = canary('mark')
const conversation = `chats/${mark}`

const agentAt = (depth: number): string => `n${depth}`

/** How agent `at` declares the value, and under which name; null where it does not. */
function declarationOf(one: Case, at: number): Parameter | null {
  const { depth, byAuthor, type, tree, forbidden } = one
  const target = {
    name: 'key',
    type,
    sendToModel: !byAuthor,
    policy: forbidden ? ('forbidModelGeneration' as const) : null,
  }
  if (at === depth) return tree === 'mapped' && depth === 0 ? { ...target, name: 'src' } : target
  if (tree === 'below' && at > depth) return target
  if (tree === 'above' && at === 0) return { name: 'key', type }
  if (tree === 'mapped' && at === 0) return { name: 'src', type }
  return null
}

function agentsOf(one: Case): readonly AgentDraft[] {
  return depths.map((at) => {
    const declared = declarationOf(one, at)
    const map = one.tree === 'mapped' && at + 1 === one.depth ? { key: 'src' } : {}
    return {
      id: agentAt(at),
      instructions: `You are ${agentAt(at)}. ${mark}`,
      showReasoning: true,
      parameters: declared === null ? [] : [declared],
      tools: ['peek'],
      actions: at === one.depth ? [{ name: mark, parametersSample: { note: 'x' } }] : [],
      subAgents: at === 4 ? [] : [{ agent: agentAt(at + 1), map }],
    }
  })
}

function factsOf(one: Case, agent: string): Facts {
  const at = Number(agent.slice(1))
  const declared = Number.isNaN(at) || agent === '' ? null : declarationOf(one, at)
  const bound = declared !== null
  const shown = bound && declared.sendToModel !== false && !one.byCaller
  return { bound, shown, isRoot: at === 0, asks: at === one.depth }
}

/** Calls everything on offer at once and tries to say what is not asked for. It recites all that it reads when it reasons. */
const callAll: Rule = (request, turn) => {
  const reasoning = textOf(request.messages)
  if (turn > 0) return { deltas: ['done ', mark.slice(0, 20), mark.slice(20)], reasoning }
  const toolCalls = request.tools.map(({ name }): ScriptedCall => {
    const said = name === 'peek' ? {} : name === mark ? { note: 'well' } : { message: `go on ${mark}` }
    return { name, arguments: { ...said, key: 'evil', src: 'evil', KEY: 'evil' } }
  })
  return { text: 'calling', toolCalls, reasoning }
}

async function playCase(one: Case, id: string, ledger: Ledger): Promise<void> {
  const value = one.type === 'string[]' ? [canary(id)] : canary(id)
  const executed: Witnessed['executed'][number][] = []
  const peek = defineTool({
    name: 'peek',
    description: 'Looks at what a tool is handed.',
    parameters: z.object({}),
    effect: 'none',
    execute: (args, { parameters, ...context }) => {
      executed.push({
        agent: context.agent,
        parameters,
        context: inspect([args, context], { depth: 9 }) + JSON.stringify([args, context]),
      })
      return 'peeked'
    },
  })
  const agents = agentsOf(one)
  const store = memoryStore()
  const plays = Object.fromEntries(agents.map((agent) => [agent.id, callAll]))
  const stage = createStage({ agents, plays, options: { store, tools: [peek] } })
  const given = { [one.tree === 'mapped' ? 'src' : 'key']: { value, sendToModel: !one.byCaller } }
  await stage.runtime.start({ agent: 'n0', id: conversation, parameters: given })
  const live: AnyEvent[] = []
  const stop = new AbortController()
  const reading = one.reader === 'stream' ? follow(stage.runtime, live, stop.signal) : null
  if (reading !== null) await settle(1)
  const waiting = await stage.run(conversation, { prompt: `hello ${mark}` })
  const interruptions = await stage.runtime.listInterruptions()
  const whileWaiting = await stage.runtime.getConversation(conversation)
  const actionResponses = waiting.interruptions.map((open) => ({ id: open.id, response: 'ok' }))
  const final = await stage.run(conversation, { actionResponses })
  stop.abort()
  await reading
  ledger.claim('the run does not end well', final.status === 'completed' && executed.length === depths.length)
  const seen = { conversation, waiting, final, interruptions, whileWaiting, live, executed }
  const [scan, marks] = [scannerOf([id]), scannerOf(['mark'])]
  for (const { sink, agent, text } of await placesOf(stage, store, seen)) {
    const facts = agent === '' ? wholeFacts(one) : factsOf(one, agent)
    const found = scan(text)
    const where = agent === '' ? sink : `${sink} of ${agent}`
    if (isMarked(sink)) ledger.control(`${where}, the mark`, marks(text).size > 0)
    if (visibilityTable[sink](facts) === 'must') ledger.control(where, found.size > 0)
    else ledger.deny('leak', where, found)
  }
}

/** Executors are handed values alone, and a runtime that is well reports nothing: what breaks speaks in family H. */
const isMarked = (sink: Sink): boolean => sink !== 'executor' && sink !== 'report'

/** A place of no agent shows what the agent that asks is bound to, where it may show anything. */
function wholeFacts(one: Case): Facts {
  return factsOf(one, agentAt(one.depth))
}

async function follow(
  runtime: { followEvents(id: string, filter: { verbose: boolean; signal: AbortSignal }): AsyncIterable<AnyEvent> },
  into: AnyEvent[],
  signal: AbortSignal,
): Promise<void> {
  for await (const event of runtime.followEvents(conversation, { verbose: true, signal })) into.push(event)
}
