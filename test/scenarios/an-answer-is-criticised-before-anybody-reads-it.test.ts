/** `enableReflection`: a final answer is held back for one critique, and a draft is no answer to anybody [F08]. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { createRuntime, type ModelRequest, sqliteStore } from '@witan/core'
import { call, type Rule, type ScriptedAnswer, scriptedModel } from '@witan/core/testing'
import { type AgentDraft, agent, createStage, until } from '../support/stage.ts'

const says = ({ messages }: ModelRequest) => messages.at(-1)?.content ?? ''
const isCheck = (request: ModelRequest) => says(request).includes('critique: {"task":"check"')
const isRevision = (request: ModelRequest) => says(request).includes('critique: {"task":"revise"')
const found = '{"verdict":"revise","problems":["No price."]}'

/** One answer, its critique, and the revision. */
const play = (answer: ScriptedAnswer, critique: ScriptedAnswer, revision: ScriptedAnswer): Rule => {
  return (request) => (isCheck(request) ? critique : isRevision(request) ? revision : answer)
}
const reflecting = (id: string, more: Omit<AgentDraft, 'id'> = {}): AgentDraft => ({
  id,
  enableReflection: true,
  ...more,
})

describe('[F08] an answer that is criticised', () => {
  test('is replaced for readers who followed the draft, and nobody follows the critique', async () => {
    const words = (text: string) => ({ deltas: [text.slice(0, 4), text.slice(4)] })
    const { runtime } = createStage({
      agents: [reflecting('root')],
      plays: { root: play(words('It is cheap.'), words(found), words('It costs 3.')) },
    })
    await runtime.start({ agent: 'root', id: 'chats/1' })
    const end = new AbortController()
    const shown: [attempt: number, text: string][] = []
    const reading = (async () => {
      for await (const { type, content } of runtime.followEvents('chats/1', { signal: end.signal }))
        if (type === 'delta' && 'text' in content) shown.push([content.attempt, content.text])
    })()
    const { text } = await (await runtime.run('chats/1', { prompt: 'What is it?' })).result
    assert.equal(text, 'It costs 3.')
    await until(() => shown.length >= 4)
    end.abort()
    await reading.catch(() => undefined)
    const [first, last] = [shown[0]?.[0] ?? 0, shown.at(-1)?.[0] ?? 0]
    assert.ok(last > first, `${first} ${last}`)
    const of = (attempt: number) => shown.flatMap(([at, text]) => (at === attempt ? [text] : [])).join('')
    assert.deepEqual([of(first), of(last), shown.length], ['It is cheap.', 'It costs 3.', 4])
  })

  test('is not in what its caller collects, nor in what a hand-over ends with', async () => {
    const { ask, seenBy, document } = createStage({
      agents: [
        { id: 'root', subAgents: [{ agent: 'clerk', collect: 'all' }], transfers: [{ agent: 'heir' }] },
        reflecting('clerk'),
        reflecting('heir'),
      ],
      plays: {
        root: [call('clerk', { message: 'Price?' }), call('transfer_to_agent', { agent_name: 'heir' })],
        clerk: play('Clerk draft.', found, 'Clerk says 3.'),
        heir: play('Heir draft.', found, 'Heir says 3.'),
      },
    })
    const { text, status, conversationId } = await ask('root', 'Go.')
    assert.deepEqual([status, text], ['completed', 'Heir says 3.'])
    const [asked] = (await document(conversationId)).messages.flatMap(({ toolCalls }) => toolCalls)
    assert.equal(asked?.result, 'Clerk says 3.')
    const read = JSON.stringify(seenBy('root').at(-1)?.messages)
    assert.ok(read.includes('Clerk says 3.') && !read.includes('Clerk draft.'), read)
  })

  test('is criticised as text before its structured form is asked for', async () => {
    const outputSchema = { type: 'object', properties: { price: { type: 'number' } }, required: ['price'] }
    const { ask, requests } = createStage({
      agents: [reflecting('root', { outputMode: 'tool', outputSchema })],
      plays: {
        root: (request) =>
          request.toolChoice === 'required'
            ? call('set_output', { price: 3 })
            : play('It is cheap.', found, 'It costs 3.')(request, 0),
      },
    })
    const { text, output } = await ask('root', 'Go.')
    assert.deepEqual([text, output, requests.length], ['It costs 3.', { price: 3 }, 4])
    assert.deepEqual(
      requests.map((one) => (isCheck(one) ? 'check' : one.toolChoice === 'required' ? 'form' : 'words')),
      ['words', 'check', 'words', 'form'],
    )
  })

  test('keeps its draft where the revision does not fit what was asked for', async () => {
    const outputSchema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] }
    for (const maxIterations of [1, 4]) {
      const { ask, document } = createStage({
        agents: [reflecting('root', { outputSchema, limits: { maxIterations } })],
        plays: { root: (request) => (isCheck(request) ? found : says(request) === 'Go.' ? '{"n":1}' : 'no JSON') },
      })
      const { status, text, output, conversationId } = await ask('root', 'Go.')
      assert.deepEqual([status, text, output], ['completed', '{"n":1}', { n: 1 }], String(maxIterations))
      const drafts = (await document(conversationId)).messages.filter(({ draft }) => draft === true)
      assert.deepEqual(drafts, [])
    }
  })

  test('is answered anew where a message arrives meanwhile, and the new answer is criticised', async () => {
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    let checks = 0
    const stage = createStage({
      agents: [reflecting('root')],
      plays: {
        root: async (request) => {
          if (!isCheck(request)) return says(request).includes('more') ? 'Both.' : 'One.'
          checks += 1
          if (checks === 1) await held
          return '{"verdict":"pass","problems":[]}'
        },
      },
    })
    const opened = await stage.runtime.start({ agent: 'root', id: 'chats/1', prompt: 'one' })
    await until(() => checks === 1)
    await stage.runtime.run('chats/1', { prompt: 'more' })
    release()
    const result = await opened.run?.result
    assert.deepEqual([result?.text, result?.earlierAnswers, checks], ['Both.', ['One.'], 2])
  })

  test('is criticised after a crash that cut the critique off, and not again after one behind it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'witan-reflection-'))
    const file = join(folder, 'witan.db')
    const seen: string[] = []
    const open = (hang: 'check' | 'revision' | null) => {
      const model = scriptedModel((request) => {
        const kind = isCheck(request) ? 'check' : isRevision(request) ? 'revision' : 'answer'
        seen.push(kind)
        if (kind === hang) return { hang: true }
        return kind === 'check' ? found : kind === 'revision' ? 'It costs 3.' : 'It is cheap.'
      })
      return createRuntime({
        store: sqliteStore({ file }),
        models: { 'play/model': model },
        agents: [agent('root', { enableReflection: true })],
        leaseMs: 2_000,
      })
    }
    const first = open('check')
    const opened = await first.start({ agent: 'root', id: 'chats/1', prompt: 'Go.' })
    await until(() => seen.includes('check'))
    await first.close()
    const second = open('revision')
    await second.ready
    await until(() => seen.includes('revision'))
    await second.close()
    const third = open(null)
    const result = await (await third.followRun(opened.run?.runId ?? '')).result
    assert.deepEqual([result.status, result.text], ['completed', 'It costs 3.'])
    assert.deepEqual(seen, ['answer', 'check', 'check', 'revision', 'revision'])
    await third.close()
    rmSync(folder, { recursive: true })
  })
})
