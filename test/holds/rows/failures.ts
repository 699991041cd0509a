/**
 * What calls say when they fail or answer: a hundred of one reply, whose texts are each short enough for one turn, and one that is too long
 * for it, on each way to whom it answers.
 */
import { defineTool, ModelCallError, type RuntimeOptions, type Source } from '@witan/core'
import { z } from 'zod'
import type { Row } from '../support/row.ts'
import { run, type Said, type Script, saying, type Stage } from '../support/said.ts'

const most = 128
/** A text in which the search for a hidden value takes longest. */
const escaped = (length: number) => '\\u0065\\u006d'.repeat(length / 12)

const hidden = { parameters: [{ name: 'key', secret: true, sendToModel: false }] }
const start = { parameters: { key: 'employees/3' } }

/** Calls a tool so often in the first reply of a conversation. */
function calling(name: string, times: number, args: object): Script {
  const calls = Array.from({ length: times }, () => ({ name, arguments: JSON.stringify(args) }))
  return (_, { messages }): Said => (messages.some(({ role }) => role === 'assistant') ? { text: 'Done.' } : { calls })
}

function throwing(text: string): RuntimeOptions {
  const parameters = z.object({})
  const error = new Error(text)
  const execute = () => Promise.reject(error)
  return { tools: [defineTool({ name: 'tell', description: 'Tells.', effect: 'none', parameters, execute })] }
}

const asking = defineTool({
  name: 'tell',
  description: 'Tells.',
  effect: 'none',
  parameters: z.object({}),
  execute: async (_, { agents }) => (await agents.run('leaf', 'go')).text,
})

const broken: Source = {
  kind: 'source',
  engine: 'sqlite',
  check: async () => ({ ok: true, placeholders: [] }),
  run: async () => ({ ok: false, reason: 'failed', detail: escaped(16_000) }),
  close: async () => undefined,
} as unknown as Source
const query = { name: 'tell', description: 'Reads.', source: 'db', query: 'SELECT 1 AS one', allowModelQueries: true }

const failing: Script = () => {
  throw new ModelCallError(escaped(18_000), { retryable: false })
}

const talking: Script = () => ({ text: escaped(96_000) })
const report = 'A line of a report.\n'.repeat(49_000)
const reporting: Script = () => ({ text: report })

/** A runtime with the agent `leaf`, whose model says this, and more agents. */
function beside(says: Script, more: RuntimeOptions = {}): RuntimeOptions {
  const leaf = { id: 'leaf', model: 'play/leaf', instructions: 'You help.', ...hidden }
  const { agents = [], ...others } = more
  return { models: { 'play/leaf': saying('play/leaf', says) }, agents: [leaf, ...agents], ...others }
}

const args = { message: 'Go.', request: 'Go.' }
const delegates = { wait: {}, 'run as tasks': { blocking: 'never' }, 'are wrapped': { style: 'agentTool' } } as const

/** A parallel of so many agents whose model says this. */
function panel(says: Script): Stage {
  const steps = Array.from({ length: 60 }, (_, at) => `step-${at}`)
  const agents = steps.map((id) => ({ id, model: 'play/leaf', instructions: 'You help.', ...hidden }))
  const flow = { id: 'flow', workflow: { kind: 'parallel' as const, agents: steps } }
  return {
    script: calling('flow', 1, args),
    agent: { subAgents: [{ agent: 'flow' }] },
    options: beside(says, { agents: [flow, ...agents] }),
  }
}

const stages: Readonly<Record<string, Stage>> = {
  ...Object.fromEntries(
    [16_000, 1_000_000].map((length) => [
      `${most} calls of a tool that throws ${length.toLocaleString('en')} escaped characters`,
      { script: calling('tell', most, {}), agent: { tools: ['tell'] }, options: throwing(escaped(length)) },
    ]),
  ),
  [`${most} queries that fail with 16,000 escaped characters`]: {
    script: calling('tell', most, {}),
    agent: { queries: [{ ...query, parametersSample: {} }] },
    options: { sources: { db: broken } },
  },
  [`${most} calls of a tool that runs an agent whose model fails`]: {
    script: calling('tell', most, {}),
    agent: { tools: ['tell'] },
    options: beside(failing, { tools: [asking] }),
  },
  ...Object.fromEntries(
    Object.entries(delegates).flatMap(([how, edge]) =>
      Object.entries({ 'fails with 18,000': failing, 'says 96,000': talking }).map(([what, says]) => [
        `${most} delegates that ${how}, whose model ${what} escaped characters`,
        {
          script: calling('leaf', most, args),
          agent: { subAgents: [{ agent: 'leaf', ...edge }] },
          options: beside(says),
        },
      ]),
    ),
  ),
  'a parallel of 60 steps whose model fails with 18,000 escaped characters': panel(failing),
  'a parallel of 60 steps whose model says 96,000 escaped characters': panel(talking),
  'a parallel of 60 steps whose model says 0.98 million characters': panel(reporting),
}

const leaf = { model: 'play/leaf', instructions: 'You help.', ...hidden }
const quotes = { name: 'quotes', messages: [{ name: 'ask', from: 'initiator' as const }] }
const long: Script = () => ({ text: escaped(984_000) })

/** Ways of an answer: what `root` has, what it calls, and what stands beside it. */
const ways: Readonly<Record<string, readonly [agent: Stage['agent'], calls: string, beside?: RuntimeOptions]>> = {
  'a task': [{ subAgents: [{ agent: 'leaf', blocking: 'never' }] }, 'leaf'],
  'a wrapped task': [{ subAgents: [{ agent: 'leaf', style: 'agentTool', blocking: 'never' }] }, 'leaf'],
  'an agent that a tool runs': [{ tools: ['tell'] }, 'tell', { tools: [asking] }],
  'a delegate that hands over': [
    { subAgents: [{ agent: 'desk' }] },
    'desk',
    {
      agents: [{ ...leaf, id: 'desk', model: 'play/desk', transfers: [{ agent: 'leaf' }] }],
      models: { 'play/leaf': saying('play/leaf', long), 'play/desk': saying('play/desk', handing) },
    },
  ],
  ...Object.fromEntries(
    (['sequence', 'parallel'] as const).map((kind) => [
      `a ${kind}`,
      [
        { subAgents: [{ agent: 'flow', collect: 'all' }] },
        'flow',
        {
          agents: [
            { id: 'flow', workflow: { kind, agents: ['leaf', 'other'] } },
            { ...leaf, id: 'other' },
          ],
        },
      ],
    ]),
  ),
  'a peer': [
    { speaks: [{ protocol: 'quotes', role: 'initiator', peers: ['shop'] }] },
    'shop_ask',
    { agents: [{ ...leaf, id: 'shop', speaks: [{ protocol: 'quotes', role: 'responder' }] }], protocols: [quotes] },
  ],
}

function handing(): Said {
  return { calls: [{ name: 'transfer_to_agent', arguments: '{"agent_name":"leaf"}' }] }
}

const answers = Object.entries(ways).map(([what, [agent, name, more]]): Row => {
  const own: RuntimeOptions = beside(long, more)
  return {
    name: `an answer of 0.98 million escaped characters of ${what} beside a hidden value`,
    setUp: (play) => run(play, { script: calling(name, 1, args), agent: { ...hidden, ...agent }, options: own, start }),
  }
})

/** Rows of failures, and of long answers. */
export const failures: readonly Row[] = [
  ...Object.entries(stages).map(
    ([what, { agent, ...stage }]): Row => ({
      name: `${what} beside a hidden value`,
      setUp: (play) => run(play, { ...stage, agent: { ...hidden, ...agent }, start }),
    }),
  ),
  ...answers,
]
