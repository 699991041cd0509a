/** Family D: whoever works with a hidden value gives it back, as it is or in disguise; does a model read it? */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { defineTool, memoryStore, type QuerySource, type RuntimeOptions } from '@witan/core'
import { call, type Rule, type ScriptedAnswer } from '@witan/core/testing'
import type { AgentInput } from '@witan/protocol'
import { z } from 'zod'
import { storedEntries } from '../../support/claims.ts'
import { type AgentDraft, createStage, type Stage } from '../../support/stage.ts'
import { canary, encodings, scannerOf } from '../support/canary.ts'
import type { Ledger } from '../support/ledger.ts'
import { textOf } from '../support/texts.ts'

type Parameter = NonNullable<AgentInput['parameters']>[number]

/** Why the value must be scrubbed from what the root's model reads [D15]. The last: the root does not even declare it. */
export const reasons: Readonly<Record<string, Omit<Parameter, 'name'>>> = {
  'hidden and forbidden': { sendToModel: false, policy: 'forbidModelGeneration' },
  'secret and hidden': { sendToModel: false, secret: true },
  'forbidden, hidden by the caller': { policy: 'forbidModelGeneration' },
}
const positions = ['text', 'row', 'error'] as const
/** What code may throw beside an error with words: one whose trace or cause tells, and what is no error at all. */
const traces = ['stack', 'cause', 'thrown text', 'thrown thing'] as const
type Position = (typeof positions)[number] | (typeof traces)[number]

interface Case {
  readonly id: string
  readonly reason: string
  readonly position: Position
  readonly encoding: string
}

let number = 0

function* allCases(
  who: string,
  ledger: Ledger,
  { reasonNames = Object.keys(reasons), at = positions }: { reasonNames?: string[]; at?: readonly Position[] } = {},
): Generator<Case> {
  for (const reason of reasonNames)
    for (const position of at)
      for (const encoding of Object.keys(encodings)) {
        ledger.begin(`${who} echoes ${encoding} in its ${position}, ${reason}`)
        yield { id: `d${++number}`, reason, position, encoding }
      }
}

const echoOf = ({ id, encoding }: Case): string => encodings[encoding]?.(canary(id)) ?? ''

/** The echo amid other text, or in a row as value and as key. */
function answerOf(one: Case): unknown {
  const echo = echoOf(one)
  return one.position === 'row' ? { rows: [{ n: 1, owner: echo }, { [echo]: true }] } : `it was ${echo}, I believe`
}

/** Every other value is one of a list. */
const isListed = ({ id }: Pick<Case, 'id'>): boolean => Number(id.slice(1)) % 2 === 0
const typeOf = (one: Case) => ({ type: isListed(one) ? ('string[]' as const) : ('string' as const) })

function given(one: Case): Readonly<Record<string, unknown>> {
  const value = isListed(one) ? ['nobody', canary(one.id)] : canary(one.id)
  return { userId: { value, sendToModel: one.reason !== 'forbidden, hidden by the caller' } }
}

/** Plays every case. */
export async function playEchoes(ledger: Ledger): Promise<void> {
  for (const one of allCases('a function', ledger)) await playFunction(one, ledger)
  for (const one of allCases('a function', ledger, { at: traces })) await playFunction(one, ledger)
  for (const one of allCases('a database', ledger, { at: ['row', 'error', ...traces] })) await playSource(one, ledger)
  for (const one of allCases('whoever answers an action', ledger)) await playAction(one, ledger)
  for (const one of allCases('a sub-agent', ledger, {
    reasonNames: ['hidden and forbidden', 'secret and hidden', 'undeclared'],
  }))
    await playSubAgent(one, ledger)
  for (const one of allCases('a caller', ledger, { reasonNames: ['hidden and forbidden', 'secret and hidden'] }))
    await playCaller(one, ledger)
  await playQueries(ledger)
}

/** The caller may see the value and says it to a child that may not: in the task, or in a document that they share. */
async function playCaller(one: Case, ledger: Ledger): Promise<void> {
  const said = String(answerOf({ ...one, position: 'text' }))
  const message = one.position === 'text' ? said : 'go'
  const play: ScriptedAnswer[] = [
    call('child', { message: 'first' }),
    { text: said, toolCalls: [{ name: 'child', arguments: { message } }] },
    'done',
  ]
  const history = one.position === 'row' ? 'shared' : 'agent'
  const stage = await staged(one, {
    agents: [
      {
        id: 'root',
        parameters: [{ name: 'userId', ...typeOf(one) }],
        subAgents: [{ agent: 'child', history, style: one.position === 'error' ? 'agentTool' : 'delegate' }],
      },
      { ...rootOf(one), id: 'child' },
    ],
    plays: { root: one.position === 'error' ? [call('child', { request: said }), 'done'] : play, child: () => 'done' },
  })
  const scan = scannerOf([one.id])
  ledger.control('model of root', scan(textOf(stage.seenBy('root'))).size > 0)
  ledger.claim('the child was not called', stage.seenBy('child').length > 0)
  ledger.deny('leak', 'delegated text', scan(textOf(stage.seenBy('child'))))
}

const rootOf = (one: Case): AgentDraft => ({
  id: 'root',
  parameters: [{ name: 'userId', ...typeOf(one), ...reasons[one.reason] }],
})

/** Throws where the case is about what code throws. */
function fail(one: Case): void {
  const said = String(answerOf({ ...one, position: 'text' }))
  if (one.position === 'error') throw new Error(said)
  if (one.position === 'stack') throw Object.assign(new Error('it broke'), { stack: `Error: it broke\n    at ${said}` })
  if (one.position === 'cause') throw new Error('it broke', { cause: new Error(said) })
  if (one.position === 'thrown text') throw said
  const thing: unknown = { message: said, code: said, toString: () => said }
  if (one.position === 'thrown thing') throw thing
}

/** A database of somebody's own, which is not to throw and does all the same, or quotes what it was bound to. */
async function playSource(one: Case, ledger: Ledger): Promise<void> {
  const source: QuerySource = {
    kind: 'own',
    check: async () => ({ ok: true, placeholders: ['userId'] }),
    run: async () => {
      if (one.position === 'error') return { ok: false, reason: 'failed', detail: String(answerOf(one)) }
      fail(one)
      return { ok: true, rows: [answerOf(one) as Record<string, unknown>], truncated: false }
    },
    close: async () => {},
  }
  const query = { name: 'echo', source: 'own', query: 'select $userId' }
  const stage = await staged(one, {
    agents: [{ ...rootOf(one), queries: [query, { ...query, name: 'first', addToInitialContext: true }] }],
    plays: { root: [call('echo'), 'done'] },
    options: { sources: { own: source } },
  })
  await judge(one, stage, ledger)
}

async function playFunction(one: Case, ledger: Ledger): Promise<void> {
  const tool = defineTool({
    name: 'echo',
    description: 'Echoes.',
    parameters: z.object({}),
    effect: 'none',
    execute: () => {
      fail(one)
      return answerOf(one)
    },
  })
  const play = { root: [call('echo'), 'done'] }
  const stage = await staged(one, {
    agents: [{ ...rootOf(one), tools: ['echo'] }],
    plays: play,
    options: { tools: [tool] },
  })
  await judge(one, stage, ledger)
}

async function playAction(one: Case, ledger: Ledger): Promise<void> {
  const stage = await staged(one, {
    agents: [{ ...rootOf(one), actions: [{ name: 'Echo' }] }],
    plays: { root: [call('Echo'), 'done'] },
  })
  const [open] = (await stage.runtime.listInterruptions()).items
  const answer = one.position === 'error' ? { error: String(answerOf(one)) } : { answer: answerOf(one) }
  await stage.runtime.answerInterruption(open?.id ?? '', answer)
  await stage.runtime.readEvents('chats/1')
  await judge(one, stage, ledger)
}

/** The sub-agent may see the value and says it: in words, in structured output, or in how its model fails. */
async function playSubAgent(one: Case, ledger: Ledger): Promise<void> {
  const { reason, position } = one
  const collect = number % 2 === 0 ? ('all' as const) : ('final' as const)
  const said: ScriptedAnswer =
    position === 'error'
      ? new Error(String(answerOf(one)))
      : position === 'row'
        ? JSON.stringify(answerOf(one))
        : String(answerOf(one))
  const child: AgentDraft = {
    id: 'child',
    parameters: [{ name: 'userId', ...typeOf(one), secret: reason === 'undeclared' }],
    outputSchema: position === 'row' ? { type: 'object' } : null,
  }
  const root: AgentDraft = reason === 'undeclared' ? { id: 'root' } : rootOf(one)
  const subAgents = [
    { agent: 'child', collect },
    { agent: 'wrapped', style: 'agentTool' as const, collect },
  ]
  const toolCalls = [
    { name: 'child', arguments: { message: 'go' } },
    { name: 'wrapped', arguments: { request: 'go' } },
  ]
  const stage = await staged(one, {
    agents: [{ ...root, subAgents }, child, { ...child, id: 'wrapped' }],
    plays: { root: [{ toolCalls }, 'done'], child: [said], wrapped: [said] },
  })
  await judge(one, stage, ledger)
}

async function staged(
  one: Case,
  made: {
    agents: readonly AgentDraft[]
    plays: Readonly<Record<string, readonly ScriptedAnswer[] | Rule>>
    options?: RuntimeOptions
  },
): Promise<Stage & { readonly store: ReturnType<typeof memoryStore> }> {
  const store = memoryStore()
  const stage = createStage({ ...made, options: { store, ...made.options } })
  await stage.ask('root', 'go', { id: 'chats/1', parameters: given(one) })
  return { ...stage, store }
}

async function judge(
  one: Case,
  stage: Stage & { readonly store: ReturnType<typeof memoryStore> },
  ledger: Ledger,
): Promise<void> {
  const conversation = await untilDone(stage, 'chats/1')
  const scan = scannerOf([one.id])
  const requests = stage.seenBy('root')
  ledger.claim(
    'the model did not read the answer',
    requests.some(({ messages }) => messages.some(({ role }) => role === 'tool')),
  )
  ledger.deny('leak', 'model of root', scan(textOf(requests)))
  ledger.deny('leak', 'final result', scan(textOf((await stage.runtime.getRun(conversation)).result)))
  const entries = await storedEntries(stage.store, 'chats/1')
  const resolved = (await stage.events('chats/1')).filter(({ type }) => type === 'resolved')
  ledger.deny('leak', 'verbose events', scan(textOf(resolved)))
  const errors = entries.filter(({ type, kind }) => type === 'error' && kind === 'tool')
  // What a tool returns stands in the log as it was returned; what it throws is told in our words, without hidden values.
  if (one.position === 'text' || one.position === 'row') ledger.control('log', scan(textOf(entries)).size > 0)
  else if (errors.length > 0) ledger.deny('leak', 'error detail', scan(textOf(errors.map(({ body }) => body))))
  ledger.deny('leak', 'report', scan(textOf(stage.reports)))
}

/** The id of the conversation's run, once it is over. */
async function untilDone(stage: Stage, id: string): Promise<string> {
  for (let round = 0; round < 1000; round += 1) {
    const { activeRunId, runs } = await stage.runtime.getConversation(id)
    if (activeRunId === null) return runs[0]?.runId ?? ''
    await new Promise((resolve) => setImmediate(resolve))
  }
  throw new Error(`the run in ${id} does not end`)
}

const sql = {
  echo: 'select text, $userId as owner from echoes where owner = $userId and encoding = $encoding',
  context: "select $userId as owner, upper($userId), hex($userId), 'x' || $userId || 'y' as amid",
}

/** One database and one runtime for all: each conversation has a value of its own. */
async function playQueries(ledger: Ledger): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'witan-leaks-'))
  const file = join(folder, 'echoes.db')
  const cases = Object.keys(encodings).map(
    (encoding): Case => ({ id: `d${++number}`, reason: 'hidden and forbidden', position: 'row', encoding }),
  )
  writeEchoes(file, cases)
  const play: Rule = (request, turn) => {
    const encoding = String(request.messages.findLast(({ role }) => role === 'user')?.content)
    return turn === 0 || (turn === 1 && request.messages.length < 6) ? call('echo', { encoding }) : 'done'
  }
  const store = memoryStore()
  const { echo, context } = sql
  const stage = createStage({
    agents: [
      {
        id: 'root',
        parameters: [{ name: 'userId', ...reasons['hidden and forbidden'] }],
        queries: [
          {
            name: 'echo',
            source: 'echoes',
            query: echo,
            parametersSchema: { type: 'object', properties: { encoding: { type: 'string' } }, required: ['encoding'] },
          },
          { name: 'context', source: 'echoes', query: context, addToInitialContext: true, allowModelQueries: false },
        ],
      },
    ],
    plays: { root: play },
    options: { store, sources: { echoes: { kind: 'sqlite', file } } },
  })
  try {
    for (const one of cases) await playQuery(one, { stage, store }, ledger)
  } finally {
    await stage.runtime.close()
    rmSync(folder, { recursive: true })
  }
}

function writeEchoes(file: string, cases: readonly Case[]): void {
  const database = new DatabaseSync(file)
  database.exec('create table echoes (owner text, encoding text, text text)')
  const insert = database.prepare('insert into echoes values (?, ?, ?)')
  for (const one of cases) insert.run(canary(one.id), one.encoding, echoOf(one))
  database.close()
}

async function playQuery(
  one: Case,
  { stage, store }: { readonly stage: Stage; readonly store: ReturnType<typeof memoryStore> },
  ledger: Ledger,
): Promise<void> {
  ledger.begin(`a SQLite query echoes ${one.encoding} in a row, ${one.reason}`)
  const before = stage.requests.length
  const id = `chats/${one.id}`
  const result = await stage.ask('root', one.encoding, { id, parameters: { userId: canary(one.id) } })
  const scan = scannerOf([one.id])
  ledger.claim(`the run ends with ${result.status}`, result.status === 'completed')
  ledger.deny('leak', 'model of root', scan(textOf(stage.requests.slice(before))))
  ledger.deny('leak', 'final result', scan(textOf(result)))
  const rows = (await storedEntries(store, id)).filter(({ type, kind }) => type === 'end' && kind === 'tool')
  ledger.control('log', rows.length >= 2 && scan(textOf(rows)).size > 0)
}
