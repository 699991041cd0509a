/** Family T: hand-overs. A value that one of two agents in a document may not see, a value that no model may make, and targets that nobody may name. */
import { defineTool } from '@witan/core'
import type { ScriptedCall } from '@witan/core/testing'
import { z } from 'zod'
import { type AgentDraft, createStage, type Stage } from '../../support/stage.ts'
import { canary, encodings, scannerOf } from '../support/canary.ts'
import type { Ledger } from '../support/ledger.ts'
import { textOf } from '../support/texts.ts'

const hand = (agent: string, more: object = {}): ScriptedCall => ({
  name: 'transfer_to_agent',
  arguments: { agent_name: agent, ...more },
})
const hiding = {
  hidden: { sendToModel: false },
  'hidden and forbidden': { sendToModel: false, policy: 'forbidModelGeneration' as const },
  'secret and hidden': { sendToModel: false, secret: true },
}
let number = 0
const next = () => `t${++number}`

/** Plays every case. */
export async function playHandOvers(ledger: Ledger): Promise<void> {
  for (const [name, how] of Object.entries(hiding))
    for (const encoding of Object.keys(encodings)) {
      for (const place of ['text', 'arguments', 'result'] as const) {
        ledger.begin(`the one that hands over says ${encoding} in its ${place}, ${name} from the target`)
        await toTarget({ how, encoding, place }, ledger)
      }
      // A value that is only hidden is kept out by construction, not taken out of texts [D15].
      if (name === 'hidden') continue
      for (const where of places) {
        ledger.begin(`the target answers with ${encoding}, ${name} from it, as ${where}`)
        await fromTarget({ how, encoding, where }, ledger)
      }
    }
  await forbidden(ledger)
  await privileges(ledger)
}

const places = ['delegate', 'wrapped', 'returning', 'chain', 'step', 'step below', 'step of a target'] as const
type Place = (typeof places)[number]

/** The agent `desk` and what stands between it and `billing`. */
function between(where: Place): AgentDraft[] {
  const flow = (id: string, agent: string): AgentDraft => ({ id, workflow: { kind: 'sequence', agents: [agent] } })
  if (where === 'step') return [flow('desk', 'billing')]
  if (where === 'step below') return [flow('desk', 'middle'), flow('middle', 'billing')]
  const returnsTo = where === 'returning' ? ('caller' as const) : null
  const desk = (agent: string): AgentDraft => ({ id: 'desk', transfers: [{ agent, returnsTo }] })
  if (where === 'step of a target') return [desk('middle'), flow('middle', 'billing')]
  return where === 'chain' ? [desk('middle'), { id: 'middle', transfers: [{ agent: 'billing' }] }] : [desk('billing')]
}

const documents: Partial<Record<Place, string>> = {
  step: 'chats/1/desk/billing',
  'step below': 'chats/1/desk/middle/billing',
  'step of a target': 'chats/1/desk/middle/billing',
}

const echoOf = (encoding: string, id: string): string => `it was ${encodings[encoding]?.(canary(id)) ?? ''}, I believe`

/** A tool that gives back what it was made with. */
const telling = (text: string) =>
  defineTool({
    name: 'tell',
    description: 'Tells.',
    parameters: z.object({ about: z.string().optional() }),
    effect: 'none',
    execute: () => text,
  })

/** Whatever the models of these agents were sent. */
const readBy = (stage: Stage, agent: string): string => textOf(stage.seenBy(agent))

/** The source may see the value and says it in the document; the target declares it and may not. */
async function toTarget(
  { how, encoding, place }: { how: object; encoding: string; place: 'text' | 'arguments' | 'result' },
  ledger: Ledger,
): Promise<void> {
  const id = next()
  const echo = echoOf(encoding, id)
  const tell = { name: 'tell', arguments: place === 'arguments' ? { about: echo } : {} }
  const agents: AgentDraft[] = [
    {
      id: 'desk',
      parameters: [{ name: 'key' }],
      tools: ['tell'],
      transfers: [{ agent: 'billing' }],
    },
    { id: 'billing', parameters: [{ name: 'key', ...how }] },
  ]
  const stage = createStage({
    agents,
    plays: {
      desk: [{ text: place === 'text' ? echo : '', toolCalls: [tell] }, { toolCalls: [hand('billing')] }, 'done'],
      billing: ['paid'],
    },
    options: { tools: [telling(place === 'result' ? echo : 'nothing')] },
  })
  await stage.ask('desk', 'go', { id: 'chats/1', parameters: { key: canary(id) } })
  const scan = scannerOf([id])
  ledger.control('the source', scan(readBy(stage, 'desk')).size > 0)
  ledger.claim('the target was asked', stage.seenBy('billing').length === 1)
  ledger.deny('leak', 'the target’s request', scan(readBy(stage, 'billing')))
}

/** The target’s value is hidden from everybody: its answer goes to an agent above that does not know of it. */
async function fromTarget(
  { how, encoding, where }: { how: object; encoding: string; where: Place },
  ledger: Ledger,
): Promise<void> {
  const id = next()
  const isWrapped = where === 'wrapped' || where in documents
  const style = isWrapped ? ({ style: 'agentTool', collect: 'all' } as const) : {}
  const agents: AgentDraft[] = [
    { id: 'root', subAgents: [{ agent: 'desk', ...style }] },
    ...between(where),
    { id: 'billing', parameters: [{ name: 'key', ...how }] },
  ]
  const task = { message: 'go', request: 'go' }
  const stage = createStage({
    agents,
    plays: {
      root: [
        {
          toolCalls: [{ name: 'desk', arguments: isWrapped ? { request: 'go' } : { message: task.message } }],
        },
        'done',
      ],
      desk: [{ toolCalls: [hand(agents[1]?.transfers?.[0]?.agent ?? '')] }, 'passed on'],
      middle: [{ toolCalls: [hand('billing')] }],
      billing: [echoOf(encoding, id)],
    },
  })
  await stage.ask('root', 'go', { id: 'chats/1', parameters: { key: { value: canary(id), sendToModel: false } } })
  const scan = scannerOf([id])
  const said = await stage.document(documents[where] ?? 'chats/1/desk')
  ledger.control('the document', scan(textOf(said)).size > 0)
  ledger.deny('leak', 'the caller’s request', scan(readBy(stage, 'root')))
  ledger.deny('leak', 'the request of the one that handed over', scan(readBy(stage, 'desk')))
}

/** Nobody makes a value up for a target, and what is written beside the name binds nothing. */
async function forbidden(ledger: Ledger): Promise<void> {
  for (const policy of ['forbidModelGeneration', null] as const)
    for (const spelling of ['key', 'KEY', 'ｋｅｙ', 'key\u200b', 'parameters', '__proto__', 'constructor'])
      for (const given of [true, false]) {
        ledger.begin(`the model writes ${spelling}, policy ${policy}, ${given ? 'given' : 'not given'}`)
        const id = next()
        const got: unknown[] = []
        const see = defineTool({
          name: 'see',
          description: 'Sees.',
          parameters: z.object({}),
          effect: 'none',
          execute: (_args, { parameters }) => void got.push({ ...parameters }),
        })
        const stage = createStage({
          agents: [
            { id: 'desk', transfers: [{ agent: 'billing' }, { agent: 'other' }] },
            { id: 'billing', parameters: [{ name: 'key', policy }], tools: ['see'] },
            { id: 'other' },
          ],
          plays: {
            desk: [{ toolCalls: [hand('billing', { [spelling]: 'evil' })] }, 'I stay.'],
            billing: [{ toolCalls: [{ name: 'see', arguments: { key: 'evil' } }] }, 'paid'],
          },
          options: { tools: [see] },
        })
        const { status } = await stage.ask('desk', 'go', { parameters: given ? { key: canary(id) } : {} })
        ledger.claim('the run went on', status === 'completed')
        ledger.deny('override', 'what the target works with', textOf(got).includes('evil') ? ['evil'] : [])
        if (given) ledger.control('the target', textOf(got).includes(canary(id)))
        else
          ledger.deny(
            'edge',
            'the target without its value',
            stage.seenBy('billing').map(() => 'asked'),
          )
      }
}

/** Targets that are not listed, above, switched off, unwilling, or of another making: nobody of them begins to work. */
async function privileges(ledger: Ledger): Promise<void> {
  const names = [
    'stranger',
    'root',
    'off',
    'shy',
    'closed',
    'desk',
    'DESK',
    'stranger\u200b',
    '__proto__',
    '../stranger',
    '*',
    '',
  ]
  for (const reach of ['edges', 'tree'] as const)
    for (const name of names) {
      ledger.begin(`a model is told to hand over to ${JSON.stringify(name)}, reach ${reach}`)
      const stage = createStage({
        agents: [
          { id: 'root', subAgents: [{ agent: 'desk' }, { agent: 'off' }, { agent: 'shy' }] },
          { id: 'desk', transferReach: reach, transfers: [{ agent: 'fine' }, { agent: 'off' }] },
          { id: 'fine' },
          { id: 'off', disabled: true },
          { id: 'shy', acceptTransfer: false },
          { id: 'closed', parents: [] },
          { id: 'stranger' },
        ],
        plays: {
          root: [{ toolCalls: [{ name: 'desk', arguments: { message: 'go' } }] }, 'done'],
          desk: [{ toolCalls: [hand(name)] }, { toolCalls: [hand('fine')] }],
          fine: ['fine'],
        },
      })
      const { status } = await stage.ask('root', 'go', { id: 'chats/1' })
      ledger.claim('the run went on', status === 'completed')
      const worked = ['stranger', 'off', 'shy', 'closed'].filter((id) => stage.seenBy(id).length > 0)
      ledger.deny('edge', 'who was asked', worked)
      ledger.deny('edge', 'the root again', stage.seenBy('root').length > 2 ? ['root'] : [])
      ledger.control('the listed one', stage.seenBy('fine').length === 1)
    }
}
