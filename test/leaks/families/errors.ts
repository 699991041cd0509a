/** Family H, by the library: every error that can be had, with a hidden value in each argument; does its text tell? */
import { defineTool, type QuerySource, type Runtime } from '@witan/core'
import { call } from '@witan/core/testing'
import { errorTable, isWitanError, toProblem } from '@witan/protocol'
import { createStage } from '../../support/stage.ts'
import { canary, scannerOf } from '../support/canary.ts'
import type { Ledger } from '../support/ledger.ts'
import { textOf } from '../support/texts.ts'
import { playBroken } from './errors-broken.ts'
import { schemaOf } from '../support/careless.ts'

/** What an error is forced with: `name` may be told back, `value` never. */
interface Given {
  readonly name: string
  readonly value: unknown
  readonly text: string
}
type Force = (runtime: Runtime, given: Given) => Promise<unknown>

/** The value alone, in a list, within an object: each way takes another road through the checks. */
const shapes: Readonly<Record<string, (text: string) => unknown>> = {
  alone: (text) => text,
  'in a list': (text) => [text, 7],
  'in an object': (text) => ({ deep: [text] }),
}

const base = { model: 'play/model', instructions: 'x' }
const bad =
  (more: (given: Given) => object): Force =>
  (runtime, given) =>
    runtime.agents.save({ ...base, id: 'bad', instructions: given.text, ...more(given) })
const query = (more: object) => ({ name: 'q', source: 'fake', query: 'select 1', ...more })

async function waiting(runtime: Runtime, { text }: Given) {
  const parameters = { key: { value: text, sendToModel: false } }
  const opened = await runtime.start({ agent: 'asker', prompt: text, parameters })
  await opened.run?.result
  const { interruptions, activeRunId } = await runtime.getConversation(opened.id)
  return { id: opened.id, action: interruptions[0]?.id ?? '', run: activeRunId ?? '' }
}

/** By the code that must come. */
const refusals: readonly (readonly [code: string, force: Force])[] = [
  ['NOT_FOUND', (runtime, { name, value }) => runtime.start({ agent: name, parameters: { key: value } })],
  ['NOT_FOUND', (runtime, { name, text }) => runtime.run(`chats/${name}`, { prompt: text })],
  ['NOT_FOUND', (runtime, { name }) => runtime.getDocument(`chats/${name}/deep`)],
  ['NOT_FOUND', (runtime, { name }) => runtime.getRun(name)],
  ['NOT_FOUND', (runtime, { name }) => runtime.cancelRun(name)],
  ['NOT_FOUND', (runtime, { name, value }) => runtime.answerInterruption(name, { answer: value })],
  ['NOT_FOUND', (runtime, { name }) => runtime.agents.get(name)],
  [
    'ID_INVALID',
    (runtime, { name, value }) => runtime.start({ agent: 'asker', id: `${name}//`, parameters: { key: value } }),
  ],
  ['PARAM_UNKNOWN', (runtime, { name, text }) => runtime.start({ agent: 'asker', parameters: { [name]: text } })],
  ['PARAM_TYPE', (runtime, { value }) => runtime.start({ agent: 'asker', parameters: { count: textish(value) } })],
  ['PARAM_TYPE', (runtime, { text }) => runtime.start({ agent: 'asker', parameters: { key: { value: { text } } } })],
  [
    'PARAM_TYPE',
    (runtime, { text }) => runtime.start({ agent: 'asker', parameters: { key: { value: text, sendToModel: text } } }),
  ],
  ['PARAM_MISSING', (runtime, { text }) => runtime.start({ agent: 'needy', prompt: text })],
  ['AGENT_DISABLED', (runtime, { text }) => runtime.start({ agent: 'asleep', prompt: text })],
  ['UNKNOWN_KEY', (runtime, { name, value }) => runtime.start({ agent: 'asker', [name]: value })],
  ['BODY_INVALID', (runtime, { value }) => runtime.start({ agent: 'asker', prompt: { text: value } as never })],
  ['LIMIT_INVALID', (runtime, { text }) => runtime.start({ agent: 'asker', maxModelIterationsPerCall: text as never })],
  [
    'PARAM_FIXED',
    async (runtime, given) => {
      const { id } = await waiting(runtime, given)
      await runtime.start({ agent: 'asker', id, parameters: { key: `not ${given.text}` } })
    },
  ],
  [
    'FORK_OPEN_CALLS',
    async (runtime, given) => {
      const { id } = await waiting(runtime, given)
      const { lastSeq } = await runtime.getConversation(id)
      await runtime.forkConversation(id, { seq: lastSeq, id: `chats/${given.name}` })
    },
  ],
  [
    'CONVERSATION_AGENT_MISMATCH',
    async (runtime, given) => {
      const { id } = await waiting(runtime, given)
      await runtime.start({ agent: 'needy', id, parameters: { needed: given.text } })
    },
  ],
  [
    'ACTIONS_PENDING',
    async (runtime, given) => runtime.run((await waiting(runtime, given)).id, { prompt: given.text }),
  ],
  [
    'RUN_INPUT_INVALID',
    async (runtime, given) => {
      const { id, action } = await waiting(runtime, given)
      await runtime.run(id, { prompt: given.text, actionResponses: [{ id: action, response: given.value }] })
    },
  ],
  [
    'ACTION_NOT_FOUND',
    async (runtime, given) => {
      const { id } = await waiting(runtime, given)
      await runtime.run(id, { actionResponses: [{ id: given.name, response: given.value }] })
    },
  ],
  [
    'ALREADY_ANSWERED',
    async (runtime, given) => {
      const { action } = await waiting(runtime, given)
      await runtime.answerInterruption(action, { answer: given.value })
      await runtime.answerInterruption(action, { answer: [given.value, 'other'] })
    },
  ],
  [
    'ANSWER_INVALID',
    async (runtime, given) =>
      runtime.answerInterruption((await waiting(runtime, given)).action, { [given.name]: given.value } as never),
  ],
  [
    'RUN_FINISHED',
    async (runtime, given) => {
      const { action, run, id } = await waiting(runtime, given)
      await runtime.cancelRun(run)
      while ((await runtime.getConversation(id)).activeRunId !== null)
        await new Promise((resolve) => setImmediate(resolve))
      await runtime.answerInterruption(action, { answer: given.value })
    },
  ],
  [
    'RUN_ACTIVE',
    async (runtime, given) =>
      runtime.run((await waiting(runtime, given)).id, { prompt: given.text, onActive: 'reject' }),
  ],
  [
    'EVENT_ID_AHEAD',
    async (runtime, given) => runtime.readEvents((await waiting(runtime, given)).id, { from: 10_000 }),
  ],
  ['AGENT_INVALID', bad(({ value }) => ({ name: value, description: 7 }))],
  [
    'AGENT_EXISTS',
    (runtime, { text }) => runtime.agents.save({ ...base, id: 'asker', instructions: text }, { create: true }),
  ],
  ['AGENT_REF_UNKNOWN', bad(() => ({ subAgents: [{ agent: 'nobody' }] }))],
  ['AGENT_SELF_REFERENCE', bad(() => ({ subAgents: [{ agent: 'bad' }] }))],
  ['AGENT_REFERENCED', (runtime) => runtime.agents.delete('asker')],
  ['NAME_TAKEN', bad(() => ({ actions: [{ name: 'same' }, { name: 'same' }] }))],
  ['ID_INVALID', bad(({ name }) => ({ id: `${name}/` }))],
  ['LIMIT_INVALID', bad(({ value }) => ({ limits: { maxDepth: value } }))],
  ['PARAM_NAME_RESERVED', bad(({ text }) => ({ parameters: [{ name: '__proto__', description: text }] }))],
  [
    'PARAM_TYPE_CLASH',
    bad(({ text }) => ({
      parameters: [{ name: 'count', type: 'string', description: text }],
      subAgents: [{ agent: 'asker' }],
    })),
  ],
  ['PARENT_NOT_ALLOWED', bad(() => ({ subAgents: [{ agent: 'shy' }] }))],
  [
    'REVISION_MISMATCH',
    (runtime, { text }) => runtime.agents.save({ ...base, id: 'asker', instructions: text }, { ifRevision: 999 }),
  ],
  ['MODEL_UNKNOWN', bad(() => ({ model: 'no/model' }))],
  ['TOOL_UNKNOWN', bad(() => ({ tools: ['no-tool'] }))],
  ['SOURCE_UNKNOWN', bad(({ text }) => ({ queries: [query({ source: 'nowhere', description: text })] }))],
  ['QUERY_PARAM_UNCOVERED', bad(({ text }) => ({ queries: [query({ query: 'select $owner', description: text })] }))],
  ['QUERY_NOT_READ_ONLY', bad(({ text }) => ({ queries: [query({ query: `delete from x where y = '${text}'` })] }))],
  ['UNKNOWN_KEY', bad(({ name, value }) => ({ [name]: value }))],
]

/** What a parameter's value may be at most: an object would be refused for another reason. */
function textish(value: unknown): unknown {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? JSON.stringify(value) : value
}

const source: QuerySource = {
  kind: 'fake',
  check: async (sql): Promise<Awaited<ReturnType<QuerySource['check']>>> =>
    sql.startsWith('delete')
      ? { ok: false, problem: 'not-read-only', detail: 'it deletes', line: 1, column: 1 }
      : { ok: true, placeholders: sql.includes('$owner') ? ['owner'] : sql.includes('$key') ? ['key'] : [] },
  run: async ({ bindings }) => {
    const [word, ...rest] = String(bindings.get('key')).split(' ')
    return { ok: false, reason: rest.at(-1) as 'failed', detail: `${word} is at fault` }
  },
  close: async () => {},
}

/** Plays every refusal in every shape, and every failure of a run. */
export async function playErrors(ledger: Ledger): Promise<void> {
  const codes = new Set<string>()
  const runtime = createStage({
    agents: [
      {
        id: 'asker',
        parameters: [
          { name: 'key', sendToModel: false, type: 'any' },
          { name: 'count', type: 'number', sendToModel: false },
        ],
        actions: [{ name: 'Ask' }],
      },
      { id: 'boss', subAgents: [{ agent: 'asker' }] },
      { id: 'needy', parameters: [{ name: 'needed' }] },
      { id: 'asleep', disabled: true },
      { id: 'shy', parents: [] },
    ],
    plays: { asker: (_request, turn) => (turn === 0 ? call('Ask') : 'done') },
    options: { sources: { fake: source } },
  }).runtime
  let number = 0
  for (const [code, force] of refusals)
    for (const [shape, put] of Object.entries(shapes)) {
      const id = `h${++number}`
      ledger.begin(`${code}, number ${number}, the value ${shape}`)
      codes.add(await refused(runtime, { code, force, id, put }, ledger))
    }
  await playFailures(ledger, codes)
  await playBroken(ledger, codes)
  const known = Object.keys(errorTable).length
  ledger.claim(`only ${codes.size} of ${known} codes came up`, codes.size >= 40)
}

async function refused(
  runtime: Runtime,
  one: { readonly code: string; readonly force: Force; readonly id: string; readonly put: (text: string) => unknown },
  ledger: Ledger,
): Promise<string> {
  const text = canary(one.id)
  const error: unknown = await one.force(runtime, { name: `name-${one.id}`, value: one.put(text), text }).then(
    () => null,
    (thrown: unknown) => thrown,
  )
  const code = isWitanError(error) ? error.code : String(error)
  ledger.claim(`it gave ${code}`, code === one.code)
  ledger.control('error', isWitanError(error) && error.message !== '')
  ledger.deny('leak', 'thrown error', scannerOf([one.id])(textOf([error, toProblem(error)])))
  return code
}

/** How a run or a tool fails, with the hidden value in whatever it fails over. */
const failures: readonly string[] = [
  'MISSING_AGENT_PARAMETER',
  'BUDGET_EXCEEDED',
  'MODEL_CALL_FAILED',
  'MODEL_REPLY_INVALID',
  'TOOL_FAILED',
  'TOOL_TIMEOUT',
  'TOOL_ARGS_INVALID',
  'TOOL_UNKNOWN',
  'DEPTH_EXCEEDED',
  'QUERY_FAILED',
  'QUERY_TIMEOUT',
  'QUERY_PARAM_UNCOVERED',
]

/** What is hidden and neither secret nor forbidden is nobody's to scrub, but our own words never quote it either. */
function reasonsFor(code: string): readonly string[] {
  const scrubbed = ['hidden and forbidden', 'secret', 'hidden by the caller too']
  return code === 'TOOL_ARGS_INVALID' ? [...scrubbed, 'hidden'] : scrubbed
}

async function playFailures(ledger: Ledger, codes: Set<string>): Promise<void> {
  let number = 0
  for (const code of failures)
    for (const reason of reasonsFor(code)) {
      const id = `hf${++number}`
      ledger.begin(`a run fails ${code}, the value ${reason}`)
      const seen = await failing(code, canary(id), reason)
      ledger.claim(`it gave ${[...seen.codes].join(', ')}`, seen.codes.has(code))
      for (const one of seen.codes) codes.add(one)
      ledger.control('executor', scannerOf([id])(textOf(seen.executed)).size > 0)
      ledger.deny('leak', 'error detail', scannerOf([id])(textOf(seen.errors)))
      ledger.deny('leak', 'report', scannerOf([id])(textOf(seen.reports)))
      ledger.deny('leak', 'final result', scannerOf([id])(textOf(seen.result)))
    }
}

async function failing(code: string, value: string, reason: string) {
  const executed: unknown[] = []
  const tool = defineTool({
    name: 'fail',
    description: 'Fails.',
    parameters: schemaOf((args) => (code === 'TOOL_ARGS_INVALID' ? [`no such thing as ${String(args['key'])}`] : [])),
    jsonSchema: { type: 'object', properties: { key: { type: 'string' } }, required: ['key'] },
    effect: 'none',
    timeoutMs: 5,
    execute: async ({ key }) => {
      executed.push(key)
      if (code === 'TOOL_TIMEOUT') await new Promise((resolve) => setTimeout(resolve, 50))
      throw new Error(`cannot find ${String(key)}`)
    },
  })
  const failures = { QUERY_FAILED: 'failed', QUERY_TIMEOUT: 'timeout', QUERY_PARAM_UNCOVERED: 'unbound' }
  const word = failures[code as keyof typeof failures]
  const plays = {
    TOOL_UNKNOWN: call(value.slice(0, 3)),
    MISSING_AGENT_PARAMETER: call('trusting', { message: 'go', needed: 'evil' }),
    DEPTH_EXCEEDED: call('below', { message: 'go' }),
    MODEL_CALL_FAILED: new Error(`no answer to ${value}`),
    MODEL_REPLY_INVALID: '',
  } as const
  const play = word !== undefined ? call('query') : (plays[code as keyof typeof plays] ?? call('fail'))
  const forbidden = reason === 'hidden' ? null : ('forbidModelGeneration' as const)
  const policy = reason === 'secret' ? { secret: true } : { policy: forbidden }
  const stage = createStage({
    agents: [
      {
        id: 'root',
        parameters: [{ name: 'key', sendToModel: reason === 'hidden by the caller too', ...policy }],
        limits: { maxModelCalls: code === 'BUDGET_EXCEEDED' ? 1 : 9, maxDepth: 1 },
        tools: ['fail'],
        queries: [query({ name: 'query', query: 'select $key' })],
        subAgents: [{ agent: 'trusting' }, { agent: 'middle' }],
      },
      { id: 'trusting', parameters: [{ name: 'needed', policy: 'forbidModelGeneration' }] },
      { id: 'middle', subAgents: [{ agent: 'below' }] },
      { id: 'below' },
    ],
    plays: {
      root: (_request, turn) =>
        turn === 0
          ? call('fail')
          : code === 'DEPTH_EXCEEDED' && turn === 1
            ? call('middle', { message: 'go' })
            : turn === 1 || code === 'MODEL_REPLY_INVALID'
              ? play
              : 'done',
      middle: (_request, turn) => (turn === 0 ? call('below', { message: 'go' }) : 'done'),
    },
    options: {
      tools: [tool],
      sources: {
        fake: {
          ...source,
          run: async ({ bindings }) => ({
            ok: false,
            reason: word as 'failed',
            detail: `${String(bindings.get('key'))} is at fault`,
          }),
        },
      },
    },
  })
  const result = await stage.ask('root', 'go', {
    id: 'chats/1',
    parameters: { key: { value, sendToModel: reason !== 'hidden by the caller too' } },
  })
  const errors = (await stage.events('chats/1')).filter(({ type }) => type === 'error' || type === 'notice')
  const seen = new Set([...errors.map(({ content }) => String(content['code'])), result.error?.code ?? ''])
  // Where the check of arguments refuses, nothing is executed: the check itself has seen the value.
  if (code === 'TOOL_ARGS_INVALID') executed.push(value)
  return { codes: seen, executed, errors, reports: stage.reports, result }
}
