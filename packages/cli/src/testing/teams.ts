/** Events for tests: a desk that hands over to billing, and a loop around a writer and a panel of two. */
import type { Told } from './events.ts'

interface AgentPlace {
  readonly callId: string
  readonly parentCallId: string | null
  readonly agentPath: string
}

const desk: AgentPlace = { callId: 'root', parentCallId: null, agentPath: 'desk' }
const billing: AgentPlace = { callId: 'billing', parentCallId: 'root', agentPath: 'desk/billing' }
const tool = { callId: 'hand', parentCallId: 'root', kind: 'tool' } as const

const starts = (at: AgentPlace, content: object, more: Partial<Told> = {}): Told => ({
  ...at,
  type: 'start',
  kind: 'agent',
  content: { message: 'Where is my bill?', handedFrom: null, ...content },
  ...more,
})
const ends = (at: AgentPlace, text: string): Told => ({
  ...at,
  type: 'end',
  kind: 'agent',
  content: { text, output: null, finishReason: 'stop' },
})

/** The desk hands over; billing has control. */
export const handOver: readonly Told[] = [
  starts(desk, {}),
  { ...tool, type: 'start', content: { name: 'transfer_to_agent', arguments: { agent_name: 'billing' }, bound: [] } },
  { ...tool, type: 'end', content: { result: { status: 'ok' } }, actions: { transferToAgent: 'billing' } },
  { callId: 'root', type: 'transfer', content: { from: 'desk', to: 'billing', returned: false } },
  starts(billing, { handedFrom: 'root' }),
]

/** Billing writes. */
export const billingWrites: Told = {
  ...billing,
  type: 'delta',
  kind: 'agent',
  content: { text: 'Your bill is', attempt: 1 },
}

/** Billing answers, and the desk ends with the same text. */
export const billingAnswers: readonly Told[] = [ends(billing, 'It is paid.'), ends(desk, 'It is paid.')]

/** Billing answers, and the desk goes on. */
export const deskGoesOn: readonly Told[] = [
  ends(billing, 'It is paid.'),
  { callId: 'root', type: 'transfer', content: { from: 'billing', to: 'desk', returned: true } },
  ends(desk, 'Billing says that it is paid.'),
]

const loop: AgentPlace = { callId: 'root', parentCallId: null, agentPath: 'paper' }
const writer = (round: number): AgentPlace => ({
  callId: `w${round}`,
  parentCallId: 'root',
  agentPath: 'paper/writer',
})
const panel: AgentPlace = { callId: 'panel', parentCallId: 'root', agentPath: 'paper/panel' }
const judge = (index: number): AgentPlace => ({
  callId: `j${index}`,
  parentCallId: 'panel',
  agentPath: `paper/panel/judge-${index}`,
})
const inBranch = (index: number) => ({ branch: `panel.${index}`, branchPath: [`panel.${index}`] })

/** Two rounds: a writer, then a panel of two judges; the second round has only begun. */
export const workflow: readonly Told[] = [
  starts(loop, { message: 'Write.' }),
  starts(writer(0), { message: 'Write.', step: { index: 0, round: 0 } }),
  ends(writer(0), 'A draft.'),
  starts(panel, { message: 'Write.', step: { index: 1, round: 0 } }),
  starts(judge(0), { message: 'Write.', step: { index: 0, round: 0 } }, inBranch(0)),
  starts(judge(1), { message: 'Write.', step: { index: 1, round: 0 } }, inBranch(1)),
  { ...ends(judge(1), 'Bad.'), ...inBranch(1) },
  { ...ends(judge(0), 'Good.'), ...inBranch(0) },
  ends(panel, '[from @judge-0] Good. [from @judge-1] Bad.'),
  starts(writer(1), { message: 'Write.', step: { index: 0, round: 1 } }),
]
