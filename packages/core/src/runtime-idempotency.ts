/** Replies remembered under idempotency keys. */
import { WitanError } from '@witan/protocol'
import type { IdempotencyDesk, IdempotencyScope } from './runtime-contract.ts'
import type { Parts } from './runtime-wiring.ts'

const dayMs = 86_400_000

/** The desk over the store's reply rows. */
export function idempotencyDesk(parts: Parts, ready: Promise<void>): IdempotencyDesk {
  const { store } = parts
  return {
    async begin(scope) {
      await ready
      const at = store.now()
      const row = { key: keyOf(scope), digest: scope.digest, at, expiresBefore: at - dayMs }
      const known = await store.beginReply(scope.principal.database, row)
      if (known === null) return { state: 'fresh' }
      if (known.digest !== scope.digest) {
        throw new WitanError('IDEMPOTENCY_KEY_REUSED', 'This Idempotency-Key was used with another body.', {
          path: 'Idempotency-Key',
          hint: 'Use a new key for a new request.',
        })
      }
      if (known.status === null || known.body === null) {
        throw new WitanError('IN_PROGRESS', 'The first request with this Idempotency-Key is under way.', {
          path: 'Idempotency-Key',
          hint: 'Wait a second and send it again.',
        })
      }
      return { state: 'done', status: known.status, body: known.body }
    },
    finish: (scope, reply) => store.finishReply(scope.principal.database, keyOf(scope), reply),
    abandon: (scope) => store.finishReply(scope.principal.database, keyOf(scope), null),
  }
}

function keyOf(scope: IdempotencyScope): string {
  return JSON.stringify([scope.principal.id, scope.method, scope.path, scope.key])
}
