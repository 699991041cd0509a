/** Fixtures of the conformance kits of tools and edges: callers with secrets, hostile arguments, and a call run to its end. */
import { nobody } from '../../parameter/person.ts'
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { AgentData, AgentInput, Interruption } from '@witan/protocol'
import { errorTable, WitanError } from '@witan/protocol'
import { interruptionSchema, isTooDeep } from '@witan/protocol/schemas'
import { parseAgent } from '../../agent/parse.ts'
import { localPrincipal } from '../../identity/principal.ts'
import { Boxed } from '../../parameter/hidden.ts'
import type { Bound, BoundValue } from '../../parameter/parameter.ts'
import { digestOf } from '../../store/contents.ts'
import type { ArtifactContent, CallArtifacts } from '../../tool/artifact.ts'
import type { Outcome, PendingOutcome } from '../../tool/outcome.ts'
import type { AgentAnswer, Answer, CallAnswer, Caller, Tool, ToolContext } from '../../tool/tool.ts'
import type { InterruptionDraft } from '../../tool/waiting.ts'

/** Arguments of a call, as JSON. */
export type Arguments = Readonly<Record<string, unknown>>

/** One claim of a kit: its name, and a function that throws if the claim does not hold. */
export interface Claim {
  readonly name: string
  run(context: TestContext): Promise<void>
}

/** An agent with default values for all other fields. */
export function agentOf(input: Partial<AgentInput> & { readonly id: string }): AgentData {
  return parseAgent({ model: 'kit/none', instructions: 'Used by a conformance kit.', ...input })
}

/** The value that a kit binds to a parameter: text that occurs nowhere by accident. */
export function secretOf(name: string): string {
  return `secret-${Buffer.from(name).toString('hex')}-7d1fe2`
}

/** Hidden values of a caller, by parameter name. */
export function hiddenValues(names: readonly string[]): Bound {
  const bind = (name: string): BoundValue => {
    return { box: new Boxed(secretOf(name)), origin: 'caller', hidden: true, from: 'conversation' }
  }
  return new Map(names.map((name) => [name, bind(name)]))
}

/** A caller at the root of a conversation, whose parameters are bound to hidden values. */
export function callerOf(agent: AgentData, more: Partial<Caller> = {}): Caller {
  const parameters = more.parameters ?? hiddenValues(agent.parameters.map(({ name }) => name))
  return {
    callId: 'agent-call-1',
    runId: 'agent-call-1',
    database: 'default',
    principal: localPrincipal,
    agent,
    toolMode: agent.toolMode,
    agentPath: agent.id,
    conversationId: 'kit/1',
    document: agent.id,
    depth: 0,
    maxDepth: 8,
    parameters,
    conversationValues: new Map(),
    people: nobody,
    hasLeft: () => false,
    plan: () => ({ revision: 0, revisions: 0 }),
    scrub: null,
    revisions: {},
    exchanges: new Map(),
    loop: null,
    mcp: [],
    lineage: [{ agent: agent.id, message: 'Begin.', parameters }],
    ...more,
  }
}

/** Asserts that a text contains no bound value of the caller. */
export function assertNoSecret(said: unknown, { parameters }: Pick<Caller, 'parameters'>, where: string): void {
  const text = typeof said === 'string' ? said : (JSON.stringify(said) ?? '')
  for (const [name, { box }] of parameters)
    assert.ok(!text.includes(String(box.reveal())), `${where} holds the value of \`${name}\`: ${text.slice(0, 300)}`)
}

/** Asserts that text for a model contains neither a bound value nor its parameter name. */
export function assertUnsaid(said: unknown, caller: Pick<Caller, 'parameters'>, where: string): void {
  assertNoSecret(said, caller, where)
  const text = typeof said === 'string' ? said : (JSON.stringify(said) ?? '')
  for (const name of caller.parameters.keys())
    assert.doesNotMatch(text, new RegExp(`(?<![\\w])${name}(?![\\w])`), `${where} names \`${name}\``)
}

/** Asserts that a value survives JSON unchanged. */
export function assertJson(value: unknown, where: string): void {
  assert.ok(!isTooDeep(value), `${where} nests too deep, or holds itself`)
  const text = JSON.stringify(value)
  assert.ok(text !== undefined, `${where} is no JSON`)
  assert.deepEqual(JSON.parse(text), value, `${where} is no JSON: it changes when it is written and read again`)
}

/** The most characters of a result: the limit of tools, plus the note about a cut. */
const longestResult = 300_000

/** Asserts that an outcome satisfies the contract, is JSON and contains no hidden value. */
export function assertOutcome(outcome: Outcome, caller: Caller): void {
  assertNoSecret(outcome, caller, 'an outcome')
  if (outcome.kind === 'result') {
    assert.equal(typeof outcome.truncated, 'boolean', '`truncated` says whether something is missing')
    if (outcome.failure === null) {
      assertJson(outcome.value ?? null, 'a result')
      assert.ok(JSON.stringify(outcome.value ?? null).length <= longestResult, 'a result is bounded')
      assertUnsaid(outcome.value ?? null, caller, 'a result')
    } else {
      const { code, detail } = outcome.failure
      assert.ok(Object.hasOwn(errorTable, code), `\`${code}\` is no code of the table of errors`)
      assert.ok(detail.trim() !== '', 'a failure says why')
      assertUnsaid(detail, caller, 'a failure')
    }
  } else if (outcome.kind === 'transfer') {
    assert.ok(typeof outcome.agent === 'string' && outcome.agent !== '', 'a transfer names its agent')
  } else if ('child' in outcome) {
    assertJson(outcome.child, 'a child')
    assert.ok(outcome.child.agent !== '', 'a child names its agent')
    assert.ok(outcome.child.message.trim() !== '', 'a child is told something')
    if (outcome.background !== undefined) assert.equal(outcome.background.noBudget.kind, 'result')
  } else {
    assert.equal(outcome.kind, 'pending', 'an outcome is a result, a wait or a transfer')
    assert.ok(outcome.interruptions.length > 0, 'who waits for answers asks something')
    for (const interruption of outcome.interruptions) {
      assertJson(interruption, 'an interruption')
      const asked = interruptionSchema.safeParse(interruptionOf(interruption, caller))
      assert.ok(asked.success, `what is asked is no interruption: ${asked.error?.message}`)
    }
  }
}

/** An answer to what a call waits for. */
export type Answering = (pending: PendingOutcome) => Answer | AgentAnswer

/** The default answer to what a call waits for. */
export const obviousAnswer: Answering = (pending) => {
  if ('child' in pending) return { text: `${pending.child.agent} is done.`, output: null }
  const [asked = assert.fail('nothing is asked')] = pending.interruptions
  if (asked.kind === 'approval') return { value: { decision: 'approved' } }
  if (asked.kind !== 'question') return { value: 'Fine.' }
  const answers = asked.questions.map(({ id, options: [first] }) =>
    first === undefined ? [id, { text: 'Fine.' }] : [id, { options: [first.id] }],
  )
  return { value: Object.fromEntries(answers) }
}

/** Options of a played call. */
interface Playing {
  readonly caller: Caller
  readonly callId?: string
  readonly answering?: Answering
  readonly signal?: AbortSignal
  readonly note?: unknown
  saveNote?(note: unknown): Promise<void>
}

/** The most waits of a call. */
const mostWaits = 20

/** Plays a call to its end, as the engine does. Returns every outcome in order; the last one ends the call, or is a child that does. */
export async function play(tool: Tool, args: Arguments, playing: Playing): Promise<readonly Outcome[]> {
  const { caller, answering = obviousAnswer, callId = 'call-1' } = playing
  const request = { callId, toolCallId: 'model-1', arguments: args }
  if (tool.immediate) {
    const outcome = tool.invoke(request, caller)
    if (outcome.kind !== 'pending' || 'child' in outcome) return [outcome]
    assert.ok(tool.resume !== undefined, 'an immediate tool that asks has a `resume`')
    const all = answered(outcome, answering, caller)
    const last = all.at(-1)
    assert.ok(last?.kind === 'interruption')
    return [outcome, tool.resume(last.answer, last.asked, all)]
  }
  const outcomes: Outcome[] = []
  const answers: CallAnswer[] = []
  let { note } = playing
  const saveNote = async (left: unknown) => {
    await (playing.saveNote ?? (async () => assertJson(left, 'a note')))(left)
    note = structuredClone(left)
  }
  while (outcomes.length <= mostWaits) {
    const outcome = await tool.invoke(request, contextOf({ ...playing, note, saveNote }, answers))
    outcomes.push(outcome)
    if (outcome.kind !== 'pending') return outcomes
    answers.push(...answered(outcome, answering, caller))
  }
  assert.fail(`the call waits more than ${mostWaits} times: does it find its answers again?`)
}

function contextOf(playing: Playing, answers: readonly CallAnswer[]): ToolContext {
  const { caller, signal = new AbortController().signal, note } = playing
  return {
    caller,
    signal,
    scrub: null,
    scrubAll: null,
    answers: structuredClone(answers),
    note,
    saveNote: playing.saveNote ?? (async (left) => assertJson(left, 'a note')),
    artifacts: artifactsOf(playing),
    hasRead: () => true,
    commit: async () => {},
    noteBound: () => {},
    showProgress: () => {},
    embedded: [],
  }
}

const saved = new WeakMap<Caller, Map<string, ArtifactContent>>()

/** The artifacts of a caller, kept in memory. The same file of one call is one artifact. */
function artifactsOf({ caller, callId = 'call-1' }: Playing): CallArtifacts {
  const all = saved.get(caller) ?? new Map<string, ArtifactContent>()
  saved.set(caller, all)
  return {
    async save({ name, mediaType, text, bytes: given }) {
      const bytes = given ?? Buffer.from(text ?? '')
      const digest = digestOf(bytes)
      const id = `art_${digest.slice(-26).replace(/[w-z]/g, 'a')}`
      const place = { conversationId: caller.conversationId, runId: 'run-1', callId, agentPath: caller.agentPath }
      const from = {
        agent: caller.agent.id,
        inputs: [],
        traceId: '0'.repeat(32),
        createdAt: '2026-01-01T00:00:00.000Z',
      }
      const artifact = { id, name, mediaType, bytes: bytes.byteLength, digest, ...place, ...from }
      all.set(id, { artifact, text: text ?? null, bytes })
      return artifact
    },
    async read(id) {
      const found = all.get(id)
      if (found === undefined) throw new WitanError('NOT_FOUND', 'unknown artifact')
      return found
    },
  }
}

function answered(pending: PendingOutcome, answering: Answering, caller: Caller): readonly CallAnswer[] {
  if ('interruptions' in pending) {
    return pending.interruptions.map((one) => ({
      kind: 'interruption',
      asked: interruptionOf(one, caller),
      answer: answering({ kind: 'pending', interruptions: [one] }) as Answer,
    }))
  }
  const { agent, message } = pending.child
  return [{ kind: 'agent', agent, message, answer: answering(pending) as AgentAnswer }]
}

/** The interruption as the store returns it. */
export function interruptionOf({ terms: _, ...draft }: InterruptionDraft, { agent, agentPath }: Caller): Interruption {
  const filledIn = { id: 'asked-1', path: agentPath, agent: agent.id, callId: 'call-1', state: 'answered' } as const
  return { addressee: null, ...draft, ...filledIn, expiresAt: null } as Interruption
}

/** Waits for a promise that must settle soon, and fails if it does not. */
export async function soon<Value>(promise: Promise<Value>, what: string): Promise<Value> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new assert.AssertionError({ message: `${what} did not happen in 20 s` })), 20_000)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

/** Freezes a value deeply, so that any change throws. */
export function frozen<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const inner of Object.values(value)) frozen(inner)
  return Object.freeze(value)
}

/** Hostile arguments for a tool with these parameter names: any parsed JSON. */
export function hostileArguments(names: readonly string[]): readonly Arguments[] {
  const deep = Array.from({ length: 60 }).reduce<unknown>((inner) => ({ inner: [inner] }), 'x')
  const values: readonly unknown[] = [
    null,
    '',
    'x'.repeat(100_000),
    '\ud800',
    -1e308,
    [],
    {},
    [[[]]],
    deep,
    JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":1},"toString":"x","length":-1}'),
    Array.from({ length: 1_000 }, (_, index) => ({ [`key ${index}`]: index })),
  ]
  const everywhere = (value: unknown): Arguments => Object.fromEntries(names.map((name) => [name, value]))
  const strange = JSON.parse('{"__proto__":{"polluted":true},"constructor":1,"hasOwnProperty":2,"toString":3,"then":4}')
  const many = Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`${'k'.repeat(50)}${index}`, index]))
  return [{}, strange, many, { ['x'.repeat(100_000)]: 1 }, ...values.map(everywhere), { ...many, ...everywhere(deep) }]
}
