/** A conversation's page: a task that ends while it is read, in one append with the start of its follow-up, must not hide both. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryStore, type Store } from '@witan/core'
import { call } from '@witan/core/testing'
import { createStage, settle } from '../support/stage.ts'

test('[I9] a conversation is idle only if no run and no task was live at one moment', async () => {
  const held = Promise.withResolvers<string>()
  let between: (() => Promise<void>) | null = null
  const inner = memoryStore()
  const store: Store = {
    ...inner,
    async listRuns(...of) {
      const runs = await inner.listRuns(...of)
      await between?.()
      return runs
    },
    async listJobs(...of) {
      const jobs = await inner.listJobs(...of)
      await between?.()
      return jobs
    },
  }
  const told = new Promise<never>(() => {})
  let asked = 0
  const stage = createStage({
    agents: [{ id: 'root', subAgents: [{ agent: 'clerk', blocking: 'never' }] }, { id: 'clerk' }],
    plays: {
      root: () => {
        asked += 1
        return asked === 1 ? call('clerk', { message: 'look it up' }) : asked === 2 ? 'I have asked.' : told
      },
      clerk: () => held.promise,
    },
    options: { store },
  })
  const first = await stage.ask('root', 'go', { id: 'chats/1' })
  assert.equal(first.tasks.length, 1)
  between = async () => {
    between = null
    held.resolve('found')
    for (let round = 0; asked < 3 && round < 1000; round += 1) await settle(1)
    assert.equal(asked, 3, 'the follow-up is at work')
  }
  const { status, runs } = await stage.runtime.getConversation('chats/1')
  assert.equal(status, 'running')
  assert.equal(runs.at(-1)?.status, 'running', 'the runs are read no earlier')
  await stage.runtime.close()
})
