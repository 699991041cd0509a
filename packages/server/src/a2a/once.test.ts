/** A message that comes again while the request that brought it first has stored nothing: it waits until that has, or counts as lost. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WitanError } from '@witan/protocol'
import { anonymousPrincipal, type RememberedReplies } from '@witan/core/tooling'
import type { DatabaseId } from '@witan/protocol'
import { accepted } from './once.ts'

const principal = { ...anonymousPrincipal('default' as DatabaseId), id: '@a@a.test' }
const caller = {
  principal,
  address: '@a@a.test',
  chain: undefined,
  audience: null,
  messageId: null,
  isAnonymous: false,
}

/** The key is taken for so long; then the request that took it counts as lost. */
function takenFor(ms: number): { readonly replies: RememberedReplies; readonly looks: () => number } {
  const since = performance.now()
  let looks = 0
  return {
    looks: () => looks,
    replies: {
      async begin() {
        looks += 1
        if (performance.now() - since < ms) throw new WitanError('IN_PROGRESS', 'It is under way.')
        return { state: 'fresh', reservation: { key: 'k', at: 0 } }
      },
      finish: async () => undefined,
      abandon: async () => undefined,
    } as RememberedReplies,
  }
}

const sent = (replies: RememberedReplies, gone = new AbortController().signal) =>
  accepted({ caller, agent: '@docs@b.test', messageId: 'm1', replies, gone }, async () => ({
    runId: 'r1',
    isNoted: true,
  }))

test('[I1] [D1] a repeat begins the task once the first request counts as lost, and looks seldom meanwhile', async () => {
  const { replies, looks } = takenFor(2_200)
  assert.equal((await sent(replies)).runId, 'r1')
  assert.ok(looks() < 30, `${looks()} looks`)
})

test('a caller that has gone is waited for no longer', async () => {
  const gone = new AbortController()
  const { replies } = takenFor(60_000)
  setTimeout(() => gone.abort(), 100)
  await assert.rejects(sent(replies, gone.signal), { name: 'AbortError' })
})
