/** Any list of commands against a model of a conversation that fits on a page: what is accepted, what waits, what stands in the document. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuntime, memoryStore } from '@witan/core'
import { call, lastUserMessage, type Rule, scriptedModel } from '@witan/core/testing'
import { isWitanError } from '@witan/protocol'
import fc from 'fast-check'
import { assertSound } from '../support/claims.ts'
import { fakeClock } from '../support/clock.ts'
import { outliving } from '../support/reopen.ts'
import { holds } from '../support/seeds.ts'
import { agent, allEvents, cast, until } from '../support/stage.ts'

type Command =
  | { readonly kind: 'send'; readonly asks: boolean; readonly closes: boolean }
  | { readonly kind: 'answer'; readonly which: number }
  | { readonly kind: 'cancel' | 'restart' | 'crash' | 'expire' | 'fork' }

const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('send' as const), asks: fc.boolean(), closes: fc.boolean() }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('answer' as const), which: fc.nat(5) }) },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constantFrom(...(['cancel', 'restart', 'crash', 'expire', 'fork'] as const)) }),
  },
)

/** The model: what is said, what is open, and how what was asked came to its end. */
interface Expected {
  said: string[]
  open: string | null
  /** By what was asked: the code that a late answer gets. */
  readonly settled: Map<string, string>
  /** What was closed by words in its place: while the run goes on, another has answered; later it is over. */
  closed: string[]
}

/** What a command comes to: how its run stands afterwards, or the code that refuses it; null where it tells nothing. */
type Outcome = string | null

/** The run is over. */
function ends(model: Expected): void {
  for (const asked of model.closed) model.settled.set(asked, 'RUN_FINISHED')
  model.closed = []
  model.open = null
}

function sends(model: Expected, prompt: string, { asks, closes }: Command & { kind: 'send' }): Outcome {
  if (model.open !== null && !closes) return 'ACTIONS_PENDING'
  if (model.open !== null) model.closed.push(model.open)
  model.said.push(prompt)
  if (asks) model.open = prompt
  else ends(model)
  if (!asks) model.said.push(`${prompt} is done`)
  return asks ? 'waiting' : 'completed'
}

function answers(model: Expected, asked: string): Outcome {
  const late = model.closed.includes(asked) ? 'ALREADY_ANSWERED' : model.settled.get(asked)
  if (late !== undefined) return late
  model.settled.set(asked, 'ALREADY_ANSWERED')
  model.said.push(`${asked} is done`)
  ends(model)
  return 'completed'
}

function cancels(model: Expected, hasRun: boolean): Outcome {
  if (model.open === null) return hasRun ? 'RUN_FINISHED' : null
  model.settled.set(model.open, 'RUN_FINISHED')
  ends(model)
  return null
}

function expires(model: Expected): void {
  if (model.open === null) return
  model.settled.set(model.open, 'QUESTION_EXPIRED')
  model.said.push(`${model.open} is done`)
  ends(model)
}

/** The root has a leaf ask where it was told to, and says that it is done. */
const root: Rule = (request) => {
  const said = lastUserMessage(request)
  const isNew = request.messages.at(-1)?.role === 'user'
  return isNew && said.startsWith('ask') ? call('leaf', { message: said }) : `${said} is done`
}
const leaf: Rule = (request) => (request.messages.at(-1)?.role === 'user' ? call('Ask') : 'heard')

/** The real thing: the same commands through the public door, on a store that outlives its runtimes. */
function createReal() {
  const clock = fakeClock()
  const store = outliving(memoryStore({ now: clock.now }))
  const models = { 'play/model': scriptedModel(cast({ root, leaf })) }
  const agents = [
    agent('root', { subAgents: [{ agent: 'leaf' }] }),
    agent('leaf', { actions: [{ name: 'Ask' }], interruptionExpiresInSeconds: 60 }),
  ]
  const reports: unknown[] = []
  const report = (error: unknown) => reports.push(error)
  const open = () => createRuntime({ store, clock, models, agents, report, retry: { tries: 1 } })
  /** `asked`: the interruption that each prompt led to. */
  const real = {
    runtime: open(),
    id: 'chats/1',
    lastRun: null as string | null,
    asked: new Map<string, string>(),
    reports,
  }
  const comesTo = (...wanted: string[]) =>
    until(async () => wanted.includes((await real.runtime.getConversation(real.id)).status))
  return Object.assign(real, {
    comesTo,
    async send(prompt: string, closes: boolean): Promise<Outcome> {
      const run = await real.runtime.run(real.id, { prompt, ...(closes ? { cancelPendingActions: true } : {}) })
      real.lastRun = run.runId
      const { status, interruptions } = await run.result
      for (const { id } of interruptions) real.asked.set(prompt, id)
      return status
    },
    async answer(asked: string, value: number): Promise<Outcome> {
      await real.runtime.answerInterruption(real.asked.get(asked) ?? '', { answer: value })
      await comesTo('idle', 'waiting')
      return (await real.runtime.getRun(real.lastRun ?? '')).status
    },
    async reopen(isOrderly: boolean): Promise<void> {
      if (isOrderly) await real.runtime.close()
      real.runtime = open()
      await real.runtime.ready
    },
    async expire(): Promise<void> {
      clock.advance(61_000)
      await comesTo('idle')
    },
    async fork(): Promise<void> {
      const { lastSeq } = await real.runtime.getConversation(real.id)
      real.id = (await real.runtime.forkConversation(real.id, { seq: lastSeq })).id
      real.lastRun = null
    },
  })
}
type Real = ReturnType<typeof createReal>

/** Carries a command out on both; gives what the model says and what came. */
async function step(
  one: Command,
  index: number,
  { model, real }: { readonly model: Expected; readonly real: Real },
): Promise<[Outcome, Outcome]> {
  if (one.kind === 'send') {
    const prompt = `${one.asks ? 'ask' : 'tell'} ${index}`
    return [sends(model, prompt, one), await real.send(prompt, one.closes).catch(codeOf)]
  }
  if (one.kind === 'answer') {
    const known = [...(model.open === null ? [] : [model.open]), ...model.closed, ...model.settled.keys()]
    const asked = known[one.which % Math.max(1, known.length)]
    return asked === undefined ? [null, null] : [answers(model, asked), await real.answer(asked, index).catch(codeOf)]
  }
  if (one.kind === 'cancel') {
    const tried = real.lastRun === null ? null : await real.runtime.cancelRun(real.lastRun).then(() => null, codeOf)
    await real.comesTo('idle', 'waiting')
    return [cancels(model, real.lastRun !== null), tried]
  }
  if (one.kind === 'fork') {
    const refused = model.open === null ? null : 'FORK_OPEN_CALLS'
    return [refused, await real.fork().then(() => null, codeOf)]
  }
  if (one.kind === 'expire') {
    expires(model)
    await real.expire()
  } else await real.reopen(one.kind === 'restart')
  return [null, null]
}

function codeOf(error: unknown): string {
  if (isWitanError(error)) return error.code
  throw error
}

test('[P19] any commands, with crashes, forks and what expires between them, leave what a model of a conversation predicts', async (context) => {
  const came = new Map<string, number>()
  const property = fc.asyncProperty(fc.array(command, { minLength: 1, maxLength: 30 }), async (list) => {
    const [model, real]: [Expected, Real] = [{ said: [], open: null, settled: new Map(), closed: [] }, createReal()]
    await real.runtime.start({ agent: 'root', id: real.id })
    for (const [index, one] of list.entries()) {
      const [wanted, got] = await step(one, index, { model, real })
      assert.equal(got, wanted, `${one.kind} at ${index}`)
      const { status, interruptions } = await real.runtime.getConversation(real.id)
      assert.equal(status, model.open === null ? 'idle' : 'waiting', `after ${one.kind} at ${index}`)
      assert.deepEqual(
        interruptions.map(({ id }) => id),
        model.open === null ? [] : [real.asked.get(model.open)],
      )
      const { messages } = await real.runtime.getDocument(real.id, { limit: 200 })
      const told = messages.map(({ text }) => text).filter((text) => text !== '')
      assert.deepEqual(told, model.said, `after ${one.kind} at ${index}`)
      came.set(`${one.kind} ${wanted}`, 1 + (came.get(`${one.kind} ${wanted}`) ?? 0))
    }
    if (model.open !== null) await real.expire()
    assertSound(await allEvents(real.runtime, real.id))
    assert.deepEqual(real.reports, [])
    await real.runtime.close()
  })
  const expected = await holds(context, property, 500)
  const all = ['send waiting', 'send completed', 'send ACTIONS_PENDING', 'answer completed', 'answer ALREADY_ANSWERED']
  const more = ['answer QUESTION_EXPIRED', 'answer RUN_FINISHED', 'cancel null', 'cancel RUN_FINISHED', 'fork null']
  for (const what of [...all, ...more, 'fork FORK_OPEN_CALLS'])
    assert.ok(
      (came.get(what) ?? 0) > expected(8),
      `${what} came up ${came.get(what) ?? 0} times: ${JSON.stringify([...came])}`,
    )
})
