/** Tb29, D15: what an export replaces: hidden values in every place and form, and what it leaves as it is. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuntime, defineAgent, defineTool, type RuntimeOptions } from '@witan/core'
import { call, scriptedModel } from '@witan/core/testing'
import type { ConversationInput } from '@witan/protocol/schemas'
import { z } from 'zod'
import { readReplaySource } from '../../replay/prepare.ts'
import { replay } from '../../replay/replay.ts'

const secret = 'sk-Hidden/4711+x'

async function told(options: RuntimeOptions & { readonly prompt?: unknown; readonly parameters?: object }) {
  const { prompt = 'go', parameters = { key: { value: secret, sendToModel: false } }, ...rest } = options
  const runtime = createRuntime(rest)
  const opened = await runtime.start({ agent: 'desk', id: 'chats/1', prompt, parameters } as ConversationInput)
  await opened.run?.result
  return runtime
}

async function textOf(lines: AsyncIterable<string>): Promise<string> {
  const all: string[] = []
  for await (const line of lines) all.push(line)
  return all.join('\n')
}

const key = { name: 'key', sendToModel: false }
const vault = defineTool({
  name: 'vault',
  description: 'Opens.',
  parameters: z.object({}),
  effect: 'none',
  execute: (_, { parameters }) => ({
    [String(parameters['key'])]: [parameters['key'], encodeURIComponent(String(parameters['key']))],
    inside: { [String(parameters['key'])]: 1 },
    long: 'x'.repeat(5_000),
  }),
})

test('[Tb29] [D15] a hidden value is nowhere in an export: not in texts, not in JSON, not in the name of a field', async () => {
  const model = scriptedModel((_, turn) => (turn === 0 ? call('vault', {}) : `It is ${secret.toUpperCase()}.`))
  const desk = defineAgent({ id: 'desk', instructions: 'Help.', model, parameters: [key], tools: [vault] })
  const runtime = await told({ agents: [desk], prompt: `I am ${Buffer.from(secret).toString('base64')}.` })
  const text = await textOf(runtime.exportConversation('chats/1'))
  for (const form of [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64'), secret.toUpperCase()])
    assert.ok(!text.includes(form), `${form} is in the export`)
  assert.match(text, /"pseudonym-1":\["pseudonym-1","pseudonym-1"\]/)
  assert.equal((await replay(await readReplaySource(runtime.exportConversation('chats/1')))).difference, null)
  await runtime.close()
})

test('[Tb29] short values are replaced as values and not looked for, and different ones stay different', async () => {
  const model = scriptedModel(() => 'a 7 is a 7')
  const parameters = [
    { ...key, type: 'any' as const },
    { name: 'pin', type: 'any' as const, secret: true },
    { name: 'shown' },
  ]
  const desk = defineAgent({ id: 'desk', instructions: 'Help.', model, parameters })
  const given = { key: { value: 7, sendToModel: false }, pin: { value: true, sendToModel: false }, shown: 'plain' }
  const runtime = await told({ agents: [desk], parameters: given })
  const source = await readReplaySource(runtime.exportConversation('chats/1'))
  const values = Object.fromEntries(Object.entries(source.whole.row.parameters).map(([name, [value]]) => [name, value]))
  assert.equal(values['shown'], 'plain')
  assert.match(String(values['key']), /^~\d$/)
  assert.match(String(values['pin']), /^~\d$/)
  assert.notEqual(values['key'], values['pin'])
  assert.ok(
    source.whole.entries.some(({ type, body }) => type === 'end' && 'text' in body && body.text === 'a 7 is a 7'),
  )
  assert.equal((await replay(source)).difference, null)
  await runtime.close()
})

test('[Tb29] a file with a hidden value is not exported, and nobody but an admin exports anything', async () => {
  const model = scriptedModel(() => 'Read.')
  const desk = defineAgent({ id: 'desk', instructions: 'Help.', model, parameters: [key] })
  const data = Buffer.from(`the key is ${secret}`).toString('base64')
  const runtime = await told({
    agents: [desk],
    prompt: [
      { type: 'text', text: 'Read it.' },
      { type: 'file', mediaType: 'text/plain', data, name: 'a.txt' },
    ],
  })
  await assert.rejects(textOf(runtime.exportConversation('chats/1')), (error: Error) => {
    assert.match(error.message, /The file `a\.txt` holds a value that is hidden/)
    return !error.message.includes(secret)
  })
  const reader = runtime.as({ ...runtime.principal, roles: ['run', 'answer', 'read'] })
  assert.equal((await reader.getConversation('chats/1')).id, 'chats/1')
  await assert.rejects(textOf(reader.exportConversation('chats/1')), { code: 'NOT_FOUND' })
  await runtime.close()
})

test('[Tb29] [D15] a large file is searched in pieces: others get their turn, and a value between two pieces is found', async () => {
  const desk = defineAgent({
    id: 'desk',
    instructions: 'Help.',
    model: scriptedModel(() => 'Read.'),
    parameters: [key],
  })
  const exported = async (text: string) => {
    const data = Buffer.from(text).toString('base64')
    const file = { type: 'file', mediaType: 'text/plain', data, name: 'a.txt' } as const
    const runtime = await told({ agents: [desk], prompt: [{ type: 'text', text: 'Read it.' }, file] })
    let count = 0
    const isOver = { now: false }
    const turn = (): void => {
      count += 1
      if (!isOver.now) setImmediate(turn)
    }
    setImmediate(turn)
    try {
      await textOf(runtime.exportConversation('chats/1'))
    } finally {
      isOver.now = true
      await runtime.close()
    }
    return count
  }
  const turns = await exported('A note. [hidden] '.repeat(120_000))
  assert.ok(turns >= 40, `${turns} turns`)
  await assert.rejects(exported(`${'-'.repeat(65_536 - 4)}${secret}`), { code: 'BODY_INVALID' })
})
