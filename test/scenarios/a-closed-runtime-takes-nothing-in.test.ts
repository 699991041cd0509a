/** What comes after the end is refused with what to do, and never left waiting for ever. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createRuntime, defineAgent, memoryStore, sqliteStore } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'

const clerk = defineAgent({ id: 'clerk', instructions: 'Help.', model: scriptedModel(() => 'ok') })
const closed = { code: 'RUNTIME_CLOSED', hint: /createRuntime/ }

for (const kind of ['memory', 'sqlite'] as const) {
  test(`a closed runtime over a store of kind ${kind} refuses whatever it is asked`, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'witan-closed-'))
    const store = kind === 'memory' ? memoryStore() : sqliteStore({ file: join(folder, 'witan.db') })
    const runtime = createRuntime({ store, agents: [clerk] })
    const chat = runtime.conversation('clerk', { id: 'chats/1' })
    const { runId } = await chat.run('Hello')
    await runtime.close()

    await assert.rejects(chat.run('Are you there?'), closed)
    await assert.rejects(runtime.conversation('clerk').run('Anybody?'), closed)
    await assert.rejects(runtime.start({ agent: 'clerk', prompt: 'Anybody?' }), closed)
    await assert.rejects(runtime.getRun(runId), closed)
    await assert.rejects(runtime.agents.list(), closed)
    await assert.rejects(runtime.tasks.list(), closed)
    const following = runtime.followEvents('chats/1', { signal: new AbortController().signal })
    await assert.rejects(following[Symbol.asyncIterator]().next(), closed)
    await runtime.close()
    await rm(folder, { recursive: true })
  })
}
