/** The call tree of a run whose tool call an approval held, and that never began. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CallPlace, Entry, EntryContent } from '@witan/protocol/entries'
import { makeEntry } from './entry.ts'
import { callTree } from './tree.ts'

const root: CallPlace = {
  ...{ run: 'run-1', call: 'run-1', parentCall: null, author: 'root', agentPath: 'root', document: 'root' },
} as CallPlace
const pay = { ...root, call: 'pay-1', parentCall: 'run-1' }

/** The tree that comes of entries, each a second behind the one before it. */
async function treeOf(...all: readonly (readonly [CallPlace, unknown])[]) {
  async function* entries(): AsyncGenerator<Entry> {
    for (const [at, [place, content]] of all.entries())
      yield makeEntry(content as EntryContent, { place, job: 'run-1', epoch: 1, appendNo: at + 1, at: at * 1_000 })
  }
  const tree = await callTree(entries(), 'run-1')
  return tree?.root.children.map(({ status, startedAt, endedAt }) => ({ status, startedAt, endedAt }))
}

const begun = [root, { type: 'start', kind: 'agent', body: { agent: 'root', message: 'Pay.' } }] as const
const asked = [
  pay,
  { type: 'approval_required', kind: null, body: { id: 'i-1', path: 'pay', tool: 'pay', arguments: {} } },
] as const
const settled = (state: string) => [pay, { type: 'resolved', kind: null, body: { id: 'i-1', state } }] as const
const over = [root, { type: 'end', kind: 'agent', body: { text: '', finishReason: 'cancelled', usage: {} } }] as const

const second = (at: number) => `1970-01-01T00:00:0${at}.000Z`

test('[D11] a held call that nobody has answered ends where its interruption is cancelled', async () => {
  const [child] = (await treeOf(begun, asked, settled('cancelled'), over)) ?? []
  assert.deepEqual(child, { status: 'cancelled', startedAt: second(1), endedAt: second(2) })
})

test('[D11] a held call that was approved behind the cancel of its run ends with its agent', async () => {
  const [child] = (await treeOf(begun, asked, settled('answered'), over)) ?? []
  assert.deepEqual(child, { status: 'cancelled', startedAt: second(1), endedAt: second(3) })
})

test('[D11] a held call waits until it is answered', async () => {
  const [child] = (await treeOf(begun, asked)) ?? []
  assert.deepEqual(child, { status: 'waiting', startedAt: second(1), endedAt: null })
})
