/** Descriptions that do not help a model to choose. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AgentData } from '@witan/protocol'
import { parseAgent } from '../parse.ts'
import { checkDescriptions } from './descriptions.ts'
import { runWithPauses } from '../../identity/pausable.ts'
import { assertCheap } from '../../../../../test/support/cpu.ts'

const agent = (id: string, more: object = {}): AgentData =>
  parseAgent({ id, model: 'play/model', instructions: 'x', ...more })

type Others = Readonly<Record<string, string | object>>

async function findings(root: object, descriptions: Others): Promise<string[]> {
  const others = Object.entries(descriptions).map(([id, one]) =>
    agent(id, typeof one === 'string' ? { description: one } : one),
  )
  const set = new Map([agent('root', root), ...others].map((one) => [one.id, one]))
  const found = await runWithPauses(checkDescriptions(set.get('root') as AgentData, set))
  return found.map(({ code, path }) => `${code} ${path}`)
}

const three = { subAgents: [{ agent: 'a' }], transfers: [{ agent: 'b' }] }

for (const [title, root, descriptions, expected] of [
  ['different words', three, { a: 'Bills of May.', b: 'Bills of June.' }, []],
  ['none at all', three, { a: '', b: 'Bills.' }, ['DESCRIPTION_MISSING subAgents.0.agent']],
  ['only marks', three, { a: '– …', b: 'Bills.' }, ['DESCRIPTION_MISSING subAgents.0.agent']],
  ['a target without one', three, { a: 'Bills.', b: ' ' }, ['DESCRIPTION_MISSING transfers.0.agent']],
  [
    'two without one are not alike',
    three,
    { a: '', b: '' },
    ['DESCRIPTION_MISSING subAgents.0.agent', 'DESCRIPTION_MISSING transfers.0.agent'],
  ],
  [
    'an agent on another server without one',
    { remotes: [{ name: 'docs', address: '@docs@b.test' }] },
    {},
    ['DESCRIPTION_MISSING remotes.0'],
  ],
  [
    'an agent on another server that reads like one here',
    { subAgents: [{ agent: 'a' }], remotes: [{ name: 'docs', address: '@docs@b.test', description: 'Bills!' }] },
    { a: 'bills' },
    ['DESCRIPTIONS_ALIKE remotes.0'],
  ],
  ['the edge describes it', { subAgents: [{ agent: 'a', description: 'Bills.' }] }, { a: '' }, []],
  ['the same words', three, { a: 'Knows: bills', b: 'ＢＩＬＬＳ knows!' }, ['DESCRIPTIONS_ALIKE transfers.0.agent']],
  [
    'the edges tell them apart',
    {
      subAgents: [
        { agent: 'a', description: 'Old bills.' },
        { agent: 'b', description: 'New ones.' },
      ],
    },
    { a: 'Bills.', b: 'Bills.' },
    [],
  ],
  [
    'the edges make them alike',
    {
      subAgents: [
        { agent: 'a', description: 'Bills.' },
        { agent: 'b', description: 'bills' },
      ],
    },
    { a: 'One.', b: 'Two.' },
    ['DESCRIPTIONS_ALIKE subAgents.1.agent'],
  ],
  [
    'one of twenty words differs',
    three,
    { a: 'a b c d e f g h i j k l m n o p q r s t', b: 'a b c d e f g h i j k l m n o p q r s u' },
    ['DESCRIPTIONS_ALIKE transfers.0.agent'],
  ],
  ['one of ten words differs', three, { a: 'a b c d e f g h i j', b: 'a b c d e f g h i k' }, []],
  ['one agent, in two ways', { subAgents: [{ agent: 'a' }], transfers: [{ agent: 'a' }] }, { a: 'Bills.' }, []],
  ...(
    [
      [
        'an agent further down, which nobody but a hand-over chooses, without one',
        '',
        ['DESCRIPTION_MISSING transferReach'],
      ],
      ['an agent further down that reads like one above', 'bills.', ['DESCRIPTIONS_ALIKE transferReach']],
      ['an agent further down that is like no other', 'Parcels.', []],
      ['an agent further down that takes no control', { acceptTransfer: false }, []],
    ] as const
  ).map(
    ([title, leaf, expected]) =>
      [
        title,
        { subAgents: [{ agent: 'a' }], transferReach: 'tree' },
        { a: { description: 'Bills.', subAgents: [{ agent: 'leaf' }] }, leaf },
        expected,
      ] as const,
  ),
  [
    'whoever hands over to nobody chooses nobody further down',
    { subAgents: [{ agent: 'a' }], transferReach: 'tree', disableTransfer: true },
    { a: { description: 'Bills.', subAgents: [{ agent: 'leaf' }] }, leaf: '' },
    [],
  ],
  [
    'steps are not chosen',
    { workflow: { kind: 'sequence', agents: ['a', 'b'] }, model: undefined, instructions: undefined },
    { a: '', b: '' },
    [],
  ],
] as const)
  test(`[K13] [K14] ${title}`, async () => assert.deepEqual(await findings(root, descriptions), expected))

test('[K13] a thousand delegates that nearly read alike are checked in little time', async () => {
  const ids = Array.from({ length: 1000 }, (_, index) => `a-${index}`)
  const common = Array.from({ length: 60 }, (_, index) => `word${index}`).join(' ')
  for (const describe of [
    (id: string) => `${common} ${id.replace('-', '')}x ${id.replace('-', '')}y`,
    (id: string) => `${common.slice(0, 40)} ${id.replace('-', '')}`,
  ]) {
    const subAgents = ids.slice(0, 200).map((one) => ({ agent: one }))
    const others = Object.fromEntries(ids.map((id) => [id, describe(id)]))
    await assertCheap({ total: 3_000 }, () => findings({ subAgents }, others))
  }
})
