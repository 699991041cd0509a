/** `collect: all`: the caller reads every text that was said in its child's place, whatever kind of agent the child is. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { defineTool } from '@witan/core'
import { call, type ScriptedAnswer } from '@witan/core/testing'
import { z } from 'zod'
import { type AgentDraft, createStage, type Play, settle } from '../support/stage.ts'

const broken = defineTool({
  name: 'broken',
  description: 'Never works.',
  parameters: z.object({}),
  effect: 'none',
  execute: () => {
    throw new Error('the shelf is empty')
  },
})

const transfer = (to: string) => call('transfer_to_agent', { agent_name: to })

type Plays = Readonly<Record<string, readonly ScriptedAnswer[]>>

/** Each agent gives its answers one after the other, in whichever of its calls. */
function inOrder(plays: Plays): Readonly<Record<string, Play>> {
  return Object.fromEntries(
    Object.entries(plays).map(([id, answers]) => {
      const rest = [...answers]
      return [id, () => rest.shift()]
    }),
  )
}

interface Case {
  readonly name: string
  /** The child is the first of them. */
  readonly agents: readonly AgentDraft[]
  readonly plays: Plays
  readonly texts: readonly string[]
  readonly error?: string
}

const sequence = (...agents: string[]) => ({ kind: 'sequence', agents }) as const

const cases: readonly Case[] = [
  {
    name: 'a sequence',
    agents: [{ id: 'flow', workflow: sequence('one', 'two') }, { id: 'one' }, { id: 'two' }],
    plays: { one: ['first'], two: ['second'] },
    texts: ['first', 'second'],
  },
  {
    name: 'a sequence whose steps also speak beside their calls',
    agents: [
      { id: 'flow', workflow: sequence('one', 'two') },
      { id: 'one', subAgents: [{ agent: 'deep' }] },
      { id: 'two' },
      { id: 'deep' },
    ],
    plays: {
      one: [{ text: 'Let me look.', ...call('deep', { message: 'look' }) }, 'first'],
      two: ['second'],
      deep: ['not among them'],
    },
    texts: ['Let me look.', 'first', 'second'],
  },
  {
    name: 'a parallel, in the order in which its texts arrive and without the runtime’s own words',
    agents: [{ id: 'flow', workflow: { kind: 'parallel', agents: ['one', 'two'] } }, { id: 'one' }, { id: 'two' }],
    plays: { one: ['first'], two: ['second'] },
    texts: ['first', 'second'],
  },
  {
    name: 'a loop that one of its agents leaves',
    agents: [
      { id: 'flow', workflow: { kind: 'loop', agents: ['one', 'two'], maxIterations: 3 } },
      { id: 'one' },
      { id: 'two' },
    ],
    plays: {
      one: ['draft 1', 'draft 2'],
      two: ['not yet', { text: 'that is it', ...call('exit_loop', {}) }],
    },
    texts: ['draft 1', 'not yet', 'draft 2', 'that is it'],
  },
  {
    name: 'a sequence in a loop in a sequence',
    agents: [
      { id: 'flow', workflow: sequence('rounds', 'last') },
      { id: 'rounds', workflow: { kind: 'loop', agents: ['inner'], maxIterations: 2 } },
      { id: 'inner', workflow: sequence('one', 'two') },
      { id: 'one' },
      { id: 'two' },
      { id: 'last' },
    ],
    plays: { one: ['1a', '1b'], two: ['2a', '2b'], last: ['end'] },
    texts: ['1a', '2a', '1b', '2b', 'end'],
  },
  {
    name: 'an agent that hands over to a sequence',
    agents: [
      { id: 'front', transfers: [{ agent: 'flow' }] },
      { id: 'flow', workflow: sequence('one', 'two') },
      { id: 'one' },
      { id: 'two' },
    ],
    plays: { front: [{ text: 'I hand over.', ...transfer('flow') }], one: ['first'], two: ['second'] },
    texts: ['I hand over.', 'first', 'second'],
  },
  {
    name: 'an agent that hands over to a parallel',
    agents: [
      { id: 'front', transfers: [{ agent: 'flow' }] },
      { id: 'flow', workflow: { kind: 'parallel', agents: ['one', 'two'] } },
      { id: 'one' },
      { id: 'two' },
    ],
    plays: { front: [{ text: 'I hand over.', ...transfer('flow') }], one: ['first'], two: ['second'] },
    texts: ['I hand over.', 'first', 'second'],
  },
  {
    name: 'hand-overs from one agent to the next, the last one within a step',
    agents: [
      { id: 'front', transfers: [{ agent: 'middle' }] },
      { id: 'middle', transfers: [{ agent: 'flow' }] },
      { id: 'flow', workflow: sequence('one', 'two') },
      { id: 'one', transfers: [{ agent: 'guest' }] },
      { id: 'two' },
      { id: 'guest' },
    ],
    plays: {
      front: [{ text: 'To the middle.', ...transfer('middle') }],
      middle: [{ text: 'To the flow.', ...transfer('flow') }],
      one: [{ text: 'To the guest.', ...transfer('guest') }],
      guest: ['as a guest'],
      two: ['second'],
    },
    texts: ['To the middle.', 'To the flow.', 'To the guest.', 'as a guest', 'second'],
  },
  {
    name: 'a hand-over to a sequence that gives control back',
    agents: [
      { id: 'front', transfers: [{ agent: 'flow', returnsTo: 'caller' }] },
      { id: 'flow', workflow: sequence('one', 'two') },
      { id: 'one' },
      { id: 'two' },
    ],
    plays: { front: [{ text: 'One moment.', ...transfer('flow') }, 'done'], one: ['first'], two: ['second'] },
    texts: ['One moment.', 'first', 'second', 'done'],
  },
  {
    name: 'the errors of the steps',
    agents: [
      { id: 'flow', workflow: sequence('inner', 'two') },
      { id: 'inner', workflow: sequence('one') },
      { id: 'one', tools: ['broken'] },
      { id: 'two' },
    ],
    plays: { one: [{ text: 'I try.', ...call('broken', {}) }, 'It did not work.'], two: ['second'] },
    texts: ['I try.', 'It did not work.', 'second'],
    error: '`broken` failed: the shelf is empty',
  },
]

const everyForm = [
  { style: 'agentTool', blocking: 'always' },
  { style: 'delegate', blocking: 'always' },
  { style: 'agentTool', blocking: 'never' },
] as const

for (const { name, agents, plays, texts, error } of cases)
  describe(`[K20] ${name}`, () => {
    for (const edge of everyForm)
      test(`${edge.style}, blocking ${edge.blocking}`, async () => {
        const [child] = agents
        const task = edge.style === 'agentTool' ? { request: 'go' } : { message: 'go' }
        const stage = createStage({
          agents: [{ id: 'root', subAgents: [{ agent: child?.id ?? '', collect: 'all', ...edge }] }, ...agents],
          plays: inOrder({ root: [call(child?.id ?? '', task), 'done', 'done'], ...plays }),
          options: { tools: [broken] },
        })
        await stage.ask('root', 'hello', { id: 'chats/1' })
        const joined = texts.join('\n')
        const value = edge.style === 'delegate' ? joined : { text: joined, ...(error === undefined ? {} : { error }) }
        const content = typeof value === 'string' ? value : JSON.stringify(value)
        if (edge.blocking === 'never') {
          await settle()
          assert.match(stage.seenBy('root').at(-1)?.messages.at(-1)?.content ?? '', / is completed: /)
          assert.equal(stage.seenBy('root').at(-1)?.messages.at(-1)?.content?.split(' is completed: ')[1], content)
          return
        }
        const [shown] = (await stage.document('chats/1')).messages[1]?.toolCalls ?? []
        assert.deepEqual(shown?.result, value)
        assert.equal(stage.seenBy('root')[1]?.messages.at(-1)?.content, content)
      })
  })
