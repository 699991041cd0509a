/** Work in the background: a report goes on while the person goes on talking, and the helper tools of the desk reach it. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Chat } from '@witan/core'
import { alpine, createStage, type Stage } from './stage.ts'

let stage: Stage
before(async () => {
  stage = await createStage({ paceMs: 12 })
})
after(() => stage.close())

const chat = (): Chat => stage.runtime.conversation('main', { parameters: alpine })

/** The answer of the hidden run that reports what has ended. */
async function followUp({ id }: Chat): Promise<string> {
  const stop = new AbortController()
  for await (const { type, content } of stage.runtime.followEvents(id, { signal: stop.signal })) {
    const said = type === 'end' && 'text' in content ? String(content.text) : ''
    if (!said.startsWith('The work in the background')) continue
    stop.abort()
    return said
  }
  return ''
}

test('a report goes on while other questions are answered; it says how far it is, reads a message, and is reported', async () => {
  const conversation = chat()
  const begun = await conversation.run('Write a report about all quarters')
  assert.deepEqual(
    begun.tasks.map(({ status }) => status),
    ['running'],
  )
  assert.match(begun.text, /being worked on in the background/)
  assert.match((await conversation.run('Which tasks are overdue?')).text, /^Overdue:/)
  assert.match((await conversation.run('How far is it?')).text, /^The report has looked at [0-6] of 7 quarters\.$/)
  assert.equal((await conversation.run('Tell it: only 2026')).text, 'I have told it.')
  const text = await followUp(conversation)
  assert.match(
    text,
    /^The work in the background has ended:\n\nReport of the quarters of 2026:\n- 2026 Q1: €406,575\.00 in 36 orders/,
  )
  assert.doesNotMatch(text, /2025/)
  assert.match((await conversation.run('What is the result of the report?')).text, /^Report of the quarters of 2026:/)
})

test('it is cancelled, and nothing is reported', async () => {
  const conversation = chat()
  const { tasks } = await conversation.run('Write a report in the background')
  assert.equal((await conversation.run('Cancel the report')).text, 'It is cancelled.')
  assert.equal((await stage.runtime.tasks.get(tasks[0]?.taskId ?? '')).status, 'cancelled')
  assert.match((await conversation.run('How far is it?')).text, /cancelled/)
})

test('without such work the desk says that there is none', async () => {
  assert.equal((await chat().run('How far is it?')).text, 'Nothing is being worked on in the background.')
})
