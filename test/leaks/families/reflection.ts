/**
 * Family RF: reflection. What an agent may not see stands in no critique that its model writes, in whatever disguise; its criteria and the line
 * that asks for a revision are read by no other agent, and a draft is no answer to anybody.
 */
import { memoryStore } from '@witan/core'
import { call, type Rule, type ScriptedAnswer } from '@witan/core/testing'
import type { AnyEvent } from '@witan/protocol'
import { type AgentDraft, createStage } from '../../support/stage.ts'
import { canary, encodings, scannerOf } from '../support/canary.ts'
import type { Ledger } from '../support/ledger.ts'
import { textOf } from '../support/texts.ts'

const parameters = [{ name: 'code', sendToModel: false, policy: 'forbidModelGeneration' as const }]

/** How others stand to the agent that reflects: they work in its document, read it, or ask it. */
const shapes: Readonly<
  Record<string, { readonly agents: readonly AgentDraft[]; readonly next: readonly ScriptedAnswer[] }>
> = {
  'a shared history': {
    agents: [{ id: 'root', subAgents: [{ agent: 'other', history: 'shared' }] }, { id: 'other' }],
    next: [call('other', { message: 'so?' }), 'done'],
  },
  'a hand-over': {
    agents: [{ id: 'root', transfers: [{ agent: 'other', history: 'all' }] }, { id: 'other' }],
    next: [call('transfer_to_agent', { agent_name: 'other' })],
  },
}

/** One answer after the other, whoever has spoken last. */
function inTurn(answers: readonly ScriptedAnswer[]): Rule {
  let at = 0
  return () => answers[at++]
}

/** Plays every case. */
export async function playReflection(ledger: Ledger): Promise<void> {
  let number = 0
  for (const [shape, { agents, next }] of Object.entries(shapes))
    for (const [encoding, encode] of Object.entries(encodings)) {
      ledger.begin(`a hidden value in a critique as ${encoding}, and ${shape}`)
      const [hidden, own, criteria] = [`rf${++number}`, `rf${++number}`, `rf${++number}`]
      const [root, ...rest] = agents as readonly [AgentDraft, ...AgentDraft[]]
      const reflection = { criteria: `Says ${canary(criteria)}.` }
      const found = { verdict: 'revise', problems: [`${canary(own)} ${encode(canary(hidden))}`] }
      const stage = createStage({
        agents: [{ ...root, parameters, enableReflection: true, reflection }, ...rest],
        plays: { root: inTurn(['draft', JSON.stringify(found), ...next, 'more']), other: ['heard', 'heard'] },
        options: { store: memoryStore() },
      })
      const values = { parameters: { code: { value: canary(hidden), sendToModel: false } } }
      await stage.ask('root', 'Go.', { id: 'chats/1', ...values })
      const events = (await stage.events('chats/1')) as readonly AnyEvent[]
      const critiques = events.filter(({ type }) => type === 'critique')
      const [scan, scanOwn, scanCriteria] = [scannerOf([hidden]), scannerOf([own]), scannerOf([criteria])]
      const read = textOf(stage.seenBy('root').map(({ messages }) => messages))
      const others = textOf(stage.seenBy('other'))
      ledger.control('the critique', scanOwn(textOf(critiques)).size > 0)
      ledger.control('the criteria', scanCriteria(read).size > 0)
      ledger.control('the other was asked', others.includes('draft'))
      ledger.deny('leak', 'the events', scan(textOf(critiques)))
      ledger.deny('leak', 'the document', scan(textOf(await stage.runtime.getDocument('chats/1'))))
      ledger.deny('leak', 'what its model read', scan(read))
      ledger.deny('leak', 'a critique that the other read', scanOwn(others))
      ledger.deny('leak', 'criteria that the other read', scanCriteria(others))
      ledger.deny('leak', 'criteria in the events', scanCriteria(textOf(events)))
      await stage.runtime.close()
    }
}
