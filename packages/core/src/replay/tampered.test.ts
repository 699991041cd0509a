/** Tb29: a replay finds another order for what met in one instant, but it never takes a changed export for an equal one. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuntime, defineAgent, defineTool } from '@witan/core'
import { call, scriptedModel, systemText, toolResults } from '@witan/core/testing'
import { z } from 'zod'
import { readReplaySource } from './prepare.ts'
import { replay, type ReplaySource } from './replay.ts'

const weigh = defineTool({
  name: 'weigh',
  description: 'Weighs.',
  parameters: z.object({ what: z.string() }),
  effect: 'none',
  execute: ({ what }) => `${what}: 5 kg`,
})

async function exported(): Promise<ReplaySource> {
  const model = scriptedModel((request, turn) => {
    if (systemText(request).includes('Left.')) return turn === 0 ? call('weigh', { what: 'box' }) : 'It has 5 kg.'
    if (systemText(request).includes('Right.')) return 'It is red.'
    if (turn === 0) return { toolCalls: [...calls('left'), ...calls('right')] }
    return `So: ${toolResults(request).join(' ')}`
  })
  const calls = (name: string) => call(name, { message: 'Look.' }).toolCalls ?? []
  const runtime = createRuntime({
    models: { 'play/model': model },
    agents: [
      defineAgent({
        ...{ id: 'desk', instructions: 'Desk.', model: 'play/model' },
        subAgents: [{ agent: 'left' }, { agent: 'right' }],
      }),
      defineAgent({ id: 'left', instructions: 'Left.', model: 'play/model', tools: [weigh] }),
      defineAgent({ id: 'right', instructions: 'Right.', model: 'play/model' }),
    ],
  })
  const { run } = await runtime.start({ agent: 'desk', id: 'chats/1', prompt: 'go' })
  await run?.result
  const source = await readReplaySource(runtime.exportConversation('chats/1'))
  await runtime.close()
  return source
}

interface Changed {
  type: string
  kind: string | null
  epoch: number
  appendNo: number
  place: { author: string }
  body: Record<string, unknown>
}

/** The same export with changed entries. */
function changed(source: ReplaySource, change: (entries: Changed[]) => void): ReplaySource {
  const entries = structuredClone(source.whole.entries) as unknown as Changed[]
  change(entries)
  return { ...source, whole: { ...source.whole, entries: entries as unknown as ReplaySource['whole']['entries'] } }
}

function entryOf(entries: Changed[], which: string, author = 'desk'): Changed {
  const [type, kind] = which.split(' ')
  const found = entries.findLast((one) => one.type === type && one.kind === kind && one.place.author === author)
  assert.ok(found, `${which} of ${author}`)
  return found
}

const changes: Readonly<Record<string, (entries: Changed[]) => void>> = {
  'a changed reply': (entries) => Object.assign(entryOf(entries, 'end model', 'left').body, { text: 'It has 6 kg.' }),
  'a changed result': (entries) => Object.assign(entryOf(entries, 'end agent', 'right').body, { text: 'It is blue.' }),
  'a changed argument': (entries) =>
    Object.assign(entryOf(entries, 'start tool', 'left').body, { arguments: { what: 'bag' } }),
  'changed usage': (entries) => Object.assign(entryOf(entries, 'end agent').body, { usage: { modelCalls: 9 } }),
  'a changed order': (entries) => {
    const at = entries.findIndex(({ type, kind }) => type === 'start' && kind === 'tool')
    const [one, other] = [entries[at], entries[at - 1]] as [Changed, Changed]
    entries.splice(at - 1, 2, one, other)
  },
  'a changed epoch': (entries) => Object.assign(entries.at(-1) as Changed, { epoch: 2 }),
  'a changed number': (entries) => Object.assign(entries.at(-1) as Changed, { appendNo: 3 }),
  'an end that pretends to come from a request': (entries) =>
    Object.assign(entryOf(entries, 'end model', 'right'), { epoch: 0, appendNo: -7 }),
  'a missing entry': (entries) => entries.splice(-2, 1),
  'an entry too many': (entries) => entries.push({ ...(entries.at(-1) as Changed), appendNo: 90 }),
}

test('[Tb29] an export as it was made comes to the same log', async () => {
  assert.equal((await replay(await exported())).difference, null)
})

for (const [what, change] of Object.entries(changes)) {
  test(`[Tb29] ${what} is a difference`, async () => {
    const { difference, entries } = await replay(changed(await exported(), change))
    assert.notEqual(difference, null, `${entries} entries came`)
  })
}
