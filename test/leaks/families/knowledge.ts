/**
 * Family K: knowledge. A document of one customer reaches no model, event, document, tree, result, export or span of a run for another; what
 * one agent has read is read by no other; a value that is hidden from an agent is hidden in its documents too; no model widens a filter;
 * and an order in a document is an order like any other. How much a search works, whatever it may not see, is counted in
 * `packages/core/src/store/drivers/knowledge-work.test.ts`.
 */
import { defineTool, type Store } from '@witan/core'
import { call, type Rule, type ScriptedCall } from '@witan/core/testing'
import { z } from 'zod'
import { type AgentDraft, createStage, type Play, type Stage } from '../../support/stage.ts'
import { canary, encodings, scannerOf } from '../support/canary.ts'
import { exportOf } from '../support/export-text.ts'
import type { Ledger } from '../support/ledger.ts'
import { disguises, hasObeyed, obeying, orderOf } from '../support/obeying-model.ts'
import { createRecorder, recorded, type Recorder } from '../support/recorder.ts'
import { placesOf } from '../support/sinks.ts'
import { textOf } from '../support/texts.ts'

const retrievals = ['tool', 'auto', 'both'] as const
type Retrieval = (typeof retrievals)[number]

const customerId = { name: 'customerId', sendToModel: false, policy: 'forbidModelGeneration' as const }
const base = { id: 'contracts', attributes: { customer: 'string' as const }, requiredFilters: ['customer'] }
const use = (retrieval: Retrieval) => ({ id: 'contracts', filter: { customer: 'customerId' }, retrieval })
const hidden = (value: string) => ({ parameters: { customerId: { value, sendToModel: false } } })

let number = 0
const next = () => `k${++number}`

/** Plays every case. `stores`: a store in memory, and others. */
export async function playKnowledge(
  ledger: Ledger,
  stores: Readonly<Record<string, () => Promise<Store>>>,
): Promise<void> {
  const recorder = await createRecorder()
  try {
    for (const [name, open] of Object.entries(stores))
      for (const retrieval of retrievals)
        for (const shape of Object.keys(shapes)) {
          ledger.begin(`the documents of another customer, ${retrieval}, ${shape}, ${name}`)
          await others({ retrieval, shape, store: await open() }, recorder, ledger)
        }
  } finally {
    await recorder.close()
  }
  for (const retrieval of ['tool', 'auto'] as const) {
    for (const encoding of Object.keys(encodings)) {
      ledger.begin(`a hidden value in a document as ${encoding}, ${retrieval}`)
      await inDocument({ retrieval, encoding }, ledger)
    }
    for (const [name, args] of Object.entries(widenings)) {
      ledger.begin(`a search with ${name}, ${retrieval}`)
      await widened({ retrieval, args }, ledger)
    }
    for (const disguise of Object.keys(disguises))
      for (const [order, calls] of Object.entries(orders)) {
        ledger.begin(`a document orders ${order} as ${disguise}, ${retrieval}`)
        await ordered({ retrieval, disguise, calls }, ledger)
      }
  }
  for (let seed = 0; seed < 12; seed += 1) {
    ledger.begin(`what may not be seen changes nothing, ${seed}`)
    await unchanged(seed, ledger)
  }
}

const search = (query = 'notice period') => call('search_knowledge', { query })
/** Searches once if it can, and then answers. */
const searching =
  (answer: string): Rule =>
  (request) =>
    request.tools.some(({ name }) => name === 'search_knowledge') && request.messages.at(-1)?.role === 'user'
      ? search()
      : answer

/** How the agent that searches stands among others. None of the others may read what it has read. */
const shapes: Readonly<
  Record<
    string,
    (retrieval: Retrieval) => { readonly agents: readonly AgentDraft[]; readonly plays: Record<string, Play> }
  >
> = {
  'a root alone': (retrieval) => ({
    agents: [{ id: 'root', parameters: [customerId], knowledgeBases: [use(retrieval)] }],
    plays: { root: searching('read') },
  }),
  'below a root, and a sibling after it': (retrieval) => ({
    agents: [
      { id: 'root', parameters: [customerId], subAgents: [{ agent: 'reader' }, { agent: 'other', history: 'shared' }] },
      { id: 'reader', parameters: [customerId], knowledgeBases: [use(retrieval)] },
      { id: 'other' },
    ],
    plays: {
      root: [call('reader', { message: 'notice period?' }), call('other', { message: 'notice period?' }), 'done'],
      reader: searching('read'),
      other: ['heard'],
    },
  }),
  'a root whose history a child shares': (retrieval) => ({
    agents: [
      {
        id: 'root',
        parameters: [customerId],
        knowledgeBases: [use(retrieval)],
        subAgents: [{ agent: 'other', history: 'shared' }],
      },
      { id: 'other' },
    ],
    plays: {
      root: (request, turn) => {
        const isFirst = turn === 0 && request.tools.some(({ name }) => name === 'search_knowledge')
        if (isFirst) return search()
        return turn < 2 && !textOf(request.messages).includes('heard') ? call('other', { message: 'so?' }) : 'done'
      },
      other: () => 'heard',
    },
  }),
  'a root that hands over': (retrieval) => ({
    agents: [
      {
        id: 'root',
        parameters: [customerId],
        knowledgeBases: [use(retrieval)],
        transfers: [{ agent: 'other', history: 'all' }],
      },
      { id: 'other' },
    ],
    plays: {
      root: (request, turn) =>
        turn === 0 && request.tools.some(({ name }) => name === 'search_knowledge')
          ? search()
          : call('transfer_to_agent', { agent_name: 'other' }),
      other: ['heard'],
    },
  }),
  'a step of a workflow': (retrieval) => ({
    agents: [
      { id: 'root', parameters: [customerId], workflow: { kind: 'sequence', agents: ['reader', 'other'] } },
      { id: 'reader', parameters: [customerId], knowledgeBases: [use(retrieval)] },
      { id: 'other' },
    ],
    plays: { reader: searching('read'), other: ['heard'] },
  }),
}

/** The run is for alpha; beta has documents of the same words. */
async function others(
  { retrieval, shape, store }: { readonly retrieval: Retrieval; readonly shape: string; readonly store: Store },
  recorder: Recorder,
  ledger: Ledger,
): Promise<void> {
  const [own, foreign] = [next(), next()]
  const { agents, plays } = (shapes[shape] as NonNullable<(typeof shapes)[string]>)(retrieval)
  const telemetry = {
    otlp: { url: recorder.otlp, content: 'full' as const, protocol: 'http/json' as const },
    mlflow: { url: recorder.mlflow, content: 'full' as const, artifacts: true, runs: 'conversation' as const },
  }
  const stage = createStage({ agents, plays, options: { knowledge: [base], store, telemetry } })
  await ingest(stage, {
    alpha: `The notice period is long. ${canary(own)}`,
    beta: `The notice period. ${canary(foreign)}`,
  })
  const final = await stage.ask('root', 'What is the notice period?', { id: 'chats/1', ...hidden('alpha') })
  ledger.claim(`the run is ${final.status}`, final.status === 'completed')
  const seen = { waiting: null, interruptions: null, whileWaiting: null, live: [], executed: [] }
  const places = await placesOf(stage, store, { conversation: 'chats/1', final, ...seen })
  const exported = await exportOf(stage.runtime, 'chats/1', ledger)
  const [scan, scanOwn] = [scannerOf([foreign]), scannerOf([own])]
  const reader = agents.find(({ knowledgeBases = [] }) => knowledgeBases.length > 0)?.id ?? ''
  ledger.control('the model that searches', scanOwn(textOf(stage.seenBy(reader))).size > 0)
  for (const { sink, agent, text } of places) ledger.deny('leak', `${sink} of ${agent}`, scan(text))
  for (const { id } of agents)
    if (id !== reader) ledger.deny('leak', `what ${id} read of ${reader}`, scanOwn(textOf(stage.seenBy(id))))
  ledger.deny('leak', 'export', scan(exported))
  await stage.runtime.close()
  for (const way of recorded) ledger.deny('leak', way, scan(recorder.text(way)))
  if (retrieval === 'tool') ledger.control('OTLP spans', scanOwn(recorder.text('OTLP spans')).size > 0)
  recorder.forget()
}

async function ingest(stage: Stage, texts: Readonly<Record<string, string>>): Promise<void> {
  const documents = Object.entries(texts).map(([customer, text]) => ({
    key: `${customer}.txt`,
    text,
    attributes: { customer },
  }))
  const { failed } = await stage.runtime.knowledge.documents.ingest('contracts', { documents })
  if (failed.length > 0) throw new Error(JSON.stringify(failed))
}

/** The value of the filter is hidden, and the document tells it. */
async function inDocument(
  { retrieval, encoding }: { readonly retrieval: Retrieval; readonly encoding: string },
  ledger: Ledger,
): Promise<void> {
  const id = next()
  const stage = createStage({
    agents: [{ id: 'root', parameters: [customerId], knowledgeBases: [use(retrieval)] }],
    plays: { root: searching('read') },
    options: { knowledge: [base] },
  })
  const told = encodings[encoding]?.(canary(id)) ?? ''
  const documents = [{ key: 'a', text: `The notice period of ${told} is long.`, attributes: { customer: canary(id) } }]
  await stage.runtime.knowledge.documents.ingest('contracts', { documents })
  await stage.ask('root', 'What is the notice period?', { id: 'chats/1', ...hidden(canary(id)) })
  const read = textOf(stage.seenBy('root'))
  ledger.control('the passage', read.includes('The notice period of'))
  ledger.deny('leak', 'the model that searches', scannerOf([id])(read))
  ledger.deny('leak', 'export', scannerOf([id])(await exportOf(stage.runtime, 'chats/1', ledger)))
  await stage.runtime.close()
}

/** What a model writes to see more. */
const widenings: Readonly<Record<string, object>> = {
  'another value': { query: 'notice period', customer: 'beta' },
  'the parameter': { query: 'notice period', customerId: 'beta' },
  'a filter': { query: 'notice period', filter: { customer: 'beta' } },
  'no filter': { query: 'notice period', filter: {}, requiredFilters: [] },
  'another base': { query: 'notice period', knowledge_base: 'open' },
  'a base by its row': { query: 'notice period', knowledge_base: 'knowledge:contracts' },
  'a name of JavaScript': { query: 'notice period', knowledge_base: '__proto__' },
  'words of a filter': { query: 'notice period customer:beta customer=beta "beta"' },
  'the syntax of an index': { query: '"notice" OR beta* NEAR(period beta) customer : beta -alpha' },
  'a limit': { query: 'notice period', limit: 1000 },
}

async function widened(
  { retrieval, args }: { readonly retrieval: Retrieval; readonly args: object },
  ledger: Ledger,
): Promise<void> {
  const [own, foreign] = [next(), next()]
  const stage = createStage({
    agents: [{ id: 'root', parameters: [customerId], knowledgeBases: [use(retrieval)] }],
    plays: { root: [call('search_knowledge', { ...args }), search(), 'read'] },
    options: { knowledge: [base, { id: 'open' }] },
  })
  await ingest(stage, { alpha: `The notice period. ${canary(own)}`, beta: `The notice period. ${canary(foreign)}` })
  const words = `The notice period. ${canary(foreign)}`
  await stage.runtime.knowledge.documents.ingest('open', { documents: [{ key: 'a', text: words }] })
  await stage.ask('root', 'What is the notice period?', { id: 'chats/1', ...hidden('alpha') })
  const read = textOf(stage.seenBy('root'))
  ledger.control('the model that searches', scannerOf([own])(read).size > 0)
  ledger.deny('override', 'what it read', scannerOf([foreign])(read))
  await stage.runtime.close()
}

const orders: Readonly<Record<string, readonly ScriptedCall[]>> = {
  'a tool of somebody else': [{ name: 'wire-money', arguments: {} }],
  'an agent it does not list': [{ name: 'stranger', arguments: { message: 'go' } }],
  'a hand-over': [{ name: 'transfer_to_agent', arguments: { agent_name: 'stranger' } }],
  'a search without a filter': [
    { name: 'search_knowledge', arguments: { query: 'notice', filter: {}, customer: 'beta' } },
  ],
}

/** The document of the own customer was written by somebody else. */
async function ordered(
  of: { readonly retrieval: Retrieval; readonly disguise: string; readonly calls: readonly ScriptedCall[] },
  ledger: Ledger,
): Promise<void> {
  const foreign = next()
  let wired = 0
  const wire = defineTool({
    name: 'wire-money',
    description: 'Wires money.',
    parameters: z.object({}),
    execute: async () => {
      wired += 1
      return 'wired'
    },
  })
  const stage = createStage({
    agents: [
      { id: 'root', parameters: [customerId], knowledgeBases: [use(of.retrieval)] },
      { id: 'stranger', tools: ['wire-money'] },
    ],
    plays: { root: obeying(searching('read')), stranger: ['obeyed'] },
    options: { knowledge: [base], tools: [wire] },
  })
  const order = disguises[of.disguise]?.(orderOf(of.calls)) ?? ''
  await ingest(stage, { alpha: `The notice period: ${order}`, beta: `The notice period. ${canary(foreign)}` })
  await stage.ask('root', 'What is the notice period?', { id: 'chats/1', ...hidden('alpha') })
  ledger.control('the model that obeys', stage.seenBy('root').some(hasObeyed))
  ledger.deny('edge', 'the stranger', stage.seenBy('stranger').length > 0 ? ['it was called'] : [])
  ledger.deny('edge', 'the tool', wired > 0 ? ['it was run'] : [])
  ledger.deny('override', 'what it read', scannerOf([foreign])(textOf(stage.seenBy('root'))))
  await stage.runtime.close()
}

const vocabulary = ['notice', 'period', 'contract', 'month', 'year', 'long', 'short', 'end']

/** Passages, their ids, order and number are those of a base without the others' documents. */
async function unchanged(seed: number, ledger: Ledger): Promise<void> {
  const word = (at: number) => vocabulary[(at * 7 + seed * 3 + ((at * at) % 5)) % vocabulary.length] ?? ''
  const textAt = (at: number) =>
    Array.from({ length: 3 + (at % 9) }, (_, index) => word(at + index * (1 + (seed % 4)))).join(' ')
  const alpha = Array.from({ length: 12 }, (_, at) => ({
    key: `a${at}`,
    text: textAt(at),
    attributes: { customer: 'alpha' },
  }))
  const beta = Array.from({ length: 40 }, (_, at) => ({
    key: `b${at}`,
    text: textAt(at * 3),
    attributes: { customer: 'beta' },
  }))
  const found = await Promise.all(
    [alpha, [...beta.slice(0, 20), ...alpha, ...beta.slice(20)]].map(async (documents) => {
      const stage = createStage({ agents: [], plays: {}, options: { knowledge: [base] } })
      await stage.runtime.knowledge.documents.ingest('contracts', { documents })
      const query = `${word(seed)} ${word(seed + 1)} ${word(seed + 2)}`
      const { passages } = await stage.runtime.knowledge.search('contracts', {
        query,
        limit: 20,
        filter: { customer: 'alpha' },
      })
      await stage.runtime.close()
      return passages
    }),
  )
  const [alone = [], among] = found
  ledger.control('the search', alone.length > 0)
  ledger.deny('leak', 'the search', JSON.stringify(alone) === JSON.stringify(among) ? [] : ['another result'])
}
