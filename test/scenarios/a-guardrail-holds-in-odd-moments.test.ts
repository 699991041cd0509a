/** Guardrails where something else happens meanwhile: words that are left over, initial queries, cancels, messages that overtake an answer. */
import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { call, type Rule, type ScriptedAnswer } from '@witan/core/testing'
import { inTurn } from '../support/hooked-stage.ts'
import { createStage, type Stage, settle, until } from '../support/stage.ts'

const word = 'marzipan'
const refuses = { name: 'words', kind: 'pattern', pattern: word, message: 'Not that word.' } as const
const redacts = { ...refuses, action: 'redact' } as const
const judge = { name: 'judge', kind: 'agent', agent: 'judge' } as const
const judging: Rule = ({ messages }) => JSON.stringify({ allow: !String(messages.at(-1)?.content).includes(word) })
const readBy = (stage: Stage, id: string) => JSON.stringify(stage.seenBy(id).map(({ messages }) => messages))
const isIdle = async (stage: Stage) => (await stage.runtime.getConversation('chats/1')).status === 'idle'
const messagesIn = async (stage: Stage) =>
  (await stage.events('chats/1', { verbose: true })).filter(
    ({ type, author }) => type === 'message' && author === 'user',
  ).length
const folder = mkdtempSync(join(tmpdir(), 'witan-guardrails-'))

/** A source with one table, for an initial query. */
function sourceWithRows() {
  const file = join(folder, `${Math.random()}.db`)
  const database = new DatabaseSync(file)
  database.exec("create table facts (fact text); insert into facts values ('one')")
  database.close()
  const query = {
    name: 'facts',
    description: 'Facts.',
    source: 'facts',
    query: 'select fact from facts',
    addToInitialContext: true,
  }
  return { sources: { facts: { kind: 'sqlite', file } } as const, queries: [query] }
}

/** Says its first answer once something has happened. */
function waitingFor(happened: () => Promise<boolean>, ...answers: readonly ScriptedAnswer[]): Rule {
  let at = 0
  return async () => {
    const answer = answers[at]
    at += 1
    if (at === 1) await until(happened)
    return answer
  }
}

describe('words that a run has not read', () => {
  after(() => rmSync(folder, { recursive: true, force: true }))

  test('are checked by the run that a task begins, and by any other', async () => {
    let isFree = false
    let stage: Stage | null = null
    const root: Rule = async (_, turn) => {
      if (turn === 0) return call('worker', { message: 'Work.' })
      if (turn === 1) {
        void stage?.run('chats/1', { prompt: word, onActive: 'enqueue' }).catch(() => {})
        await until(async () => stage !== null && (await messagesIn(stage)) === 2)
        return new Error('the model is down')
      }
      return 'Told.'
    }
    stage = createStage({
      agents: [
        { id: 'root', subAgents: [{ agent: 'worker', blocking: 'never' }], guardrails: { input: [refuses] } },
        { id: 'worker' },
      ],
      plays: { root, worker: waitingFor(async () => isFree, 'Worked.') },
    })
    assert.equal((await stage.ask('root', 'Go.', { id: 'chats/1' })).status, 'failed')
    isFree = true
    await until(async () => stage !== null && (await stage.runtime.listRuns('chats/1')).items.length > 1)
    await until(async () => stage !== null && (await isIdle(stage)))
    await stage.run('chats/1', { prompt: 'Hello.' })
    assert.equal(readBy(stage, 'root').includes(word), false)
    await stage.runtime.close()
  })

  test('are not read behind an initial query either, and what it refused stands in no later run', async () => {
    const { sources, queries } = sourceWithRows()
    const stage = createStage({
      agents: [{ id: 'root', queries, guardrails: { input: [refuses] } }],
      plays: { root: ['Hello.'] },
      options: { sources },
    })
    const refused = await stage.ask('root', word, { id: 'chats/1' })
    assert.equal(refused.error?.code, 'GUARDRAIL_REFUSED')
    assert.equal((await stage.run('chats/1', { prompt: 'Hello.' })).text, 'Hello.')
    assert.equal(readBy(stage, 'root').includes(word), false)
    await stage.runtime.close()
  })
})

describe('an answer that nobody has checked to the end', () => {
  for (const more of [{}, { enableReflection: true }])
    test(`is no earlier answer where a message overtakes it ${JSON.stringify(more)}`, async () => {
      let stage: Stage | null = null
      const root: Rule = async ({ messages }) => {
        const text = JSON.stringify(messages)
        if (String(messages.at(-1)?.content).includes('"task":"check"')) return '{"verdict":"pass","problems":[]}'
        if (text.includes('More.')) return 'Fine.'
        void stage?.run('chats/1', { prompt: 'More.', onActive: 'enqueue' }).catch(() => {})
        await until(async () => stage !== null && (await messagesIn(stage)) === 2)
        return `A ${word}.`
      }
      stage = createStage({
        agents: [{ id: 'root', guardrails: { output: [judge] }, ...more }, { id: 'judge' }],
        plays: { root, judge: judging },
      })
      const result = await stage.ask('root', 'Go.', { id: 'chats/1' })
      assert.equal(result.text, 'Fine.', JSON.stringify(result.error))
      assert.equal(JSON.stringify(result).includes(word), false)
      await stage.runtime.close()
    })

  test('is taken back where its run is cancelled before', async () => {
    let isAsked = false
    const stage = createStage({
      agents: [{ id: 'root', guardrails: { output: [judge] } }, { id: 'judge' }],
      plays: {
        root: inTurn(`A ${word}.`, 'Fine.'),
        judge: async (request, turn) => {
          if (isAsked) return judging(request, turn)
          isAsked = true
          await new Promise((resolve) => setTimeout(resolve, 200))
          return '{"allow":true}'
        },
      },
    })
    const { run } = await stage.runtime.start({ agent: 'root', id: 'chats/1', prompt: 'Go.' })
    await until(() => isAsked)
    await stage.runtime.cancelRun(run?.runId ?? '')
    await until(() => isIdle(stage))
    assert.equal(JSON.stringify(await stage.document('chats/1')).includes(word), false)
    assert.equal((await stage.run('chats/1', { prompt: 'Again.' })).text, 'Fine.')
    assert.equal(readBy(stage, 'root').includes(word), false)
    await stage.runtime.close()
  })

  test('fails the call that revises it: the draft does not stand in its place', async () => {
    const stage = createStage({
      agents: [{ id: 'root', enableReflection: true, guardrails: { output: [refuses] } }],
      plays: {
        root: inTurn('A draft.', '{"verdict":"revise","problems":["More."]}', `A ${word}.`, `Still ${word}.`),
      },
    })
    const result = await stage.ask('root', 'Go.', { id: 'chats/1' })
    assert.equal(result.error?.code, 'GUARDRAIL_REFUSED', JSON.stringify(result))
    await stage.runtime.close()
  })

  test('may be null, and is checked by its schema all the same', async () => {
    const check = { name: 'some', kind: 'schema', schema: { type: 'object' } } as const
    const stage = createStage({
      agents: [{ id: 'root', outputSchema: { type: ['object', 'null'] }, guardrails: { output: [check] } }],
      plays: { root: inTurn('null', '{}') },
    })
    assert.deepEqual((await stage.ask('root', 'Go.')).output, {})
    await stage.runtime.close()
  })
})

describe('a long message', () => {
  test('is redacted for a sub-agent, and a pattern that would look without end refuses', async () => {
    const slow = { ...redacts, name: 'slow', pattern: '.*[^A-Z]|[A-Z]' }
    const text = `${word} ${'A'.repeat(20_000)}`
    const stage = createStage({
      agents: [
        { id: 'root', subAgents: [{ agent: 'shut' }] },
        { id: 'shut', guardrails: { input: [redacts, slow] } },
      ],
      plays: { root: [call('shut', { message: text }), 'Done.'], shut: ['Read.'] },
    })
    const began = process.cpuUsage()
    assert.equal((await stage.ask('root', 'Go.', { id: 'chats/1' })).text, 'Done.')
    const { user } = process.cpuUsage(began)
    assert.equal(readBy(stage, 'shut').includes(word), false)
    assert.ok(user < 20_000_000)
    await settle(1)
    await stage.runtime.close()
  })
})
