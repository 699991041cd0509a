/**
 * Family W: what this server demands itself, of an agent's caller and by a tool. Its words, how it is met, and the states that callers get: no
 * model, no line of the log, no span, no figure and no export of the conversation has a word of them, and the store has no state.
 */
import { defineTool, memoryStore } from '@witan/core'
import { call, scriptedModel, toolResults } from '@witan/core/testing'
import { z } from 'zod'
import { storedEntries } from '../../support/claims.ts'
import { agent, until } from '../../support/stage.ts'
import { canary, scannerOf } from '../support/canary.ts'
import type { Ledger } from '../support/ledger.ts'
import { createOutsideWorld, remote, ways } from '../support/outside-world.ts'
import { createRecorder, type Recorder, recorded } from '../support/recorder.ts'
import { exportOf } from '../support/export-text.ts'
import { textOf } from '../support/texts.ts'

const words = (id: string) => ({ kind: 'consent_required', message: canary(id) })
const buy = defineTool({
  name: 'buy',
  description: 'Buys.',
  parameters: z.object({}),
  async execute(_, { demand }) {
    const more = {
      title: canary('demand'),
      data: { 'test.x': canary('demand') },
      url: `https://x.test/${canary('demand')}`,
    }
    await demand({ ...words('demand'), ...more })
    return 'bought'
  },
})

/** What becomes of the demands, and of the run. */
const ends = { 'met by the caller': 'completed', 'met here': 'completed', 'declined here': 'failed' } as const

async function playOne(end: keyof typeof ends, recorder: Recorder, ledger: Ledger): Promise<void> {
  ledger.begin(`demands that are ${end}`)
  const [lines, reports, states]: [string[], unknown[], string[]] = [[], [], []]
  const store = memoryStore()
  const model = scriptedModel((request) => (toolResults(request).length > 0 ? textOf(request.messages) : call('buy')), {
    id: 'play/model',
  })
  const access = { call: ['@*@a.test'] }
  const world = createOutsideWorld(
    {
      ...{ store, models: { 'play/model': model }, tools: [buy], report: (error) => reports.push(error) },
      agents: [agent('docs', { address: 'docs', access, tools: ['buy'], demands: [words('demand')] })],
      telemetry: {
        otlp: { url: recorder.otlp, content: 'full', protocol: 'http/json' },
        mlflow: { url: recorder.mlflow, content: 'full', artifacts: true, runs: 'conversation' },
        metrics: true,
      },
    },
    (line) => lines.push(line),
  )
  const { runtime, post } = world
  const say = (parts: object[], more: object = {}) =>
    post(remote('an agent', '@a@a.test'), ['SendMessage', { message: { parts, ...more } }], {
      local: 'docs',
      way: ways[0],
    })
  const shown = [await say([{ text: 'go' }])]
  const [conversation] = (await runtime.listConversations()).items
  const id = conversation?.id ?? ''
  await until(async () => {
    const { status, interruptions, runs } = await runtime.getConversation(id)
    for (const asked of interruptions) {
      ledger.control('the inbox', scannerOf(['demand'])(textOf(asked)).size > 0)
      const state = /"state":"([\w-]{60,})"/.exec(shown.at(-1) ?? '')?.[1] ?? ''
      states.push(state)
      const resolution = { in_reply_to_state: state, note: canary('resolution') }
      const more = { taskId: runs[0]?.runId, metadata: { mentionable: { policy_resolution: resolution } } }
      if (end === 'met by the caller') shown.push(await say([{ data: { type: 'policy_resolution' } }], more))
      else {
        const answer = end === 'met here' ? { resolution: { note: canary('resolution') } } : { decision: 'declined' }
        await runtime.answerInterruption(asked.id, { answer })
      }
    }
    return status === 'idle'
  }, 20_000)
  const [run] = (await runtime.getConversation(id)).runs
  const { status, result } = await runtime.getRun(run?.runId ?? '')
  ledger.claim(`the run has ${status}`, status === ends[end])
  const entries = textOf(await storedEntries(store, id))
  ledger.control('the store', scannerOf(['demand'])(entries).size > 0)
  ledger.control(
    'the caller',
    states.every((state) => state.length > 0),
  )
  ledger.claim('the store has a state', !states.some((state) => entries.includes(state)))
  const places: [string, string][] = [
    ...([
      ['result', textOf(result)],
      ['model', textOf(model.requests)],
      ['metrics', await runtime.metrics()],
      ['export', await exportOf(runtime, id, ledger)],
    ] as const),
  ].map(([place, text]) => [place, text])
  await world.close()
  places.push(['log', lines.join('')], ['reports', textOf(reports)])
  for (const sink of recorded) places.push([sink, recorder.text(sink)])
  ledger.control('spans', recorder.text('OTLP spans').includes('invoke_agent docs'))
  recorder.forget()
  for (const [sink, text] of places) {
    ledger.deny('leak', sink, scannerOf(['demand', 'resolution'])(text))
    ledger.claim(`${sink} has a state`, !states.some((state) => text.includes(state)))
  }
}

/** Plays the family. */
export async function playDemands(ledger: Ledger): Promise<void> {
  const recorder = await createRecorder()
  try {
    for (const end of Object.keys(ends) as (keyof typeof ends)[]) await playOne(end, recorder, ledger)
  } finally {
    await recorder.close()
  }
}
