/**
 * A run that came with evidence calls another server after that has expired: the call waits, in the name of the calling agent, for fresh
 * evidence of the same issuer and subject, or for somebody who lets it go out without.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryStore, type Principal } from '@witan/core'
import { readReplaySource, replay } from '@witan/core/export'
import { call, lastUserMessage } from '@witan/core/testing'
import type { DatabaseId, Interruption } from '@witan/protocol'
import type { ProvenEvidence } from '@witan/protocol/entries'
import { fakeClock } from '../support/clock.ts'
import { crashingStore } from '../support/crashing-store.ts'
import { callerOf, playedRemote, type Turn } from '../support/played-remote.ts'
import { outliving } from '../support/reopen.ts'
import { createStage, type Play, settle, type Stage, until } from '../support/stage.ts'

const clockStart = Date.UTC(2026, 0, 1)
const old: ProvenEvidence = {
  ...{ subject: '@a@a.test', onBehalfOf: ['mailto:anna@a.test'], issuer: 'https://a.test', digest: 'sha256:old' },
  expiresAt: clockStart + 300_000,
}
const fresh = { ...old, digest: 'sha256:fresh', expiresAt: clockStart + 900_000 }

const from = (...evidence: readonly ProvenEvidence[]): Principal => ({
  ...{ database: 'default' as DatabaseId, id: '@a@a.test', roles: ['run'], address: '@a@a.test' },
  incoming: { chain: { hop: 1, maxHops: 4, root: null, path: ['@a@a.test'] }, evidence },
})

const access = { call: ['@*', 'role:admin'] }
const edge = (more: object = {}) => ({ name: 'docs', address: '@docs@b.test', description: 'Knows.', ...more })

/** A run of a caller from outside, whose evidence expires before `desk` calls another server. */
function staged(plays: Readonly<Record<string, Play>>, { turn, more }: { turn?: Turn; more?: object } = {}) {
  const clock = fakeClock(clockStart)
  const store = outliving(memoryStore({ now: clock.now }))
  const remote = playedRemote(turn ?? (() => ({ state: 'COMPLETED', parts: [{ text: 'In the cellar.' }] })), {
    isIdempotent: true,
  })
  /** The evidence that each message could be made from. */
  const carried: string[] = []
  const remotes = callerOf(remote, {
    ...{ clock, isIdempotent: true },
    async sign({ caller, isMessage }) {
      const { evidence, renewed } = caller?.principal.incoming ?? {}
      const leading = renewed ?? evidence?.[0]
      if (isMessage) carried.push(leading !== undefined && leading.expiresAt > clock.now() ? leading.digest : 'none')
      return { bearer: null, metadata: {}, extensions: [] }
    },
  })
  const open = (within = store) =>
    createStage({
      agents: [
        { id: 'root', access, subAgents: [{ agent: 'desk' }, { agent: 'late', blocking: 'never' }] },
        { id: 'desk', access, remotes: [edge(more)] },
        { id: 'late', remotes: [edge(more)] },
      ],
      plays,
      options: { store: within, clock, remotes },
    })
  return { clock, store, remote, carried, open }
}

const once =
  (name: string, then = 'done'): Play =>
  (request, at) =>
    at === 0 ? call(name, { message: 'where' }) : `${then}: ${String(request.messages.at(-1)?.content)}`

async function asked(stage: Stage): Promise<readonly (Interruption & { kind: 'policy' })[]> {
  const { items } = await stage.runtime.listInterruptions({ state: 'open' })
  return items.flatMap((one) => (one.kind === 'policy' ? [one] : []))
}

/** Begins a run and lets its evidence expire before the first model answers. */
async function lapsed(of: ReturnType<typeof staged>, agent = 'desk') {
  const stage = of.open()
  await stage.runtime.ready
  const opened = await stage.runtime.as(from(old)).start({ agent, id: 'chats/1', prompt: 'go' })
  of.clock.advance(300_000)
  const result = await opened.run?.result
  return { stage, run: opened.run?.runId ?? '', status: result?.status, text: result?.text }
}

async function ended({ runtime }: Stage, run: string): Promise<string> {
  let text: string | undefined
  await until(async () => {
    const { status, result } = await runtime.getRun(run)
    text = `${status}: ${result?.text}`
    return status !== 'running' && status !== 'waiting'
  })
  return String(text)
}

const plays = { desk: once('docs'), root: once('desk'), late: once('docs') }
const found = 'completed: done: In the cellar.'

test('[E22] a call that would carry expired evidence is a condition of the agent that calls, and nothing goes out', async () => {
  const of = staged(plays)
  const { stage, status } = await lapsed(of)
  assert.equal(status, 'waiting')
  const [one, ...others] = await asked(stage)
  assert.equal(others.length, 0)
  const { kind, code, data } = (one?.policy ?? {}) as Record<string, unknown>
  assert.deepEqual(
    [one?.issuer, one?.path, one?.addressee, kind, code],
    ['desk', 'docs', null, 'unauthorized', 'EVIDENCE_EXPIRED'],
  )
  assert.deepEqual(data, {
    'dev.witan.evidence': { issuer: 'https://a.test', subject: '@a@a.test', digest: 'sha256:old' },
  })
  assert.deepEqual([of.remote.tasks.length, of.carried], [0, []])
  assert.equal(stage.requests.length, 1)
})

test('[E22] fresh evidence of the same issuer and subject resolves it, and nothing else does', async () => {
  const of = staged(plays)
  const { stage, run } = await lapsed(of)
  const others = [
    old,
    { ...fresh, issuer: 'https://evil.test' },
    { ...fresh, subject: '@b@a.test' },
    { ...fresh, subject: 'mailto:anna@a.test' },
  ]
  for (const piece of others) await stage.runtime.as(from(piece)).ownRuns.renew('chats/1')
  await stage.runtime.as({ ...from(), incoming: {} }).ownRuns.renew('chats/1')
  await assert.rejects(stage.runtime.as({ ...from(fresh), id: '@b@a.test' }).ownRuns.renew('chats/1'), {
    code: 'NOT_FOUND',
  })
  await settle()
  assert.equal((await asked(stage)).length, 1)
  assert.deepEqual(of.carried, [])
  await stage.runtime.as(from({ ...fresh, issuer: 'https://c.test' }, fresh)).ownRuns.renew('chats/1')
  assert.equal(await ended(stage, run), found)
  assert.deepEqual(of.carried, ['sha256:fresh'])
  await stage.runtime.as(from(fresh)).ownRuns.renew('chats/1')
  const lines: string[] = []
  for await (const line of stage.runtime.exportConversation('chats/1')) lines.push(line)
  const { difference } = await replay(await readReplaySource(ReadableStream.from(lines)))
  assert.equal(difference, null, JSON.stringify(difference))
})

test('[E22] what was renewed holds for later calls of the run too, until it has expired itself', async () => {
  const desk: Play = (_, at) => {
    if (at === 2) of.clock.advance(900_000)
    return at < 3 ? call('docs', { message: 'where' }) : 'done'
  }
  const of = staged({ desk })
  const { stage, run } = await lapsed(of)
  await stage.runtime.as(from(fresh)).ownRuns.renew('chats/1')
  await until(async () => (await asked(stage)).length === 1 && of.carried.length === 2)
  assert.deepEqual(of.carried, ['sha256:fresh', 'sha256:fresh'])
  const [one] = await asked(stage)
  await stage.runtime.answerInterruption(one?.id ?? '', { answer: { resolution: {} } } as never)
  assert.equal(await ended(stage, run), 'completed: done')
  assert.deepEqual(of.carried, ['sha256:fresh', 'sha256:fresh', 'none'])
})

test('[E22] a resolution without evidence lets the call go out without; declined or too late, the model reads neutral words', async () => {
  const outcomes: readonly (readonly [unknown, string, number])[] = [
    [{ resolution: {} }, found, 1],
    [{ resolution: { 'dev.witan.evidence': fresh, evidence: fresh } }, found, 1],
    [{ decision: 'declined' }, 'completed: done: {"error":"The remote agent’s condition was declined."}', 0],
    [null, 'completed: done: {"error":"The remote agent’s condition was not met in time."}', 0],
  ]
  for (const [answer, expected, sent] of outcomes) {
    const of = staged(plays)
    const { stage, run } = await lapsed(of)
    const [one] = await asked(stage)
    if (answer === null) of.clock.advance(86_400_000)
    else await stage.runtime.answerInterruption(one?.id ?? '', { answer } as never)
    assert.equal(await ended(stage, run), expected)
    assert.deepEqual(
      of.carried,
      Array.from({ length: sent }, () => 'none'),
    )
    for (const { messages } of stage.requests) assert.doesNotMatch(JSON.stringify(messages), /a\.test|sha256|evidence/)
  }
})

test('[E22] below a sub-agent, in a background task, and after a restart', async () => {
  const of = staged(plays)
  const { stage } = await lapsed(of, 'root')
  assert.deepEqual(
    (await asked(stage)).map(({ path, issuer }) => [path, issuer]),
    [['desk/docs', 'desk']],
  )
  await stage.runtime.close()
  const next = of.open()
  await next.runtime.ready
  await next.runtime.as(from(fresh)).ownRuns.renew('chats/1')
  await until(async () => of.carried.length === 1)
  assert.deepEqual(of.carried, ['sha256:fresh'])

  const root: Play = (request, at) =>
    at > 0 || lastUserMessage(request) !== 'go' ? 'done' : call('late', { message: 'x' })
  const task = staged({ ...plays, root })
  const late = await lapsed(task, 'root')
  await until(async () => (await asked(late.stage)).length === 1)
  await late.stage.runtime.as(from(fresh)).ownRuns.renew('chats/1')
  await until(async () => task.carried.length === 1)
  assert.deepEqual(task.carried, ['sha256:fresh'])
})

test('[E22] a call in the background waits too, and its run goes on', async () => {
  const desk: Play = (request, at) =>
    at === 0 && lastUserMessage(request) === 'go' ? call('docs', { message: 'x' }) : 'done'
  const of = staged({ desk }, { more: { blocking: 'never' } })
  const { stage, status } = await lapsed(of)
  assert.equal(status, 'completed')
  await until(async () => (await asked(stage)).length === 1)
  assert.deepEqual([(await asked(stage))[0]?.path, of.carried], ['docs', []])
  await stage.runtime.as(from(fresh)).ownRuns.renew('chats/1')
  await until(async () => (await stage.runtime.getConversation('chats/1')).runs.length === 2)
  assert.deepEqual(of.carried, ['sha256:fresh'])
})

test('[E22] an answer that goes to another server later waits too, and is sent once with what was answered', async () => {
  const question = {
    type: 'question',
    id: 'q',
    questions: [{ id: 'shelf', text: 'Which?', options: [], multiple: false, freeText: true, required: true }],
  }
  const turn: Turn = ({ turn: at, parts }) =>
    at === 0
      ? { state: 'INPUT_REQUIRED', parts: [{ data: question }] }
      : { state: 'COMPLETED', parts: [{ text: JSON.stringify(parts) }] }
  const of = staged(plays, { turn })
  const stage = of.open()
  await stage.runtime.ready
  const caller = stage.runtime.as(from(old))
  const opened = await caller.start({ agent: 'desk', id: 'chats/1', prompt: 'go' })
  await opened.run?.result
  of.clock.advance(300_000)
  const [open] = (await stage.runtime.listInterruptions({ state: 'open' })).items
  await caller.answerInterruption(open?.id ?? '', { answer: { shelf: { text: 'the third' } } } as never)
  await until(async () => (await asked(stage)).length === 1)
  assert.equal(of.remote.tasks[0]?.messages.length, 1)
  await stage.runtime.as(from(fresh)).ownRuns.renew('chats/1')
  assert.match(await ended(stage, opened.run?.runId ?? ''), /the third/)
  assert.deepEqual([of.carried, of.remote.tasks[0]?.messages.length], [['sha256:old', 'sha256:fresh'], 2])
})

/** Lets a process work until it is dead or its run has ended; its caller renews whatever is asked. */
async function worked(
  of: ReturnType<typeof staged>,
  { runtime }: Stage,
  isDead: () => boolean,
): Promise<string | null> {
  const look = async () => {
    const { runs, interruptions } = await runtime.getConversation('chats/1')
    if (interruptions.length > 0) await runtime.as(from(fresh)).ownRuns.renew('chats/1')
    const [run] = runs
    if (run === undefined || run.status === 'running' || run.status === 'waiting') return null
    return (await runtime.getRun(run.runId)).result?.text ?? ''
  }
  for (let round = 0; round < 500; round += 1) {
    await settle(3)
    if (isDead()) return null
    const said = await Promise.race([look(), settle(20).then(() => null)])
    if (said !== null) return said
    if (round % 10 === 9) of.clock.advance(5_000)
  }
  throw new Error('neither dead nor at its end')
}

for (const moment of ['before', 'after'] as const)
  test(`[E22] [D1] a process that dies ${moment} any append asks, and nothing ever goes out without evidence`, async () => {
    for (let at = 2, fired = true; fired; at += 1) {
      const of = staged(plays)
      const first = crashingStore(of.store, at, moment)
      const stage = of.open(first.store)
      await Promise.race([
        stage.runtime.as(from(old)).start({ agent: 'desk', prompt: 'go', id: 'chats/1' }),
        first.crashed,
      ])
      of.clock.advance(300_000)
      let said = await worked(of, stage, first.isDead)
      fired = said === null
      if (fired) {
        of.clock.advance(60_000)
        const next = of.open()
        await next.runtime.ready
        said = await worked(of, next, () => false)
      }
      assert.equal(said, 'done: In the cellar.', `append ${at}`)
      assert.deepEqual([...new Set(of.carried)], ['sha256:fresh'], `append ${at}`)
      assert.equal(of.remote.tasks.length, 1, `append ${at}`)
      assert.ok(!fired || at < 30)
      if (!fired) assert.ok(at > 6, `only ${at} appends`)
    }
  })

test('[E22] nothing is asked for an edge that says nothing of for whom it calls, or in a run that came without evidence', async () => {
  const quiet = staged(plays, { more: { onBehalfOf: false } })
  const { text } = await lapsed(quiet)
  assert.equal(text, 'done: In the cellar.')
  const plain = staged(plays)
  const stage = plain.open()
  const result = await stage.ask('desk', 'go')
  assert.equal(result.text, 'done: In the cellar.')
})
