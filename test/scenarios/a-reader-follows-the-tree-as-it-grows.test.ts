/** Readers: what is stored and what is live, joined without a gap; deltas for who reads them, the text so far for who comes late. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { call } from '@witan/core/testing'
import type { AnyEvent } from '@witan/protocol'
import { assertGapFree, assertSound } from '../support/claims.ts'
import { createGate, createStage, type Stage, until } from '../support/stage.ts'

interface Follower {
  readonly events: AnyEvent[]
  readonly done: Promise<void>
  stop(): void
}

function follow(stage: Stage, filter: { from?: number; verbose?: boolean; call?: string } = {}): Follower {
  const controller = new AbortController()
  const events: AnyEvent[] = []
  const read = async () => {
    for await (const event of stage.runtime.followEvents('chats/1', { ...filter, signal: controller.signal }))
      events.push(event)
  }
  return { events, done: read(), stop: () => controller.abort() }
}

/** A run of root and leaf; each waits for its own gate before it speaks. */
async function speaking() {
  const gates = { root: createGate(), leaf: createGate() }
  const stage = createStage({
    agents: [{ id: 'root', subAgents: [{ agent: 'leaf' }] }, { id: 'leaf' }],
    plays: {
      root: async (_request, turn) => {
        if (turn === 0) await gates.root.opened
        return turn === 0 ? call('leaf', { message: 'x' }) : { deltas: ['It ', 'is ', 'so.'] }
      },
      leaf: async () => {
        await gates.leaf.opened
        return { deltas: ['a', 'b', 'c'] }
      },
    },
  })
  const opened = await stage.runtime.start({ agent: 'root', prompt: 'go', id: 'chats/1' })
  return { stage, gates, result: opened.run?.result }
}

test('[D8] [F35] [I12] deltas of every level reach a verbose reader, and joined they are the stored text', async () => {
  const { stage, gates, result } = await speaking()
  const all = follow(stage, { verbose: true })
  const terse = follow(stage, { verbose: false })
  await until(() => all.events.length > 0 && terse.events.length > 0)
  gates.root.open()
  gates.leaf.open()
  await result
  await until(() => terse.events.at(-1)?.type === 'end')
  all.stop()
  terse.stop()
  await Promise.all([all.done, terse.done])
  const said = (events: readonly AnyEvent[], author: string) =>
    events.flatMap(({ type, author: who, content }) => (type === 'delta' && who === author ? [content['text']] : []))
  assert.deepEqual(said(all.events, 'leaf'), ['a', 'b', 'c'])
  assert.deepEqual(said(all.events, 'root'), ['It ', 'is ', 'so.'])
  assert.deepEqual(said(terse.events, 'leaf'), [])
  assert.deepEqual(said(terse.events, 'root'), ['It ', 'is ', 'so.'])
  assert.ok(all.events.every(({ type, seq }) => (type === 'delta') === (seq === undefined)))
  const stored = all.events.filter(({ type }) => type !== 'delta')
  assert.deepEqual(stored, await stage.events('chats/1'))
  assertSound(stored)
})

test('[D8] who comes late first gets the text so far of each open call', async () => {
  const gate = createGate()
  const stage = createStage({
    agents: [{ id: 'root' }],
    plays: {
      root: async () => {
        await gate.opened
        return { deltas: ['so ', 'far '], hang: true }
      },
    },
  })
  const opened = await stage.runtime.start({ agent: 'root', id: 'chats/1' })
  assert.equal(opened.run, null)
  const first = follow(stage, { verbose: true })
  const run = await stage.runtime.run('chats/1', { prompt: 'go' })
  await until(() => first.events.length > 0)
  gate.open()
  await until(() => first.events.filter(({ type }) => type === 'delta').length === 2)
  const late = follow(stage)
  await until(() => late.events.some(({ type }) => type === 'delta'))
  assert.deepEqual(late.events.at(-1)?.content, { text: 'so far ', attempt: 1, snapshot: true })
  assertGapFree(late.events.slice(0, -1))
  await stage.runtime.cancelRun(run.runId)
  await until(() => late.events.at(-1)?.type === 'end')
  late.stop()
  first.stop()
  await Promise.all([late.done, first.done])
})

test('[P17] a reader that comes back with a seq gets what follows it, and one ahead is refused', async () => {
  const { stage, gates, result } = await speaking()
  gates.root.open()
  gates.leaf.open()
  await result
  const all = await stage.events('chats/1')
  const back = follow(stage, { from: 3, verbose: true })
  await until(() => back.events.length === all.length - 3)
  assert.deepEqual(back.events, all.slice(3))
  back.stop()
  await back.done
  await assert.rejects(stage.runtime.readEvents('chats/1', { from: all.length + 1 }), { code: 'EVENT_ID_AHEAD' })
})

test('[F32] a reader of one call gets it and what is below it', async () => {
  const { stage, gates, result } = await speaking()
  gates.root.open()
  gates.leaf.open()
  await result
  const all = await stage.events('chats/1')
  const leaf = all.find(({ author, type }) => author === 'leaf' && type === 'start')?.callId ?? ''
  const part = await stage.events('chats/1', { call: leaf })
  assert.deepEqual(
    part,
    all.filter(({ callId, parentCallId }) => callId === leaf || parentCallId === leaf),
  )
  assert.ok(part.length > 0)
})

test('[D9] a reader that leaves ends nothing; a deleted conversation ends its readers', async () => {
  const { stage, gates, result } = await speaking()
  const one = follow(stage)
  await until(() => one.events.length > 0)
  one.stop()
  await one.done
  gates.root.open()
  gates.leaf.open()
  assert.equal((await result)?.status, 'completed')
  const other = follow(stage)
  await until(() => other.events.length > 0)
  await stage.runtime.deleteConversation('chats/1')
  await other.done
  await assert.rejects(stage.runtime.getConversation('chats/1'), { code: 'NOT_FOUND' })
})
