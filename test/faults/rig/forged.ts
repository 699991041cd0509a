/** A good history, told by a runtime in this process, and what a forger may do to it. */
import { createRuntime, memoryStore } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'
import type { AnyEvent } from '@witan/protocol'
import { fakeClock } from '../../support/clock.ts'
import { outliving } from '../../support/reopen.ts'
import { allEvents, until } from '../../support/stage.ts'
import { endingOf } from './ending.ts'
import { emptyEvidence, type Evidence, readStored, type StoredConversation } from './evidence.ts'
import { newHistory } from './history.ts'
import { memoryLedger } from './ledger.ts'
import { hiddenValue, worldAgents, worldKnowledge, worldScript, worldTools, zoo } from './world.ts'

/** Everything of it may be changed: a forger does. */
export type Forgeable<Value> = { -readonly [Key in keyof Value]: Forgeable<Value[Key]> }

const id = 'chats/1'
const said = 'pay read+book mid:leaf:act leaf:book leaf:sign clerk:read #1'

/** The evidence of one calm run with everything in it. */
export async function goodEvidence(): Promise<Forgeable<Evidence>> {
  const clock = fakeClock()
  const store = outliving(memoryStore({ now: clock.now }))
  const ledger = memoryLedger()
  const runtime = createRuntime({
    store,
    clock,
    models: { 'play/model': scriptedModel(worldScript) },
    agents: [...worldAgents],
    knowledge: [worldKnowledge],
    tools: [...worldTools(async (deed) => ledger.perform(deed), zoo)],
  })
  const history = newHistory()
  await runtime.start({ agent: 'root', id, parameters: { userId: { value: hiddenValue, sendToModel: false } } })
  await runtime.run(id, { prompt: said })
  history.acknowledged.push({ kind: 'message', conversation: id, subject: null, value: said })
  for (const answer of [{ ok: true }, { decision: 'approved' }]) {
    await until(async () => (await runtime.getConversation(id)).interruptions.length > 0)
    const [open] = (await runtime.getConversation(id)).interruptions
    await runtime.answerInterruption(open?.id ?? '', { answer })
    const value = JSON.stringify(answer)
    history.acknowledged.push({ kind: 'answer', conversation: id, subject: open?.id ?? '', value })
  }
  await until(async () => {
    const { status, tasks } = await runtime.getConversation(id)
    return status === 'idle' && tasks.length === 0
  })
  history.intended = 3
  const events = await allEvents(runtime, id)
  const frames = events.map((event) => ({ id: event.seq ?? 0, event }))
  const stored = await readStored(store, 'default', id)
  history.connections.push({ conversation: id, from: 0, whole: true, frames, deltas: deltasOf(events, stored) })
  await runtime.close()
  const ending = endingOf(stored)
  const evidence: Evidence = {
    ...emptyEvidence(history),
    ledger: ledger.read(),
    conversations: [stored],
    faults: { intended: 1, fired: 1 },
    recoveriesMs: [90],
    endings: [{ name: 'it', faulty: ending, calm: ending }],
    readings: [{ sink: 'a stream', tenant: 'one', text: 'a value of one' }],
    canaries: [
      { value: 'a hidden value', tenant: null },
      { value: 'a value of one', tenant: 'one' },
    ],
    memory: [{ baselineBytes: 100, afterBytes: 105 }],
  }
  return structuredClone(evidence) as Forgeable<Evidence>
}

/** The root's last words, as a reader got them live. */
function deltasOf(events: readonly AnyEvent[], { entries }: StoredConversation): AnyEvent[] {
  const { seq: _seq, ...end } = events.at(-1) as AnyEvent
  const reply = entries.findLast((entry) => entry.type === 'end' && entry.kind === 'model')
  const attempt = reply?.type === 'end' && reply.kind === 'model' ? reply.body.attempt : 0
  return ['root', ' done'].map((text) => ({ ...end, type: 'delta', content: { text, attempt } }))
}
