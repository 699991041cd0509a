/** Replies remembered under idempotency keys. */
import { WitanError } from '@witan/protocol'
import type { RememberedReplies, IdempotencyScope } from './contract.ts'
import type { Parts } from './wiring.ts'
import type { Store } from '../store/store.ts'

const dayMs = 86_400_000
/**
 * A request that has stored nothing after this time counts as lost, with its process or on its way to the store. If it is
 * only slow, it can no longer start a run once another request holds its key: the store refuses that.
 */
const lostMs = 15_000

/** Remembers replies in the rows of the store. */
export function rememberedReplies(parts: Parts, ready: () => Promise<void>): RememberedReplies {
  const { store } = parts
  return {
    async begin(scope) {
      await ready()
      const { database } = scope.principal
      const at = store.now(database)
      const row = { key: keyOf(scope), digest: scope.digest, at, expiresBefore: at - dayMs, lostBefore: at - lostMs }
      const known = await store.beginReply(database, row)
      if (known === null) return { state: 'fresh', reservation: { key: row.key, at } }
      if (known.digest !== scope.digest) {
        throw new WitanError('IDEMPOTENCY_KEY_REUSED', `This ${scope.name} was used with another body.`, {
          path: scope.name,
          hint: 'Use a new one for a new request.',
        })
      }
      if (known.status === null || known.body === null) {
        if (known.note !== null && isConversation(known.note))
          return { state: 'made', reservation: { key: row.key, at: known.at }, conversationId: known.note }
        if (known.note !== null && (scope.joins === true || (await rests(store, database, known.note))))
          return { state: 'noted', reservation: { key: row.key, at: known.at }, runId: known.note }
        throw new WitanError('IN_PROGRESS', `The first request with this ${scope.name} is under way.`, {
          path: scope.name,
          hint: 'Wait a second and send it again.',
        })
      }
      return { state: 'done', status: known.status, body: known.body }
    },
    finish: ({ principal }, reservation, reply) => store.finishReply(principal.database, reservation, reply),
    abandon: ({ principal }, reservation) => store.finishReply(principal.database, reservation, null),
  }
}

/** True for the note of a request that made a conversation: the id of a run has no such mark. */
function isConversation(note: string): boolean {
  return note.includes('/')
}

/** True if a run has a result to report. While it is at work, the request that started it may be alive too. */
async function rests(store: Store, database: string, run: string): Promise<boolean> {
  const job = await store.getJob(database, run)
  return job !== null && (job.endedAt !== null || (job.status === 'waiting' && !job.wake))
}

function keyOf(scope: IdempotencyScope): string {
  const { principal, method, path, name, key } = scope
  return JSON.stringify([principal.id, method, path, ...(name === 'Idempotency-Key' ? [] : [name]), key])
}
