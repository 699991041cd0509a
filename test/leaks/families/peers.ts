/** Family P: peers. A value that one end may not see, in messages, replies and fresh documents; values that no model may make; and whom nobody may write to. */
import type { ScriptedAnswer, ScriptedCall } from '@witan/core/testing'
import { type AgentDraft, createStage, type Play, type Stage } from '../../support/stage.ts'
import { canary, encodings, scannerOf } from '../support/canary.ts'
import type { Ledger } from '../support/ledger.ts'
import { textOf } from '../support/texts.ts'
import { initiates, responds, talk } from '../../support/talking.ts'

const send = (tool: string, args: object): ScriptedCall => ({ name: tool, arguments: { ...args } })
const hiding = {
  hidden: { sendToModel: false },
  'hidden and forbidden': { sendToModel: false, policy: 'forbidModelGeneration' as const },
  'secret and hidden': { sendToModel: false, secret: true },
}
let number = 0
const next = () => `p${++number}`

/** Plays every case. */
export async function playPeers(ledger: Ledger): Promise<void> {
  for (const [name, how] of Object.entries(hiding))
    for (const encoding of Object.keys(encodings)) {
      // A value that is only hidden is kept out by construction, not taken out of texts [D15].
      if (name === 'hidden') continue
      ledger.begin(`the sender says ${encoding}, ${name} from the peer`)
      await toPeer({ how, encoding }, ledger)
      ledger.begin(`the peer replies ${encoding}, ${name} from it`)
      await fromPeer({ how, encoding }, ledger)
      ledger.begin(`a fresh document repeats ${encoding}, ${name} from its reader`)
      await intoFreshDocument({ how, encoding }, ledger)
    }
  await forbidden(ledger)
  await strangers(ledger)
}

const echoOf = (encoding: string, id: string): string => `it was ${encodings[encoding]?.(canary(id)) ?? ''}, I believe`

/** Whatever the models of these agents were sent. */
const readBy = (stage: Stage, agent: string): string => textOf(stage.seenBy(agent))

const staged = (agents: readonly AgentDraft[], plays: Readonly<Record<string, Play>>): Stage =>
  createStage({ agents, plays, options: { protocols: [talk] } })

interface Saying {
  readonly how: object
  readonly encoding: string
}

/** The sender may see the value and writes it into a message; the peer declares it and may not. */
async function toPeer({ how, encoding }: Saying, ledger: Ledger): Promise<void> {
  const id = next()
  const stage = staged(
    [
      { id: 'one', parameters: [{ name: 'key' }], speaks: [initiates('two')] },
      { id: 'two', parameters: [{ name: 'key', ...how }], speaks: [responds] },
    ],
    { one: [{ toolCalls: [send('two_ask', { text: echoOf(encoding, id) })] }, 'done'], two: ['heard'] },
  )
  await stage.ask('one', 'go', { id: 'chats/1', parameters: { key: canary(id) } })
  const scan = scannerOf([id])
  ledger.control('the sender', scan(readBy(stage, 'one')).size > 0)
  ledger.claim('the peer was asked', stage.seenBy('two').length === 1)
  ledger.deny('leak', 'the peer’s request', scan(readBy(stage, 'two')))
}

/** The value is hidden from everybody; the peer replies with it to an agent that does not know of it, and sends it back in a message. */
async function fromPeer({ how, encoding }: Saying, ledger: Ledger): Promise<void> {
  const id = next()
  const echo = echoOf(encoding, id)
  const stage = staged(
    [
      { id: 'one', speaks: [initiates('two')] },
      { id: 'two', parameters: [{ name: 'key', ...how }], speaks: [responds] },
    ],
    {
      one: [{ toolCalls: [send('two_ask', { text: 'what is it?' })] }, 'done'],
      two: [echo],
    },
  )
  await stage.ask('one', 'go', { id: 'chats/1', parameters: { key: { value: canary(id), sendToModel: false } } })
  const scan = scannerOf([id])
  ledger.control('the document', scan(textOf(await stage.document('chats/1/@two'))).size > 0)
  ledger.claim('the sender read the reply', stage.seenBy('one').length === 2)
  ledger.deny('leak', 'the sender’s request', scan(readBy(stage, 'one')))
}

/** What was said so far in an exchange stands in front of a fresh document: its reader may not see the value either. */
async function intoFreshDocument({ how, encoding }: Saying, ledger: Ledger): Promise<void> {
  const id = next()
  const echo = echoOf(encoding, id)
  const tell: ScriptedAnswer = { toolCalls: [send('one_tell', { text: 'so' })] }
  const stage = staged(
    [
      { id: 'root', subAgents: [{ agent: 'one' }] },
      { id: 'one', parameters: [{ name: 'key', ...how }], speaks: [initiates('two')] },
      { id: 'two', speaks: [responds] },
    ],
    {
      root: [{ toolCalls: [{ name: 'one', arguments: { message: 'go' } }] }, 'done'],
      one: [{ toolCalls: [send('two_ask', { text: echo })] }, 'apart', 'done'],
      two: [tell, 'said'],
    },
  )
  await stage.ask('root', 'go', { id: 'chats/1', parameters: { key: { value: canary(id), sendToModel: false } } })
  const scan = scannerOf([id])
  const [, apart] = stage.seenBy('one')
  ledger.claim('the fresh document begins with the exchange', textOf(apart).includes('[from @one to @two] ask'))
  ledger.control('the log', scan(textOf(await stage.events('chats/1'))).size > 0)
  ledger.deny('leak', 'what the fresh document shows', scan(textOf(apart)))
}

/** Nobody makes a value up for a peer, and what is written beside the content binds nothing. */
async function forbidden(ledger: Ledger): Promise<void> {
  for (const policy of ['forbidModelGeneration', null] as const)
    for (const spelling of ['key', 'KEY', 'ｋｅｙ', 'key\u200b', 'parameters', '__proto__', 'constructor'])
      for (const given of [true, false]) {
        ledger.begin(`the sender writes ${spelling}, policy ${policy}, ${given ? 'given' : 'not given'}`)
        const id = next()
        const stage = staged(
          [
            { id: 'one', speaks: [initiates('two', 'other')] },
            { id: 'two', parameters: [{ name: 'key', policy }], speaks: [responds] },
            { id: 'other', speaks: [responds] },
          ],
          {
            one: [{ toolCalls: [send('two_ask', { text: 'go', [spelling]: 'evil' })] }, 'I stop.'],
            two: ['heard'],
          },
        )
        const { error } = await stage.ask('one', 'go', { id: 'chats/1', parameters: given ? { key: canary(id) } : {} })
        const values = (await stage.events('chats/1')).map(({ content: { parameters } }) => parameters)
        ledger.deny('override', 'what the peer works with', textOf(values).includes('evil') ? ['evil'] : [])
        if (given) ledger.control('the peer', textOf(values).includes(canary(id)))
        else {
          ledger.claim('a trusted value fails the run, and no other', (error !== null) === (policy !== null))
          const asked = stage.seenBy('two').map(() => 'asked')
          ledger.deny('edge', 'the peer without its value', asked)
        }
      }
}

/** Agents that are no acquaintances, that do not speak the protocol, or that are switched off: nobody of them begins to work. */
async function strangers(ledger: Ledger): Promise<void> {
  const tools = [
    'stranger_ask',
    'root_ask',
    'off_ask',
    'one_ask',
    'two_tell',
    'two',
    'stranger',
    '@two',
    'TWO_ASK',
    '__proto___ask',
  ]
  for (const tool of tools) {
    ledger.begin(`a model calls ${tool}, which it may not have`)
    const stage = staged(
      [
        { id: 'root', subAgents: [{ agent: 'one' }] },
        { id: 'one', speaks: [initiates('two', 'off')] },
        { id: 'two', speaks: [responds] },
        { id: 'off', disabled: true, speaks: [responds] },
        { id: 'stranger', speaks: [responds] },
      ],
      {
        root: [{ toolCalls: [{ name: 'one', arguments: { message: 'go' } }] }, 'done'],
        one: [{ toolCalls: [send(tool, { text: 'go' })] }, { toolCalls: [send('two_ask', { text: 'go' })] }, 'done'],
        two: ['heard'],
      },
    )
    const { status } = await stage.ask('root', 'go', { id: 'chats/1' })
    ledger.claim('the run went on', status === 'completed')
    const worked = ['stranger', 'off'].filter((id) => stage.seenBy(id).length > 0)
    ledger.deny('edge', 'who was asked', worked)
    ledger.control('the acquaintance', stage.seenBy('two').length === 1)
  }
}
