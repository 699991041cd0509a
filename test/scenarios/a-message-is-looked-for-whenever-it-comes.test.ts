/** A message that comes while an agent's next request is prepared is looked for in its knowledge before the agent reads it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryStore, type Store } from '@witan/core'
import { defineKnowledgeSource } from '@witan/core/knowledge'
import { createStage, settle } from '../support/stage.ts'

type Append = Parameters<Store['append']>[0]

/** A store that calls `then` a while before it stores the first reply of a model. */
function callingAtTheFirstReply(inner: Store, then: () => void): Store {
  let isDone = false
  return new Proxy(inner, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target)
      if (typeof member !== 'function') return member
      if (name !== 'append') return member.bind(target)
      return async (one: Append) => {
        if (!isDone && one.entries.some(({ type, kind }) => type === 'end' && kind === 'model')) {
          isDone = true
          then()
          await settle(20)
        }
        return target.append(one)
      }
    },
  })
}

test('[F08] a message that comes before an answer is criticised is looked for', async () => {
  const lore = defineKnowledgeSource({
    id: 'lore',
    description: 'What is told.',
    search: async ({ query }) => [{ id: 'd', title: 'Lore', text: `of ${query}` }],
  })
  let told: Promise<unknown> = Promise.resolve()
  const store = callingAtTheFirstReply(memoryStore(), () => {
    told = stage.runtime.run('chats/1', { prompt: 'the moon' })
  })
  const stage = createStage({
    agents: [{ id: 'root', enableReflection: true, knowledgeBases: [{ id: 'lore', retrieval: 'auto' }] }],
    plays: { root: ['Draft.', 'Answer.', '{"verdict":"pass","problems":[]}'] },
    options: { store, knowledge: [lore] },
  })
  await stage.ask('root', 'the sun', { id: 'chats/1' })
  await told
  const second = JSON.stringify(stage.requests[1]?.messages)
  assert.ok(second.includes('the moon') && second.includes('of the moon'), second)
})
