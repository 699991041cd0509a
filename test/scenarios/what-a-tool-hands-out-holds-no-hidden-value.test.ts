/** Every text that a function tool can hand out beside its result is without the hidden values that it works with, whoever reads it. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { defineTool, type FunctionContext, memoryStore } from '@witan/core'
import { call, toolResults } from '@witan/core/testing'
import { z } from 'zod'
import { storedEntries } from '../support/claims.ts'
import { createStage } from '../support/stage.ts'

const value = 'cny-employees-7'
const other = 'cny-employees-8'
const consent = { kind: 'consent_required', message: 'May we?' }

/** What a tool does with the value, and what is said in its place: a word of what is stored, or of the error. */
const exits: readonly {
  readonly title: string
  readonly act: (context: FunctionContext, value: string) => unknown
  readonly says: RegExp
}[] = [
  { title: 'a thrown error', act: (_, id) => Promise.reject(new Error(`of ${id}`)), says: /of \[hidden\]/ },
  {
    title: 'the words of a question',
    act: ({ ask }, id) => ask([{ id: 'q', text: `Is it ${id}?` }]),
    says: /Is it \[hidden\]\?/,
  },
  {
    title: 'a question to a person',
    act: ({ ask }, id) => ask([{ id: 'q', text: `Is it ${id}?` }], { to: 'user:anna' }),
    says: /Is it \[hidden\]\?/,
  },
  {
    title: 'the label of an option',
    act: ({ ask }, id) => ask([{ id: 'q', text: 'Who?', options: [{ id: 'a', label: `for ${id}` }] }]),
    says: /for \[hidden\]/,
  },
  {
    title: 'the id of an option',
    act: ({ ask }, id) => ask([{ id: 'q', text: 'Who?', options: [{ id, label: 'them' }] }]),
    says: /cannot be asked: `questions.0.options.0.id`/,
  },
  ...['message', 'title', 'action_label', 'code'].map((key) => ({
    title: `\`${key}\` of a demand`,
    act: ({ demand }: FunctionContext, id: string) => demand({ ...consent, [key]: `of ${id}` }),
    says: /of \[hidden\]/,
  })),
  {
    title: 'the kind of a demand',
    act: ({ demand }, id) => demand({ ...consent, kind: id }),
    says: /cannot be demanded: `kind`/,
  },
  {
    title: 'a translation',
    act: ({ demand }, id) => demand({ ...consent, message_translations: { nb: `av ${id}` } }),
    says: /av \[hidden\]/,
  },
  {
    title: 'the link of a demand',
    act: ({ demand }, id) => demand({ ...consent, url: `https://shop.test/pay?for=${encodeURIComponent(id)}` }),
    says: /pay\?for=\[hidden\]/,
  },
  {
    title: 'data of a demand, in another spelling',
    act: ({ demand }, id) =>
      demand({ ...consent, data: { 'test.of': [{ id: Buffer.from(id).toString('hex') }], [`test.${id}`]: 1 } }),
    says: /"test\.\[hidden\]":1/,
  },
  {
    title: 'a challenge',
    act: ({ demand }, id) => demand({ ...consent, auth_challenges: [{ scheme: id }] }),
    says: /"scheme":"\[hidden\]"/,
  },
  {
    title: 'the message to an agent that it runs',
    act: ({ agents }, id) => agents.run('child', `Look at ${id}.`),
    says: /Look at \[hidden\]\./,
  },
  {
    title: 'an artifact, in name and text',
    act: ({ artifacts }, id) => artifacts.save({ name: `${id}.txt`, mediaType: 'text/plain', text: id }),
    says: /"name":"\[hidden\]\.txt"/,
  },
]

const hidden = { sendToModel: false, policy: 'forbidModelGeneration' } as const

function staged(act: (context: FunctionContext, values: Record<string, string>) => unknown) {
  const store = memoryStore()
  const tool = defineTool({
    name: 'look',
    description: 'Looks.',
    parameters: z.object({}),
    execute: (_, context) => act(context, context.parameters as Record<string, string>),
  })
  const stage = createStage({
    agents: [
      { id: 'root', tools: ['look'], parameters: ['userId', 'otherId'].map((name) => ({ name, ...hidden })) },
      { id: 'child', parents: [] },
    ],
    plays: { root: (request) => toolResults(request)[0] ?? call('look'), child: () => 'seen' },
    options: { store, tools: [tool] },
  })
  const parameters = { userId: value, otherId: other }
  return { stage, store, begin: () => stage.ask('root', 'go', { id: 'chats/1', parameters }) }
}

describe('[D15] [C17] no text that a tool hands out holds a hidden value', () => {
  for (const { title, act, says } of exits)
    test(title, async () => {
      const { stage, store, begin } = staged((context, { userId = '' }) => act(context, userId))
      const { interruptions, text } = await begin()
      const stored = JSON.stringify(await storedEntries(store, 'chats/1'))
      assert.match(stored, says)
      for (const told of [stored, JSON.stringify(interruptions), JSON.stringify(stage.requests), text]) {
        assert.equal(told.includes('cny-'), false, told)
        assert.equal(told.includes(Buffer.from(value).toString('hex')), false, told)
      }
      assert.deepEqual(stage.reports, [])
    })

  test('what was asked without the value is found again: it is asked once', async () => {
    const answers: unknown[] = []
    const { stage, begin } = staged(async ({ ask, demand, agents }, { userId }) => {
      answers.push((await ask([{ id: 'q', text: `Is it ${userId}?` }]))['q']?.text)
      answers.push((await demand({ ...consent, message: `May we, ${userId}?` }))['by'])
      answers.push((await agents.run('child', `Look at ${userId}.`)).text)
      return 'done'
    })
    let waiting = await begin()
    for (const answer of [{ q: { text: 'yes' } }, { resolution: { by: 'anna' } }]) {
      const [asked, ...more] = waiting.interruptions
      assert.equal(more.length, 0)
      waiting = await stage.run('chats/1', { answers: [{ id: asked?.id ?? '', answer }] })
    }
    assert.deepEqual([waiting.text, answers.slice(-3)], ['done', ['yes', 'anna', 'seen']])
  })

  const twice: Readonly<Record<string, (context: FunctionContext, id: string | undefined) => unknown>> = {
    ask: ({ ask }, id) => ask([{ id: 'q', text: `Is it ${id}?` }]),
    demand: ({ demand }, id) => demand({ ...consent, message: `May we, ${id}?` }),
    'agents.run': ({ agents }, id) => agents.run('child', `Look at ${id}.`),
  }
  for (const [title, act] of Object.entries(twice))
    test(`\`${title}\` twice, apart in hidden values alone, is refused: one answer would count for both`, async () => {
      const { stage, begin } = staged(async (context, { userId, otherId }) => {
        await act(context, userId)
        return act(context, otherId)
      })
      const waiting = await begin()
      const [asked] = waiting.interruptions
      const answer = title === 'ask' ? { q: { text: 'yes' } } : { resolution: {} }
      const done = asked === undefined ? waiting : await stage.run('chats/1', { answers: [{ id: asked.id, answer }] })
      assert.match(done.text, /differ only in a hidden value/)
    })

  test('what is to be approved is shown as it is, to people of this server alone', async () => {
    const { begin } = staged(({ approve }, { userId }) => approve({ of: userId }))
    const [asked] = (await begin()).interruptions
    assert.deepEqual(asked?.kind === 'approval' && asked.arguments, { of: value })
  })
})
