/**
 * Family PL: plans. What an agent may not see stands in no plan that its model writes, in whatever disguise; and no other agent reads a plan:
 * not in a shared history, not after a hand-over, not below it.
 */
import { memoryStore } from '@witan/core'
import { call } from '@witan/core/testing'
import type { AnyEvent } from '@witan/protocol'
import { type AgentDraft, createStage, type Play } from '../../support/stage.ts'
import { canary, encodings, scannerOf } from '../support/canary.ts'
import type { Ledger } from '../support/ledger.ts'
import { textOf } from '../support/texts.ts'

const parameters = [{ name: 'code', sendToModel: false, policy: 'forbidModelGeneration' as const }]
const shows = (title: string) =>
  call('update_plan', { steps: [{ id: 'a', title, status: 'pending', note: title }], reason: title })

/** How others stand to the agent that plans. */
const shapes: Readonly<
  Record<string, { readonly agents: readonly AgentDraft[]; readonly next: Play & readonly unknown[] }>
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

/** Plays every case. */
export async function playPlans(ledger: Ledger): Promise<void> {
  let number = 0
  for (const [shape, { agents, next }] of Object.entries(shapes))
    for (const [encoding, encode] of Object.entries(encodings)) {
      ledger.begin(`a hidden value in a plan as ${encoding}, and ${shape}`)
      const [hidden, own] = [`pl${++number}`, `pl${++number}`]
      const store = memoryStore()
      const [root, ...rest] = agents as readonly [AgentDraft, ...AgentDraft[]]
      const trim = { kind: 'truncate', messagesBefore: 2, messagesAfter: 1 } as const
      const planner = { ...root, parameters, enablePlanning: true, history: { trim } }
      const told = `${canary(own)} ${encode(canary(hidden))}`
      const stage = createStage({
        agents: [planner, ...rest],
        plays: { root: [shows(told), ...(next as never[]), 'more'], other: ['heard', 'heard'] },
        options: { store },
      })
      const values = { parameters: { code: { value: canary(hidden), sendToModel: false } } }
      const { runId } = await stage.ask('root', 'Go.', { id: 'chats/1', ...values })
      await (await stage.runtime.run('chats/1', { prompt: 'And?' })).result
      const events = (await stage.events('chats/1')) as readonly AnyEvent[]
      const plans = events.filter(({ type }) => type === 'plan')
      const [scan, scanOwn] = [scannerOf([hidden]), scannerOf([own])]
      ledger.control('the plan', scanOwn(textOf(plans)).size > 0)
      ledger.deny('leak', 'the events', scan(textOf(plans)))
      ledger.deny('leak', 'the run', scan(textOf((await stage.runtime.getRun(runId)).plan)))
      ledger.deny('leak', 'the document', scan(textOf((await stage.runtime.getDocument('chats/1')).plan)))
      ledger.deny('leak', 'what the planner read', scan(textOf(stage.seenBy('root').map(({ messages }) => messages))))
      ledger.deny('leak', 'what the other read', scanOwn(textOf(stage.seenBy('other'))))
      await stage.runtime.close()
    }
}
