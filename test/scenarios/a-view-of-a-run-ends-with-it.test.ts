/** The views of a run are made from its own entries: what was said after it, and the rest of a long text, cost them nothing. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuntime, memoryStore, type Runtime } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'
import { createDiagram } from '@witan/protocol/protocols'
import type { Event } from '@witan/protocol'
import { lengthened } from '../support/long-log.ts'
import { assertCheap } from '../support/cpu.ts'

const views: Readonly<Record<string, (runtime: Runtime, run: string) => Promise<unknown>>> = {
  'its diagram': (runtime, run) => runtime.getDiagram(run),
  'its call tree': (runtime, run) => runtime.getRun(run),
  'its exchanges': (runtime, run) => runtime.getExchanges(run),
}

for (const [what, view] of Object.entries(views))
  test(`[Tb27] ${what} reads no further than its run`, async (context) => {
    const kept = memoryStore()
    let read = 0
    const store: typeof kept = {
      ...kept,
      async readEntries(...of) {
        const entries = await kept.readEntries(...of)
        read += entries.length
        return entries
      },
    }
    const runtime = createRuntime({
      store,
      models: { 'play/root': scriptedModel(() => 'Done.') },
      agents: [{ id: 'root', model: 'play/root', instructions: 'You do it.' }],
    })
    context.after(() => runtime.close())
    await runtime.ready
    await (await runtime.start({ agent: 'root', id: 'chats/short', prompt: 'Go.' })).run?.result
    const short = await store.readSnapshot('default', 'chats/short')
    assert.ok(short !== null)
    await store.putSnapshot('default', lengthened(short, { id: 'chats/long', runs: 2_000, characters: 10 }))
    read = 0
    await view(runtime, 'c_0')
    assert.ok(read <= 1_000, `${read} entries were read`)
  })

const texts: Readonly<Record<string, string>> = {
  'short words': 'a '.repeat(500_000),
  'empty lines': 'a\n\n'.repeat(330_000),
  blanks: ' '.repeat(1_000_000),
  'one word': 'x'.repeat(1_000_000),
}

for (const [what, text] of Object.entries(texts))
  test(`[Tb27] of 1 MB of ${what} a diagram reads the line that it shows`, async () => {
    const content = { author: 'ann', text: `${text}.` }
    const said = { type: 'message', rootCallId: 'c_0', agentPath: 'root', authorKind: 'user', seq: 1, content }
    const { result: diagram } = await assertCheap({ longest: 100 }, () => {
      const anew = createDiagram('c_0')
      for (let times = 0; times < 10; times += 1) anew.take(said as unknown as Event)
      return anew
    })
    const line = content.text.trim().replace(/\s+/g, ' ')
    const shown = line.length > 120 ? `${line.slice(0, 119)}…` : line
    assert.equal(diagram.arrows[0]?.text, shown)
  })
