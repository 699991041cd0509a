/** What entries say of the fold that wrote them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Entry } from '@witan/protocol/entries'
import { OwnView } from './own-view.ts'

const entry = (job: string, appendNo: number, epoch = 1) => ({ job, appendNo, epoch }) as Entry

const writer = {}

function marked(view: OwnView, one: Entry, by: object | null = writer): Entry['view'] {
  view.mark(one, by)
  return one.view
}

test('[O9] the process that began a conversation says nothing while nobody else writes', () => {
  const view = new OwnView(false)
  assert.equal(marked(view, entry('r', 9)), undefined)
  assert.equal(marked(view, entry('r', 10)), undefined)
})

test('[O3] the first entry behind what others wrote says up to where it was read', () => {
  const view = new OwnView(false)
  view.read(7)
  view.read(5)
  assert.deepEqual(marked(view, entry('r', 9)), { upTo: 7 })
  assert.equal(marked(view, entry('r', 10)), undefined)
})

test('[O3] a fold that was loaded has the name of its first entry, which each of its jobs says once', () => {
  const view = new OwnView(true)
  view.read(4)
  assert.deepEqual(marked(view, entry('r', 9)), { by: 'r/9', upTo: 4 })
  assert.equal(marked(view, entry('r', 10)), undefined)
  assert.deepEqual(marked(view, entry('t', 9), {}), { by: 'r/9' })
})

test('[O3] a refused proposal has said nothing', () => {
  const view = new OwnView(true)
  view.read(4)
  const refused = [entry('r', 12), entry('next', -5, 0)]
  const takeBack = view.propose(refused, writer, 'r')
  assert.deepEqual(
    refused.map((one) => one.view),
    [{ by: 'r/12', upTo: 4 }, { by: 'r/12' }],
  )
  takeBack?.()
  view.read(6)
  assert.deepEqual(marked(view, entry('r', 13)), { by: 'r/13', upTo: 6 })
})

test('[O3] an entry that is proposed again says what is read by then', () => {
  const view = new OwnView(false)
  const again = [entry('r', -3, 0)]
  view.read(4)
  view.propose(again, null, undefined)?.()
  view.read(8)
  view.propose(again, null, undefined)
  assert.deepEqual(again[0]?.view, { upTo: 8 })
  view.propose(again, null, undefined)
  assert.equal(again[0]?.view, undefined)
})
