/** Entries about whom a caller acts for: where they may stand, and in which form they are kept. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuntime } from '@witan/core'
import { scriptedModel } from '../testing/scripted-model.ts'

const agent = (access: object) => ({ id: 'paid', model: 'demo/x', instructions: '', tools: [], access })

test('[M24] `for:` and `from:` stand in a list with an address alone, and are kept in canonical form', async () => {
  const runtime = createRuntime({ models: { 'demo/x': scriptedModel(() => 'x') } })
  const call = [['@*@B.test', 'for:@Anna@B.Test', 'from:mailto:U@example.com'], '@a@b.test']
  await runtime.agents.save(agent({ call }))
  const { access } = (await runtime.agents.get('paid')) as { readonly access: { readonly call: unknown } }
  assert.deepEqual(access.call, [['@*@b.test', 'for:@anna@b.test', 'from:mailto:U@example.com'], '@a@b.test'])
  const rows: readonly (readonly [unknown, string])[] = [
    [['for:mailto:u@example.com'], 'access.call.0'],
    [['@a@b.test', 'from:mailto:u@example.com'], 'access.call.1'],
    [[['for:mailto:u@example.com']], 'access.call.0.0'],
    [[['user:anna', 'for:mailto:u@example.com']], 'access.call.0.1'],
    [[['@*', 'for:mailto:u@example.com']], 'access.call.0.1'],
    [[['anonymous', 'from:mailto:u@example.com']], 'access.call.0.1'],
    [[['@a@b.test', 'for:u']], 'access.call.0.1'],
    [[['@a@b.test', 'for:@u']], 'access.call.0.1'],
  ]
  for (const [entries, path] of rows)
    await assert.rejects(
      runtime.agents.save(agent({ call: entries })),
      { code: 'AGENT_INVALID', path },
      JSON.stringify(entries),
    )
  await runtime.close()
})
