/** What fresh documents cost: they begin with the latest of their exchange, however long that is. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Rule } from '@witan/core/testing'
import { createStage } from '../support/stage.ts'
import { initiates, responds, talk } from '../support/talking.ts'

const send = (name: string, text: string) => ({ toolCalls: [{ name, arguments: { text } }] })

test('[C35] a fresh document begins with the latest of a long exchange, and says what it leaves out', async () => {
  const count = 30
  const two: Rule = ({ messages }) => {
    const done = messages.filter(({ role }) => role === 'tool').length
    return done < count ? send('one_tell', `${done} ${'x'.repeat(2000)}`) : 'said'
  }
  const one: Rule = ({ messages }) => {
    const words = messages.at(-1)
    if (words?.role === 'user' && words.content.includes('tell {')) return `heard ${words.content.length}`
    return messages.some(({ role }) => role === 'tool') ? 'done' : send('two_ask', 'Talk.')
  }
  const stage = createStage({
    agents: [
      { id: 'one', speaks: [initiates('two')], limits: { maxIterations: 50, maxModelCalls: 200 } },
      { id: 'two', speaks: [responds], limits: { maxIterations: 50 } },
    ],
    plays: { one, two },
    options: { protocols: [talk] },
  })
  const { text } = await stage.ask('one', 'go', { id: 'chats/1' })
  assert.equal(text, 'done')
  const apart = stage.seenBy('one').slice(1, -1)
  assert.equal(apart.length, count)
  const lengths = apart.map(({ messages }) => messages.at(-1)?.content.length ?? 0)
  assert.ok(Math.max(...lengths) < 20_000, `up to ${Math.max(...lengths)} characters`)
  assert.match(apart[1]?.messages.at(-1)?.content ?? '', /^\[from @one to @two\] ask \{"text":"Talk\."\}/)
  assert.match(
    apart.at(-1)?.messages.at(-1)?.content ?? '',
    /^\(\d+ earlier messages of this exchange are left out\)\n\n\[from @/,
  )
})
