/** An export that somebody changed is refused by name, whatever stands in its entries; nothing else breaks. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuntime } from '../runtime.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { readReplaySource } from './prepare.ts'
import { replay } from './replay.ts'

interface Line {
  readonly kind: string
  readonly entry?: { readonly type: string; readonly kind: string | null; body: Record<string, unknown> }
}

async function* linesOf(lines: readonly Line[]): AsyncGenerator<string> {
  for (const line of lines) yield JSON.stringify(line)
}

test('[Tb29] an entry with a body that Witan does not write is BODY_INVALID', async () => {
  const agents = [{ id: 'clerk', instructions: 'Help.', model: 'play', parameters: [{ name: 'id', secret: true }] }]
  const runtime = createRuntime({ agents, models: { play: scriptedModel(() => 'Done.') } })
  const started = await runtime.start({ agent: 'clerk', id: 'chats/1', parameters: { id: 'cny-4711' }, prompt: 'Go.' })
  await started.run?.result
  const lines: string[] = []
  for await (const line of runtime.exportConversation('chats/1')) lines.push(line)
  await runtime.close()
  const changes: readonly (readonly [type: string, kind: string, body: Record<string, unknown>])[] = [
    ['start', 'agent', { agent: true }],
    ['start', 'agent', { agent: '__proto__' }],
    ['start', 'agent', { revisions: null }],
    ['start', 'agent', { revisions: 'x' }],
    ['end', 'model', { toolCalls: '__proto__' }],
    ['end', 'model', { toolCalls: [null] }],
  ]
  for (const [type, kind, body] of changes) {
    const changed = lines.map((line) => JSON.parse(line) as Line)
    const entry = changed.find((line) => line.entry?.type === type && line.entry.kind === kind)?.entry
    assert.ok(entry, `${type} ${kind}`)
    Object.assign(entry.body, body)
    const played = readReplaySource(linesOf(changed)).then((source) => replay(source))
    await assert.rejects(played, { code: 'BODY_INVALID' }, JSON.stringify(body))
  }
})
