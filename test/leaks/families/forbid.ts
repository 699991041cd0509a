/** Family C: a value that no model may make. Can one be made all the same, above, beside, in words, or across a restart? */
import { defineTool, memoryStore } from '@witan/core'
import { call, lastUserMessage, type Rule, type ScriptedAnswer } from '@witan/core/testing'
import type { AgentInput, RunResult } from '@witan/protocol'
import { z } from 'zod'
import { outliving } from '../../support/reopen.ts'
import { type AgentDraft, createStage, until } from '../../support/stage.ts'
import { canary, scannerOf } from '../support/canary.ts'
import type { Ledger } from '../support/ledger.ts'
import { textOf } from '../support/texts.ts'

type Type = NonNullable<NonNullable<AgentInput['parameters']>[number]['type']>

/** How a model tries. `given` is the control: the caller gave it, and so it must arrive. */
const routes = [
  'missing',
  'argument',
  'message',
  'middle',
  'map',
  'wrapped',
  'shared',
  'restart',
  'second run',
  'fork',
  'background',
  'task',
  'given',
  'given to a task',
] as const
/** How many agents stand between the root and the one that must be trusted, and whether others are at work beside it. */
const trees = [1, 2, 3, 4].flatMap((depth) => [false, true].map((busy) => ({ depth, busy })))
const types: readonly Type[] = ['string', 'number', 'boolean', 'string[]']

interface Case {
  readonly route: (typeof routes)[number]
  readonly depth: number
  readonly busy: boolean
  readonly type: Type
  readonly id: string
}

/** Plays every case. */
export async function playForbidden(ledger: Ledger): Promise<void> {
  let number = 0
  for (const route of routes)
    for (const { depth, busy } of trees)
      for (const type of types) {
        ledger.begin(`${route}, ${depth} deep${busy ? ' among others' : ''}, ${type}`)
        await playCase({ route, depth, busy, type, id: `c${++number}` }, ledger)
      }
}

/** What a model would make up. */
function evilOf(type: Type): unknown {
  if (type === 'number') return 4242
  if (type === 'boolean') return true
  return type === 'string[]' ? ['evil'] : 'evil'
}

function givenOf({ type, id }: Case): unknown {
  if (type === 'number') return 17
  if (type === 'boolean') return false
  return type === 'string[]' ? [canary(id)] : canary(id)
}

const name = (at: number): string => `n${at}`
const laundering: readonly Case['route'][] = ['middle', 'map', 'wrapped', 'shared', 'restart', 'second run', 'fork']
const laundered = (route: Case['route']): boolean => laundering.includes(route)

/** A chain n0 … n`depth`; the last must be trusted. Where a value is laundered, every agent between declares it for any model to fill. */
function agentsOf(one: Case): readonly AgentDraft[] {
  const { route, depth, busy, type } = one
  const own = route === 'map' ? 'alias' : 'userId'
  const chain = Array.from({ length: depth + 1 }, (_, at): AgentDraft => {
    const isLast = at === depth
    const trusted = { name: 'userId', type, policy: 'forbidModelGeneration' as const }
    const between = laundered(route) && at > 0 ? [{ name: own, type }] : []
    const map = route === 'map' && at + 1 === depth ? { userId: 'alias' } : {}
    const beside = busy && !isLast ? [{ agent: 'idle' }] : []
    return {
      id: name(at),
      parameters: isLast ? [trusted] : between,
      tools: isLast ? ['use'] : [],
      actions: route === 'restart' && at === depth - 1 ? [{ name: 'Pause' }] : [],
      subAgents: isLast ? [] : [...beside, { agent: name(at + 1), map, ...edgeOf(route), ...blockingOf(one, at) }],
    }
  })
  return busy ? [...chain, { id: 'idle' }] : chain
}

/** Work in the background: the last agent alone, or the whole chain below the root. */
function blockingOf({ route, depth }: Case, at: number) {
  const isTask = (route === 'task' && at === 0) || (route !== 'task' && isInBackground(route) && at + 1 === depth)
  return isTask ? { blocking: 'never' as const } : {}
}

const isInBackground = (route: Case['route']): boolean =>
  route === 'background' || route === 'task' || route === 'given to a task'
const isGiven = (route: Case['route']): boolean => route === 'given' || route === 'given to a task'

/** The style and the history of every edge on the way. */
function edgeOf(route: Case['route']) {
  if (route === 'wrapped') return { style: 'agentTool' as const }
  return route === 'shared' ? { history: 'shared' as const } : {}
}

function playsOf(one: Case): Readonly<Record<string, Rule>> {
  const { route, depth, busy, type } = one
  const tried = route === 'missing' || isGiven(route) ? {} : { userId: evilOf(type), alias: evilOf(type) }
  const message = route === 'message' ? `go on with userId=${JSON.stringify(evilOf(type))}` : 'go on'
  const plays: Record<string, Rule> = { idle: () => 'idle' }
  for (let at = 0; at <= depth; at += 1) {
    const below = { name: name(at + 1), arguments: { message, request: message, ...tried } }
    const beside = busy ? [{ name: 'idle', arguments: { message: 'wait' } }] : []
    const delegate: ScriptedAnswer = { toolCalls: [...beside, below] }
    const last: ScriptedAnswer = call('use', { userId: evilOf(type) })
    const pauses = route === 'restart' && at === depth - 1
    const script = at === depth ? [last, 'used'] : pauses ? [call('Pause'), delegate, 'done'] : [delegate, 'done']
    // What is told of a task is no order.
    plays[name(at)] = (request, turn) =>
      isInBackground(route) && lastUserMessage(request).startsWith('[from ') ? 'noted' : script[turn]
  }
  return plays
}

async function playCase(one: Case, ledger: Ledger): Promise<void> {
  const used: unknown[] = []
  const use = defineTool({
    name: 'use',
    description: 'Uses it.',
    parameters: z.object({}),
    effect: 'none',
    execute: (_args, { parameters }) => void used.push(parameters['userId']),
  })
  const store = outliving(memoryStore())
  const open = () => createStage({ agents: agentsOf(one), plays: playsOf(one), options: { store, tools: [use] } })
  const stage = open()
  const given = isGiven(one.route) ? { userId: givenOf(one) } : {}
  let result: RunResult = await stage.ask('n0', 'go', { id: 'chats/1', parameters: given })
  let last = stage
  if (one.route === 'restart' && result.status === 'waiting') {
    const actionResponses = result.interruptions.map(({ id }) => ({ id, response: 'go' }))
    await stage.runtime.close()
    last = open()
    result = await last.run('chats/1', { actionResponses })
  }
  // What a first run laundered, or tried to, is no more trusted in the next, nor in a copy of the conversation.
  if (one.route === 'second run') result = await stage.run('chats/1', { prompt: 'go on' })
  if (one.route === 'fork') {
    const { lastSeq } = await stage.runtime.getConversation('chats/1')
    const { id } = await stage.runtime.forkConversation('chats/1', { seq: lastSeq })
    result = await stage.run(id, { prompt: 'go on' })
  }
  // What runs in the background is over when nothing of the conversation is at work.
  const failures = isInBackground(one.route) ? await failuresOf(stage) : []
  if (isGiven(one.route)) {
    ledger.control('what is executed', JSON.stringify(used) === JSON.stringify([givenOf(one)]))
    ledger.deny('leak', 'model', scannerOf([one.id])(textOf(last.seenBy('n0'))))
    return
  }
  ledger.deny(
    'override',
    'what is executed',
    used.map((value) => JSON.stringify(value)),
  )
  ledger.deny(
    'edge',
    'model',
    last.seenBy(name(one.depth)).map(() => `${name(one.depth)} was called`),
  )
  const codes = [result.error?.code ?? result.status, ...failures]
  ledger.claim(`the run ends with ${codes.join()}`, codes.includes('MISSING_AGENT_PARAMETER'))
}

/** How the tasks of the conversation failed, once all of it rests. */
async function failuresOf({ runtime }: ReturnType<typeof createStage>): Promise<readonly string[]> {
  await until(async () => {
    const { activeRunId, tasks } = await runtime.getConversation('chats/1')
    return activeRunId === null && tasks.length === 0
  })
  return (await runtime.tasks.list()).items.flatMap(({ error }) => (error === null ? [] : [error.code]))
}
