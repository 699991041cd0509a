/** What a span says that a model read, beside what that model was really sent, over random systems of agents. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuntime, memoryStore, type ModelRequest } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'
import fc from 'fast-check'
import { holds } from '../../../../test/support/seeds.ts'
import { fakeClock } from '../../../../test/support/clock.ts'
import { definedBy, givenTo, note, randomPlay, randomSystem, toTheEnd } from '../../../../test/support/random-system.ts'
import { isOfRandomHook } from '../../../../test/support/random-hooks.ts'
import { agent, createStage, written } from '../../../../test/support/stage.ts'
import type { AgentLookup } from '../conversation/fold.ts'
import { readReplaySource, type ReplaySource } from '../replay/prepare.ts'
import { chatty, conventional, type MessageForm } from './message-form.ts'
import { createProjection } from './projection.ts'
import { TraceScrubbers } from './trace-values.ts'
import type { Attributes, Span } from './span.ts'
import { SpanLabels } from './span-label.ts'
import { contentFor } from './telemetry.ts'

/** The spans of the first run of an exported conversation, with full content. */
function spansOf({ definitions, whole: { entries } }: ReplaySource, form: MessageForm): readonly Span[] {
  const agents: AgentLookup = (id, revision) =>
    definitions.find((one) => one.id === id)?.revisions.find((one) => one.revision === revision)?.data as never
  const starts = entries.filter(({ type }) => type === 'start')
  const job = starts[0]?.job ?? ''
  const content = contentFor({ entries, starts }, { given: new Map(), agents, form }, new TraceScrubbers())
  const source = { database: 'default', conversation: 'chats/1', agents }
  const projection = createProjection(job, source, { content, labels: new SpanLabels(true) })
  for (const entry of entries) if (entry.job === job) projection.take(entry)
  return projection.spans()
}

function textIn(attributes: Attributes, name: string): unknown {
  return attributes.find((_, index) => index % 2 === 1 && attributes[index - 1] === name)
}

interface ChatMessage {
  readonly role: string
  readonly content: string
  readonly tool_calls?: readonly { readonly function: { readonly name: string; readonly arguments: string } }[]
}

/** The messages of a chat as lines; words that stand beside each other are one message. Of the instructions the tools' lines are left out. */
function linesOf(messages: readonly ChatMessage[]): string {
  const lines: string[] = []
  for (const { role, content, tool_calls: calls = [] } of messages) {
    const plain = content.replaceAll('\\[from @', '[from @')
    if (role === 'user' && lines.at(-1)?.startsWith('user: ')) lines.push(`${lines.pop()}\n\n${plain}`)
    else {
      const asked = calls.map(({ function: { name, arguments: args } }) => `${name}(${args})`)
      lines.push([`${role}: ${role === 'system' ? plain.split('\n', 1)[0] : plain}`, ...asked].join(' '))
    }
  }
  return lines.join('\n|')
}

function sent({ messages }: ModelRequest): string {
  const chat = messages.map((message) => {
    const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : []
    const asked = calls.map(({ name, arguments: args }) => ({ function: { name, arguments: sameJson(args) } }))
    return { role: message.role, content: message.content, tool_calls: asked }
  })
  return linesOf(chat)
}

function sameJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text))
  } catch {
    return text
  }
}

test('[C6] [T29] a span says that a model read what it was sent: its own words, and those of others with their speakers', async (context) => {
  let compared = 0
  let attributed = 0
  const property = fc.asyncProperty(randomSystem, async (system) => {
    const model = scriptedModel(randomPlay(system.seed))
    const runtime = createRuntime({
      clock: fakeClock(),
      models: { 'play/model': model },
      agents: system.agents.map(written),
      tools: [note],
      ...definedBy(system),
      report: (error) => void (isOfRandomHook(error) || console.error(error)),
      retry: { tries: 1 },
      store: memoryStore(),
    })
    const opened = await runtime.start({ agent: 'a', prompt: 'go', id: 'chats/1', parameters: givenTo(system) })
    await toTheEnd(runtime, (await opened.run?.result) ?? assert.fail('no run'))
    const source = await readReplaySource(runtime.exportConversation('chats/1'))
    await runtime.close()
    const requests = new Set(model.requests.map(sent))
    for (const { name, attributes } of spansOf(source, chatty)) {
      const read = textIn(attributes, 'gen_ai.input.messages')
      if (!name.startsWith('chat ') || read === undefined) continue
      const lines = linesOf(JSON.parse(String(read)) as ChatMessage[])
      assert.ok(requests.has(lines), `no model was sent:\n${lines}\nbut:\n${[...requests].join('\n----\n')}`)
      compared += 1
      if (lines.includes('[from @')) attributed += 1
    }
  })
  const expected = await holds(context, property, 300)
  context.diagnostic(`${compared} replies, ${attributed} of them after somebody else's words`)
  assert.ok(
    compared > expected(400) && attributed > expected(3),
    `${compared} replies, ${attributed} after others' words`,
  )
})

test('[C6] after a hand-over the words of the agent before are in the span as words of that agent, in both forms', async () => {
  const transfers = [{ agent: 'heir', description: 'Takes over.' }]
  const moved = { name: 'transfer_to_agent', arguments: { agent_name: 'heir' } }
  const { runtime, ask } = createStage({
    agents: [agent('lead', { transfers }), agent('heir')],
    plays: { lead: [{ text: 'I hand over.', toolCalls: [moved] }], heir: ['Mine now.'] },
  })
  await ask('lead', 'Begin.', { id: 'chats/1' })
  const source = await readReplaySource(runtime.exportConversation('chats/1'))
  await runtime.close()
  const readBy = (form: MessageForm) => {
    const chats = spansOf(source, form).filter(({ name }) => name.startsWith('chat '))
    return JSON.parse(String(textIn(chats.at(-1)?.attributes ?? [], 'gen_ai.input.messages'))) as unknown
  }
  const told = [
    '[from @lead to @user] I hand over.',
    '[from @lead to @transfer_to_agent] {"agent_name":"heir"}',
    '[from @transfer_to_agent to @lead] {"status":"ok"}',
  ]
  const text = (content: string) => ({ type: 'text', content })
  assert.deepEqual(readBy(conventional), [
    { role: 'user', parts: [text('Begin.')] },
    { role: 'user', parts: told.map(text) },
  ])
  assert.deepEqual(readBy(chatty), [
    { role: 'system', content: 'You are heir.' },
    { role: 'user', content: 'Begin.' },
    { role: 'user', content: told.join('\n\n') },
  ])
})

test('[C5] what is shared stands in front of the message that opens a call, also behind a call that said nothing', async () => {
  const asks = (message: string) => ({ name: 'b', arguments: { message } })
  const subAgents = [{ agent: 'b', history: 'shared', style: 'delegate' } as const]
  const { runtime, ask, seenBy } = createStage({
    agents: [agent('a', { subAgents }), agent('b', { limits: { maxIterations: 1 } })],
    plays: { a: [{ toolCalls: [asks('First.')] }, { toolCalls: [asks('Second.')] }, 'Done.'], b: ['', '', 'Found.'] },
  })
  await ask('a', 'Begin.', { id: 'chats/1' })
  const source = await readReplaySource(runtime.exportConversation('chats/1'))
  await runtime.close()
  const chats = spansOf(source, chatty).flatMap(({ name, attributes }) => {
    const read = textIn(attributes, 'gen_ai.input.messages')
    return name.startsWith('chat ') ? linesOf(JSON.parse(String(read)) as ChatMessage[]) : []
  })
  const read = chats.filter((text) => text.includes('You are b.'))
  assert.equal(read.at(-1), 'system: You are b.\n|user: [from @user to @a] Begin.\n\nFirst.\n\nSecond.')
  assert.deepEqual(read, seenBy('b').map(sent))
})
