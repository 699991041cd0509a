/** With several people in a conversation, an agent reads none of its memory of them, not even behind a summary [F39]. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuntime, defineAgent, type ModelRequest, type Runtime } from '@witan/core'
import { call, type ScriptedModel, scriptedModel } from '@witan/core/testing'

const trim = { kind: 'summarize', maxTokensBefore: 60, maxTokensAfter: 20 } as const
const long = `I see. ${'It is long. '.repeat(60)}`
const anna = { id: 'anna', name: 'Anna' }
const bob = { id: 'bob', name: 'Bob' }

interface Stage {
  readonly runtime: Runtime
  /** The last words of the prompt that its model read last. */
  readonly lastRead: () => string
  say(conversation: string, author: string, prompt: string): Promise<void>
}

/** An agent that has read of Anna in a conversation with her alone; each of its replies is long, so that the next run begins with a summary. */
async function readOfAnna(memory: { readonly inGroups?: boolean } = {}): Promise<Stage> {
  const model: ScriptedModel = scriptedModel(
    ({ tools, messages }: ModelRequest) => {
      if (tools.length === 0) return 'They spoke.'
      const last = messages.at(-1)
      const keeps = last?.role === 'user' && last.content.includes('I drink tea')
      return keeps ? call('remember', { key: 'drink', text: 'PERIWINKLE tea.' }) : long
    },
    { id: 'play/desk' },
  )
  const desk = defineAgent({ id: 'desk', instructions: 'Help.', model, memory, history: { trim }, questions: true })
  const runtime = createRuntime({ agents: [desk] })
  const stage: Stage = {
    runtime,
    lastRead: () => JSON.stringify(model.requests.at(-1)?.messages),
    async say(conversation, author, prompt) {
      await (await runtime.run(conversation, { prompt, author })).result
    },
  }
  for (const id of ['chats/0', 'chats/1']) await runtime.start({ agent: 'desk', id, users: [anna] })
  await stage.say('chats/0', 'anna', 'I drink tea.')
  await stage.say('chats/1', 'anna', 'Hello.')
  assert.match(stage.lastRead(), /PERIWINKLE/)
  return stage
}

test('[F39] a person alone reads behind a summary what is known of them', async (context) => {
  const { runtime, say, lastRead } = await readOfAnna()
  context.after(() => runtime.close())
  await say('chats/1', 'anna', 'And now?')
  assert.match(lastRead(), /They spoke\..*memory: .*PERIWINKLE.*And now\?/)
})

for (const inGroups of [false, true])
  test(`[F39] once somebody else speaks, a summary takes it away, with inGroups ${inGroups}`, async (context) => {
    const { runtime, say, lastRead } = await readOfAnna({ inGroups })
    context.after(() => runtime.close())
    await runtime.addParticipant('chats/1', bob)
    await say('chats/1', 'bob', 'And now?')
    assert.match(lastRead(), /They spoke\./)
    assert.doesNotMatch(lastRead(), /PERIWINKLE/)
  })
