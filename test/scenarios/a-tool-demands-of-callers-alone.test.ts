/** A function tool knows who called from another server, and for whom: so it can demand of callers what people of this server need not meet. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineTool, type Principal } from '@witan/core'
import { call, toolResults } from '@witan/core/testing'
import type { DatabaseId } from '@witan/protocol'
import { z } from 'zod'
import { fakeClock } from '../support/clock.ts'
import { createStage, type Play, until } from '../support/stage.ts'

const mail = 'mailto:anna@a.test'
const piece = (subject: string, ...onBehalfOf: string[]) => ({
  ...{ subject, onBehalfOf, issuer: 'https://a.test', digest: 'sha256:1', expiresAt: Date.UTC(2100, 0, 1) },
})
const chain = { hop: 2, maxHops: 4, root: null, path: ['@x@x.test', '@a@a.test'] }
const at = (id: string, more: object = {}): Principal => ({
  ...{ database: 'default' as DatabaseId, id, roles: ['run'], address: id.startsWith('@') ? id : null },
  ...more,
})

/** Who runs it, and what the tool knows of the caller. */
const rows: Readonly<Record<string, readonly [principal: Principal | null, caller: unknown]>> = {
  'this machine': [null, null],
  'a person of this server': [at('user:anna'), null],
  'a key with an address': [at('key:ab12', { address: '@anna@here.test' }), null],
  'an agent elsewhere': [at('@a@a.test'), { address: '@a@a.test', hop: null }],
  'an agent elsewhere, in a chain': [at('@a@a.test', { incoming: { chain } }), { address: '@a@a.test', hop: 2 }],
  'an agent elsewhere that acts for somebody': [
    at('@a@a.test', { incoming: { chain, evidence: [piece('@a@a.test', '@b@b.test', mail)] } }),
    { address: '@a@a.test', hop: 2, onBehalfOf: ['@b@b.test', mail] },
  ],
  'a key that calls over A2A': [
    at('key:ab12', { address: '@anna@here.test', incoming: {} }),
    { address: '@anna@here.test', hop: null },
  ],
}

const below: Play = (request) => toolResults(request)[0] ?? call('clerk', { message: 'search' })

for (const [title, [principal, expected]] of Object.entries(rows))
  test(`[C21] [M23] a tool that demands of callers alone, run by ${title}`, async () => {
    const seen: unknown[] = []
    const search = defineTool({
      name: 'search',
      description: 'Searches.',
      parameters: z.object({}),
      async execute(_, { caller, demand }) {
        seen.push(caller)
        if (caller !== null) await demand({ kind: 'payment_required', message: 'One euro.' })
        return 'found'
      },
    })
    const access = { call: ['@*', 'user:anna', 'user:local', 'key:ab12'] }
    const stage = createStage({
      agents: [
        { id: 'shop', access, subAgents: [{ agent: 'clerk' }] },
        { id: 'clerk', tools: ['search'] },
      ],
      plays: { shop: below, clerk: (request) => toolResults(request)[0] ?? call('search') },
      options: { tools: [search], clock: fakeClock() },
    })
    const runtime = principal === null ? stage.runtime : stage.runtime.as(principal)
    const { run } = await runtime.start({ agent: 'shop', prompt: 'go', id: 'chats/1' })
    const first = await run?.result
    assert.deepEqual(
      first?.interruptions.map(({ kind }) => kind),
      expected === null ? [] : ['policy'],
    )
    for (const { id } of first?.interruptions ?? [])
      await stage.runtime.answerInterruption(id, { answer: { resolution: {} } })
    await until(async () => (await stage.runtime.getConversation('chats/1')).status === 'idle')
    assert.equal((await stage.runtime.getRun(run?.runId ?? '')).result?.text, 'found')
    assert.deepEqual(seen, expected === null ? [null] : [expected, expected])
  })
