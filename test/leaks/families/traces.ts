/**
 * Family S: what leaves for observers. With full content no hidden value is in a span, in what MLflow gets, or in a figure, whoever says
 * it and in whatever disguise; without content no word of a conversation is.
 */
import { defineTool } from '@witan/core'
import { call, type ScriptedAnswer } from '@witan/core/testing'
import type { AgentInput } from '@witan/protocol'
import { z } from 'zod'
import { type AgentDraft, createStage, settle, type Stage } from '../../support/stage.ts'
import { canary, encodings, scannerOf } from '../support/canary.ts'
import type { Ledger } from '../support/ledger.ts'
import { createRecorder, recorded, type Recorder } from '../support/recorder.ts'
import { textOf } from '../support/texts.ts'

type Parameter = NonNullable<AgentInput['parameters']>[number]

/** Why nobody outside may see the value. The last: it is secret for the child alone. */
const reasons: Readonly<Record<string, { readonly root?: Omit<Parameter, 'name'>; readonly child?: object }>> = {
  'hidden and forbidden': { root: { sendToModel: false, policy: 'forbidModelGeneration' } },
  'hidden by its declaration': { root: { sendToModel: false } },
  'hidden by the caller': { root: {} },
  'secret for a child': { root: {}, child: { sendToModel: false, secret: true } },
}

/** Plays every reason in every disguise, and a conversation without content. */
export async function playTraces(ledger: Ledger): Promise<void> {
  const recorder = await createRecorder()
  try {
    for (const reason of Object.keys(reasons))
      for (const encoding of Object.keys(encodings)) await playFull({ reason, encoding }, recorder, ledger)
    await playNone(recorder, ledger)
  } finally {
    await recorder.close()
  }
}

let number = 0

/** All that leaves a stage by its end, by its sink. */
async function leavingOf(stage: Stage, recorder: Recorder): Promise<ReadonlyMap<string, string>> {
  const metrics = await stage.runtime.metrics()
  await stage.runtime.close()
  const left = new Map<string, string>(recorded.map((way) => [way, recorder.text(way)]))
  recorder.forget()
  return left.set('metrics', metrics).set('reports', textOf(stage.reports))
}

/** Everybody says the value: the person, both models, tools in results, errors and files, and whoever answers. */
async function playFull(
  { reason, encoding }: { readonly reason: string; readonly encoding: string },
  recorder: Recorder,
  ledger: Ledger,
): Promise<void> {
  ledger.begin(`everybody says it as ${encoding}, ${reason}`)
  number += 1
  const [hidden, open] = [`s${number}`, `s${number}open`]
  const said = `${canary(open)} and ${encodings[encoding]?.(canary(hidden)) ?? ''}.`
  const { root = {}, child = {} } = reasons[reason] ?? {}
  const stage = createStage({
    agents: [
      {
        ...{ id: 'root', parameters: [{ name: 'userId', ...root }], tools: ['echo', 'fail'], artifacts: true },
        actions: [{ name: 'Ask' }],
        subAgents: [{ agent: 'child' }],
        transfers: [{ agent: 'heir' }],
      },
      { id: 'child', parameters: [{ name: 'userId', ...root, ...child }] },
      { id: 'heir' },
    ],
    plays: { root: scriptOf(said), child: [said], heir: [said] },
    options: {
      tools: [echoing(said), failing(said)],
      telemetry: {
        otlp: { url: recorder.otlp, content: 'full', protocol: number % 2 === 0 ? 'http/json' : 'http/protobuf' },
        mlflow: { url: recorder.mlflow, content: 'full', artifacts: true, runs: 'conversation' },
        metrics: true,
      },
    },
  })
  const value = { value: canary(hidden), sendToModel: reason !== 'hidden by the caller' }
  await stage.ask('root', said, { id: `chats/${number}`, parameters: { userId: value } })
  const [asked] = (await stage.runtime.listInterruptions()).items
  ledger.claim('nobody was asked', asked !== undefined)
  await stage.runtime.answerInterruption(asked?.id ?? '', { answer: said })
  let { activeRunId } = await stage.runtime.getConversation(`chats/${number}`)
  for (let round = 0; round < 200 && activeRunId !== null; round += 1) {
    await settle(5)
    activeRunId = (await stage.runtime.getConversation(`chats/${number}`)).activeRunId
  }
  ledger.claim('the run did not end', activeRunId === null)
  const [scan, shows] = [scannerOf([hidden]), scannerOf([open])]
  for (const [sink, text] of await leavingOf(stage, recorder)) {
    ledger.deny('leak', sink, scan(text))
    if (sink.startsWith('MLflow artifact') || sink.endsWith('spans')) ledger.control(sink, shows(text).size > 0)
  }
}

function scriptOf(said: string): ScriptedAnswer[] {
  const file = { name: plainName(said), media_type: 'text/plain', text: said }
  const calls = [call('echo', { said }), call('fail', { said }), call('save_artifact', file), call('Ask', { said })]
  const toolCalls = [...calls, call('child', { message: said })].flatMap((one) => one.toolCalls ?? [])
  return [
    { text: said, toolCalls },
    { text: said, ...call(`no_${said.replace(/\W/g, '_')}`.slice(0, 64), {}) },
    call('transfer_to_agent', { agent_name: 'heir' }),
  ]
}

/** A name that an artifact may have. */
function plainName(said: string): string {
  return said
    .replace(/[\\/]/g, '-')
    .replace(/\p{Cf}/gu, '')
    .slice(0, 200)
}

const loose = z.looseObject({})

function echoing(said: string) {
  return defineTool({
    ...{ name: 'echo', description: 'Echoes.', parameters: loose, effect: 'none' as const },
    async execute(_, { artifacts }) {
      const name = said
        .slice(0, 100)
        .replaceAll('/', '-')
        .replace(/\p{Cf}/gu, '')
      await artifacts.save({ name, mediaType: 'application/octet-stream', bytes: Buffer.from(said) })
      return { said, [said]: true }
    },
  })
}

function failing(said: string) {
  return defineTool({
    ...{ name: 'fail', description: 'Fails.', parameters: loose, effect: 'none' as const },
    execute: () => {
      throw new Error(said, { cause: said })
    },
  })
}

/** Without content: every word that anybody says, writes, is asked or fails with bears one mark, and so do names that models make up. */
async function playNone(recorder: Recorder, ledger: Ledger): Promise<void> {
  for (const protocol of ['http/json', 'http/protobuf'] as const) {
    ledger.begin(`no word leaves, ${protocol}`)
    number += 1
    const said = `Said: ${canary('sword')}`
    const question = { questions: [{ id: 'q1', text: said, freeText: true }] }
    const agents: AgentDraft[] = [
      {
        ...{ id: 'root', instructions: `You are root. ${said}`, description: said, tools: ['echo', 'fail'] },
        ...{ artifacts: true, questions: true, parameters: [{ name: 'userId' }] },
        ...{ actions: [{ name: 'Ask' }], subAgents: [{ agent: 'child' }, { agent: 'broken' }] },
        transfers: [{ agent: 'heir', description: said }],
      },
      { id: 'child' },
      { id: 'broken' },
      { id: 'heir' },
    ]
    const [first, ...more] = scriptOf(said)
    const ask = call('ask_question', question).toolCalls ?? []
    const broken = call('broken', { message: said }).toolCalls ?? []
    const opening = { ...(first as { text: string; toolCalls: [] }) }
    const all = { ...opening, toolCalls: [...opening.toolCalls, ...ask, ...broken] }
    const stage = createStage({
      agents,
      plays: { root: [all, ...more], child: [said], broken: () => new Error(said), heir: [new Error(said)] },
      options: {
        tools: [echoing(said), failing(said)],
        retry: { tries: 2 },
        telemetry: {
          otlp: { url: recorder.otlp, protocol },
          mlflow: { url: recorder.mlflow, runs: 'conversation' },
          metrics: true,
        },
      },
    })
    await stage.ask('root', said, { id: `chats/none-${number}`, parameters: { userId: said } })
    for (const { id, kind } of (await stage.runtime.listInterruptions()).items) {
      const answer = kind === 'question' ? { q1: { text: said } } : said
      await stage.runtime.answerInterruption(id, { answer })
    }
    await stage.runtime.readEvents(`chats/none-${number}`)
    const read = await stage.events(`chats/none-${number}`)
    const scan = scannerOf(['sword'])
    ledger.control('the events', scan(textOf(read)).size > 0)
    for (const [sink, text] of await leavingOf(stage, recorder)) {
      ledger.deny('leak', sink, scan(text))
      if (sink.endsWith('spans')) ledger.control(`the tree in ${sink}`, text.includes('invoke_agent heir'))
      if (sink === 'metrics') ledger.control(sink, text.includes('gen_ai_client_token_usage'))
    }
  }
}
