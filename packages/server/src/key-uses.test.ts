/** The uses of API keys are written in batches, and none once the server closes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KnownKey } from '@witan/core/tooling'
import { createKeyUses } from './key-uses.ts'

const key = (keyId: string) => ({ keyId, lastUsedAt: null, principal: { database: 'default' } }) as unknown as KnownKey

test('[D17] what was noted is written when the server closes, and nothing is noted after that', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] })
  const written: string[] = []
  const noteUses = async (uses: readonly { readonly keyId: string }[]) =>
    void written.push(...uses.map(({ keyId }) => keyId))
  const uses = createKeyUses({ now: () => 6_000_000, noteUses }, assert.fail)
  uses.note(key('one'))
  context.mock.timers.tick(20_000)
  uses.note(key('two'))
  await uses.close()
  uses.note(key('late'))
  context.mock.timers.tick(20_000)
  assert.deepEqual(written, ['one', 'two'])
})
