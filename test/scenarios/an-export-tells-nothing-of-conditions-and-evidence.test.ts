/** The export of a conversation says neither what was demanded, nor how it was met, nor for whom a caller acted; and it plays again. A whole export goes on where the store was. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineTool, memoryStore, type Principal, type Store } from '@witan/core'
import { exportStore, exportText, importInto, readExport, readReplaySource, replay } from '@witan/core/export'
import { call, toolResults } from '@witan/core/testing'
import type { DatabaseId } from '@witan/protocol'
import type { ProvenEvidence } from '@witan/protocol/entries'
import { z } from 'zod'
import { fakeClock } from '../support/clock.ts'
import { outliving } from '../support/reopen.ts'
import { createStage, until } from '../support/stage.ts'

const start = Date.UTC(2026, 0, 1)
const [anna, boss] = ['mailto:cny-anna@a.test', '@cny-boss@a.test']

const piece = (subject: string, ...onBehalfOf: readonly string[]): ProvenEvidence => ({
  ...{ subject, onBehalfOf, issuer: 'https://a.test', digest: `sha256:${subject.length}`, expiresAt: start + 300_000 },
})

const demand = { kind: 'consent_required', message: 'cny-may-i', per: 'conversation' as const }

function staged(access: readonly string[] = ['@a@a.test'], store = memoryStore()) {
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    parameters: z.object({}),
    async execute(_, context) {
      const url = 'https://shop.test/cny-link'
      const data = { 'test.price': 'cny-price' }
      await context.demand({ kind: 'payment_required', message: 'cny-pay', title: 'cny-title', url, data })
      return 'paid'
    },
  })
  const rights = { call: ['@a@a.test', 'user:local'], tools: { pay: [[...access], 'user:local'] } }
  return createStage({
    agents: [{ id: 'shop', tools: ['pay'], demands: [demand], access: rights }],
    plays: { shop: (request) => toolResults(request).at(-1) ?? call('pay') },
    options: { tools: [pay], store, clock: fakeClock(start) },
  })
}

type Staged = ReturnType<typeof staged>

async function played({ runtime }: Staged, answer: object): Promise<void> {
  await until(async () => {
    const { interruptions, status } = await runtime.getConversation('chats/1')
    for (const { id } of interruptions) await runtime.answerInterruption(id, { answer })
    return status === 'idle'
  })
}

async function exported({ runtime }: Staged): Promise<string> {
  const lines: string[] = []
  for await (const line of runtime.exportConversation('chats/1')) lines.push(line)
  return lines.join('\n')
}

async function* textsOf(store: Store): AsyncGenerator<string> {
  for await (const line of exportStore(store, ['default'])) yield exportText(line)
}

const callers: Readonly<Record<string, readonly [evidence: readonly ProvenEvidence[], access: readonly string[]]>> = {
  'who acts for somebody': [[piece('@a@a.test', anna)], ['@a@a.test', `for:${anna}`]],
  'who acts for one that another began': [
    [piece('@a@a.test', boss, anna)],
    ['@a@a.test', `for:${boss}`, `from:${anna}`],
  ],
  'with evidence about somebody else': [[piece(anna)], ['@a@a.test', `for:${anna}`]],
  'with evidence about an address': [[piece(boss)], ['@a@a.test', `for:${boss}`]],
  'that is let in by the address that evidence is about': [[piece(boss)], [boss]],
  'with evidence about an address of a domain': [[piece(boss, anna)], ['@*@a.test', `from:${anna}`]],
  'with two pieces': [
    [piece('@a@a.test', boss), piece('@a@a.test', anna)],
    ['@a@a.test', `from:${anna}`],
  ],
  'who proved nothing': [[], ['@a@a.test', `for:${anna}`]],
}

for (const [title, [evidence, access]] of Object.entries(callers))
  test(`[M03] [C21] [Tb29] the export of what a caller ${title} has asked`, async () => {
    const stage = staged(access)
    const principal: Principal = {
      ...{ database: 'default' as DatabaseId, id: '@a@a.test', roles: ['run'], address: '@a@a.test' },
      ...(evidence.length === 0 ? {} : { incoming: { evidence } }),
    }
    const begun = await stage.runtime.as(principal).start({ agent: 'shop', prompt: 'go', id: 'chats/1' })
    await begun.run?.result
    await played(stage, { resolution: { receipt: 'cny-receipt' } })
    const isAllowed = evidence.length > 0
    assert.equal(JSON.stringify(stage.requests.at(-1)).includes('paid'), isAllowed, 'its evidence opens the tool')
    const text = await exported(stage)
    assert.equal(text.includes('cny-'), false, text)
    assert.ok(text.includes('@a@a.test'), 'the address of the caller stays')
    assert.equal((await replay(await readReplaySource(stage.runtime.exportConversation('chats/1')))).difference, null)
    await stage.runtime.close()
  })

for (const answer of [{ resolution: { receipt: 'cny-receipt' } }, { decision: 'declined' }])
  test(`[C21] [Tb29] the export of demands of this server, answered ${Object.keys(answer)[0]}`, async () => {
    const stage = staged()
    await stage.ask('shop', 'go', { id: 'chats/1' })
    await played(stage, answer)
    const text = await exported(stage)
    assert.equal(text.includes('cny-'), false)
    assert.match(text, /"kind":"consent_required","message":"condition 1"/)
    assert.equal((await replay(await readReplaySource(stage.runtime.exportConversation('chats/1')))).difference, null)
    await stage.runtime.close()
  })

test('[C21] a whole export holds what is demanded: after an import somebody meets it', async () => {
  const store = outliving(memoryStore({ now: () => start }))
  const first = staged(undefined, store)
  await first.ask('shop', 'go', { id: 'chats/1' })
  await first.runtime.close()
  const target = outliving(memoryStore({ now: () => start }))
  for await (const item of readExport(textsOf(store))) assert.equal(await importInto(target)(item), true)
  const second = staged(undefined, target)
  const [asked] = (await second.runtime.getConversation('chats/1')).interruptions
  assert.equal(asked?.kind === 'policy' && asked.policy['message'], 'cny-may-i')
  await played(second, { resolution: { receipt: 'cny-receipt' } })
  assert.match(JSON.stringify(second.requests.at(-1)), /paid/)
  await second.runtime.close()
})
