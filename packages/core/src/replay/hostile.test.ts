/** An export that somebody changed is refused by name, whatever stands in its entries; nothing else breaks. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Entry } from '@witan/protocol/entries'
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

/** The export of a conversation with one run. */
async function exported(): Promise<readonly string[]> {
  const agents = [{ id: 'clerk', instructions: 'Help.', model: 'play', parameters: [{ name: 'id', secret: true }] }]
  const runtime = createRuntime({ agents, models: { play: scriptedModel(() => 'Done.') } })
  const started = await runtime.start({ agent: 'clerk', id: 'chats/1', parameters: { id: 'cny-4711' }, prompt: 'Go.' })
  await started.run?.result
  const lines: string[] = []
  for await (const line of runtime.exportConversation('chats/1')) lines.push(line)
  await runtime.close()
  return lines
}

test('[Tb29] an entry with a body that Witan does not write is BODY_INVALID', async () => {
  const lines = await exported()
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

test('[O3] what an entry says of its process is believed of no more than there is', async () => {
  const views = [{ upTo: 10 ** 12 }, { by: 'x' }, { by: '__proto__', upTo: 2 }, { upTo: 3 }]
  for (const view of views) {
    const changed = (await exported()).map((line) => JSON.parse(line) as Line)
    for (const { entry } of changed) if (entry !== undefined) Object.assign(entry, { view })
    const source = await readReplaySource(linesOf(changed))
    assert.equal((await replay(source)).entries, source.whole.entries.length, JSON.stringify(view))
  }
})

test('[O3] a log by more processes than it can be folded for is refused by name', async () => {
  const source = await readReplaySource(ReadableStream.from(await exported()))
  const [first] = source.whole.entries
  const entries = Array.from({ length: 20_000 }, (_, at) => ({
    ...(first as Entry),
    seq: at + 1,
    appendNo: -at - 1,
    view: { by: `p${at % 10_000}`, upTo: at },
  }))
  const many = [...entries, ...source.whole.entries]
  await assert.rejects(replay({ ...source, whole: { ...source.whole, entries: many } }), {
    code: 'BODY_INVALID',
    message: /too many processes/,
  })
})
