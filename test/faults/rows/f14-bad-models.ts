/** F14: models that break off, refuse, answer rubbish, nothing, the same id twice, or far too much. */
import { createRuntime, type Model, ModelCallError, type ModelPart } from '@witan/core'
import { check, type Violation } from '../rig/checker.ts'
import { emptyEvidence, readStored } from '../rig/evidence.ts'
import { newHistory } from '../rig/history.ts'
import { memoryLedger } from '../rig/ledger.ts'
import type { Row } from '../rig/row.ts'
import { newScore, type Score } from '../rig/score.ts'
import { worldTools, zoo } from '../rig/world.ts'
import { scriptedModel, type ScriptedReply } from '@witan/core/testing'
import { agent } from '../../support/stage.ts'

const far = 10_000_000
const twice = ['read', 'book'].map((name) => ({ name, arguments: {}, id: 'same' }))

/** What a model does on its first call, or on its first three; later it behaves. */
const manners: Readonly<Record<string, { readonly reply: ScriptedReply; readonly times: number }>> = {
  'cut off before a word': { reply: { error: passing('cut') }, times: 2 },
  'cut off after some words': { reply: { deltas: ['Half a'], error: final('cut') }, times: 1 },
  'too many requests': { reply: { error: passing('429') }, times: 3 },
  'a broken server': { reply: { error: passing('500') }, times: 2 },
  'arguments that are no JSON': { reply: { toolCalls: [{ name: 'read', arguments: '{"what":' }] }, times: 1 },
  'no words at all': { reply: { text: '' }, times: 1 },
  'no words, again and again': { reply: { text: '' }, times: 9 },
  'one id for two calls': { reply: { toolCalls: twice }, times: 1 },
  'ten million letters': { reply: { text: 'x'.repeat(far) }, times: 1 },
  'a tool that is not there': { reply: { toolCalls: [{ name: 'nowhere', arguments: {} }] }, times: 1 },
}
const repeats = { pr: 15, full: 200 }

export const badModels: Row = {
  id: 'F14',
  title: 'models that break off, refuse or answer rubbish',
  stores: ['memory'],
  async run({ lane, profile }) {
    const score = newScore()
    const violations: Violation[] = []
    for (let repeat = 0; repeat < repeats[profile]; repeat += 1) {
      for (const [name, manner] of Object.entries(manners)) {
        await score.trial(name, async () => {
          const found = await suffer(score, await lane.openStore(), manner)
          violations.push(...found.map(({ invariant, what }) => ({ invariant, what: `${name}: ${what}` })))
        })
      }
    }
    const { trials, intended, fired, mishaps, counts } = score
    return { trials, intended, fired, violations: [...mishaps, ...violations], recoveriesMs: [], counts }
  },
}

type Store = Parameters<typeof readStored>[0]

/** One run of one agent whose model misbehaves at first. */
async function suffer(score: Score, store: Store, manner: { readonly reply: ScriptedReply; readonly times: number }) {
  const ledger = memoryLedger()
  const history = newHistory()
  let calls = 0
  const model = scriptedModel(() => {
    calls += 1
    if (calls > manner.times) return 'done'
    score.fire()
    return manner.reply
  })
  const runtime = createRuntime({
    store,
    models: { 'play/model': within(model) },
    agents: [agent('root', { tools: ['read', 'book'], limits: { maxModelCalls: 12 } })],
    tools: worldTools(async (deed) => ledger.perform(deed), zoo).filter(
      ({ name }) => name === 'read' || name === 'book',
    ),
    retry: { baseMs: 1 },
  })
  score.intend()
  const opened = await runtime.start({ agent: 'root', id: 'chats/1', prompt: 'go' })
  history.intended = 1
  history.acknowledged.push({ kind: 'message', conversation: 'chats/1', subject: null, value: 'go' })
  const result = await opened.run?.result
  score.count(result?.status ?? 'lost')
  const stored = await readStored(store, 'default', 'chats/1')
  await runtime.close()
  const faults = { intended: 1, fired: Math.min(1, calls) }
  const evidence = emptyEvidence(history)
  const bounds = { ...evidence.bounds, modelCalls: 12 }
  return check({ ...evidence, bounds, faults, ledger: ledger.read(), conversations: [stored] })
}

/** A model as a provider's would be: what may pass is tried again. */
function within(model: Model): Model {
  return { id: 'play/model', stream: (request, options): AsyncIterable<ModelPart> => model.stream(request, options) }
}

function passing(why: string): Error {
  return new ModelCallError(why, { retryable: true })
}

function final(why: string): Error {
  return new ModelCallError(why, { retryable: false })
}
