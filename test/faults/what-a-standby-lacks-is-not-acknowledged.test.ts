/** A synchronous standby that is away while a commit waits for it: a message that it never got is not acknowledged [I1]. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuntime, postgresStore, type Runtime } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'
import { isWitanError } from '@witan/protocol'
import { promote, repeat, startPair } from '../postgres/support/pair.ts'
import { agent, settle } from '../support/stage.ts'

const timeout = 240_000

/** A runtime that gives up on a store after so long; it is closed by the test, since its server may be gone. */
async function startRuntime(url: string, unavailableAfterMs: number): Promise<Runtime> {
  const timeouts = { replyMs: 1_500, connectMs: 1_500 }
  const store = postgresStore({ url, timeouts, unavailableAfterMs })
  const models = { 'play/model': scriptedModel(() => 'Noted.') }
  const runtime = createRuntime({ store, models, agents: [agent('clerk')], report: () => {} })
  await runtime.ready
  return runtime
}

const accept = (runtime: Runtime, id: string) => runtime.start({ agent: 'clerk', id, prompt: 'Keep this.' })

const waiting = "from pg_stat_activity where application_name = 'witan' and wait_event = 'SyncRep'"

/** What nobody waits for any more was ended on the server, too. */
const noneWaits = `select where not exists (select ${waiting})`

const interruptions = {
  'its session is ended': `select pg_terminate_backend(pid) ${waiting}`,
  'its wait is cancelled': `select pg_cancel_backend(pid) ${waiting}`,
}

for (const [what, sql] of Object.entries(interruptions)) {
  test(`[I1] a commit waits for a standby that is away, and ${what}: what is then found is not acknowledged`, {
    timeout,
  }, async (context) => {
    const { primary, standby } = await startPair(context)
    const runtime = await startRuntime(primary.url, 4_000)
    await accept(runtime, 'chats/before')
    await standby.stop('fast')
    const accepted = accept(runtime, 'chats/lost').then(
      () => null,
      (error: unknown) => error,
    )
    await repeat(primary.url, sql, accepted)
    const refusal = await accepted
    await repeat(primary.url, noneWaits)
    await primary.stop('immediate')
    await Promise.allSettled([runtime.close()])
    await standby.start()
    await promote(standby)
    const after = await startRuntime(standby.url, 10_000)
    const { items } = await after.listConversations()
    await after.close()
    assert.deepEqual(
      items.map(({ id }) => id),
      ['chats/before'],
      'the standby never got the message',
    )
    assert.ok(isWitanError(refusal), 'the message was acknowledged')
    assert.deepEqual([refusal.code, refusal.details.outcome], ['STORE_UNAVAILABLE', 'unknown'])
  })
}

test('[I1] once the standby is back, what was committed meanwhile is acknowledged, and stands once', {
  timeout,
}, async (context) => {
  const { primary, standby } = await startPair(context)
  const runtime = await startRuntime(primary.url, 60_000)
  await standby.stop('fast')
  await assert.rejects(runtime.health(), { code: 'STORE_UNAVAILABLE', message: 'The store cannot be written.' })
  await repeat(primary.url, noneWaits)
  const accepted = accept(runtime, 'chats/kept')
  await repeat(primary.url, interruptions['its session is ended'])
  await standby.start()
  const { run } = await accepted
  assert.equal((await run?.result)?.text, 'Noted.')
  const isHealthy = () =>
    runtime.health().then(
      () => true,
      () => false,
    )
  while (!(await isHealthy())) await settle()
  await runtime.close()
  await primary.stop('immediate')
  await promote(standby)
  const after = await startRuntime(standby.url, 10_000)
  const { messages } = await after.getDocument('chats/kept')
  assert.equal(messages.filter(({ text }) => text === 'Keep this.').length, 1)
  await after.close()
})
