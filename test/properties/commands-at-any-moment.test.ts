/** Messages, answers and cancels that come while a random system is at work: each is accepted once or refused in words, and the log stays whole. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { memoryStore, type Runtime, type Store, sqliteStore } from '@witan/core'
import fc from 'fast-check'
import { assertAlternates, assertSound } from '../support/claims.ts'
import {
  answerTo,
  depthOf,
  givenTo,
  note,
  randomPlay,
  type RandomSystem,
  randomSystem,
  definedBy,
} from '../support/random-system.ts'
import { holds } from '../support/seeds.ts'
import { createStage, settle } from '../support/stage.ts'

const folder = mkdtempSync(join(tmpdir(), 'witan-commands-'))
let files = 0

/** Each store, and how many runs it is quick enough for. */
const stores = {
  memory: { runs: 400, make: () => memoryStore() },
  sqlite: { runs: 50, make: () => sqliteStore({ file: join(folder, `${++files}.db`), synchronous: 'normal' }) },
}

type Kind = 'enqueue' | 'interrupt' | 'reject' | 'close' | 'cancel' | 'answer' | 'answer twice'
interface Command {
  readonly kind: Kind
  /** Turns of the event loop to wait before it. */
  readonly after: number
}

const kinds: readonly Kind[] = ['enqueue', 'interrupt', 'reject', 'close', 'cancel', 'answer', 'answer twice']
const commands = fc.array(fc.record({ kind: fc.constantFrom(...kinds), after: fc.nat(6) }), {
  minLength: 1,
  maxLength: 8,
})

/** What a command may be refused with. */
const expected = new Set(['ACTIONS_PENDING', 'ALREADY_ANSWERED', 'CONVERSATION_BUSY', 'RUN_ACTIVE', 'RUN_FINISHED'])

/** What an answer is refused with whose action has been closed meanwhile. */
const closed = new Set(['ALREADY_ANSWERED', 'RUN_FINISHED'])

/** Sends one command; gives the text of a message that was accepted. */
async function send(runtime: Runtime, { kind }: Command, index: number): Promise<string | null> {
  const { activeRunId, interruptions } = await runtime.getConversation('chats/1')
  if (kind === 'cancel') {
    if (activeRunId !== null) await runtime.cancelRun(activeRunId)
    return null
  }
  if (kind === 'answer' || kind === 'answer twice') {
    const [open] = interruptions
    if (open === undefined) return null
    const answers = (kind === 'answer' ? [0] : [0, 2]).map((round) => answerTo(open.kind, round))
    const tried = await Promise.allSettled(answers.map((answer) => runtime.answerInterruption(open.id, { answer })))
    const failed = tried.find((one) => one.status === 'rejected')
    if (failed !== undefined) throw failed.reason
    return null
  }
  const prompt = `word ${index}, message ${index}`
  const how =
    kind === 'close' ? { cancelPendingActions: true } : { onActive: kind as 'enqueue' | 'interrupt' | 'reject' }
  await runtime.run('chats/1', { prompt, ...how })
  return prompt
}

/** What no guardrail takes out of a prompt. */
const kept = (prompt: string) => prompt.split(',', 1)[0]

async function sendAll(runtime: Runtime, list: readonly Command[]) {
  const accepted: string[] = []
  const refused = new Map<string, number>()
  const sent: Promise<void>[] = []
  for (const [index, command] of list.entries()) {
    await settle(command.after)
    const one = send(runtime, command, index).then(
      (text) => void (text !== null && accepted.push(text)),
      (error: { code?: string }) => {
        assert.ok(expected.has(error.code ?? ''), `refused with ${error.code}: ${String(error)}`)
        refused.set(error.code ?? '', 1 + (refused.get(error.code ?? '') ?? 0))
      },
    )
    sent.push(one)
  }
  await Promise.all(sent)
  return { accepted, refused }
}

/** Answers what waits until nothing is live. An answer may end the run, and with it the others that were listed. */
async function comeToRest(runtime: Runtime): Promise<void> {
  for (let round = 0; round < 3000; round += 1) {
    const { status, interruptions } = await runtime.getConversation('chats/1')
    if (status === 'idle') return
    for (const { id, kind } of status === 'waiting' ? interruptions : []) {
      const tried = runtime.answerInterruption(id, { answer: answerTo(kind, round) })
      await tried.catch((error: { code?: string }) => assertClosed(runtime, id, error))
    }
    await settle(1)
  }
  throw new Error('I9: the conversation does not come to rest')
}

/** Refuses an answer only where what it answers is open no more. */
async function assertClosed(runtime: Runtime, id: string, error: { readonly code?: string }): Promise<void> {
  assert.ok(closed.has(error.code ?? ''), `refused with ${error.code}: ${String(error)}`)
  const { interruptions } = await runtime.getConversation('chats/1')
  assert.ok(!interruptions.some((open) => open.id === id), `${id} is open, and its answer is refused: ${String(error)}`)
}

async function play(system: RandomSystem, list: readonly Command[], store: Store) {
  const rule = randomPlay(system.seed)
  const plays = Object.fromEntries(system.agents.map(({ id }) => [id, rule]))
  const stage = createStage({
    agents: system.agents,
    plays,
    options: { tools: [note], ...definedBy(system), store },
  })
  await stage.runtime.start({ agent: 'a', id: 'chats/1', prompt: 'go', parameters: givenTo(system) })
  const sent = await sendAll(stage.runtime, list)
  await comeToRest(stage.runtime)
  return { stage, ...sent }
}

describe('commands at any moment', () => {
  after(() => rmSync(folder, { recursive: true, force: true }))

  for (const [name, { runs, make }] of Object.entries(stores)) {
    test(`[P19] [I1] [I3] [I6] [I8] [D12] commands at any moment leave the log whole, and what was accepted stands in it once, ${name}`, async (context) => {
      const refusals = new Set<string>()
      let messages = 0
      const property = fc.asyncProperty(randomSystem, commands, async (system, list) => {
        const { stage, accepted, refused } = await play(system, list, make())
        const events = await stage.events('chats/1')
        assertSound(events, depthOf(system))
        for (const request of stage.requests) assertAlternates(request)
        const said = events.filter(({ type, author }) => type === 'message' && author === 'user')
        assert.deepEqual(
          said.map(({ content }) => kept(String(content['text']))).sort(),
          ['go', ...accepted.map(kept)].sort(),
          'I1: not every accepted message stands in the log once',
        )
        const resolved = events.filter(({ type }) => type === 'resolved').map(({ content }) => content['id'])
        assert.equal(new Set(resolved).size, resolved.length, 'I8: an action was resolved twice')
        assert.deepEqual(stage.reports, [])
        messages += accepted.length
        for (const code of refused.keys()) refusals.add(code)
        await stage.runtime.close()
      })
      const expected = await holds(context, property, runs)
      assert.ok(messages > expected(runs / 2), `only ${messages} messages were accepted`)
      assert.ok(refusals.size >= expected(2), `only ${[...refusals]} came up`)
    })
  }
})
