/** Real processes on one SQLite file: `kill -9` in the middle of a run, the next start, and a second process beside the first. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createRuntime, sqliteStore } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'
import { killedAtEnd, leaveChildren } from '../support/child.ts'
import { assertEpochs, assertSound, storedEntries } from '../support/claims.ts'
import { agent, allEvents, cast, playerOf, until } from '../support/stage.ts'

const folder = mkdtempSync(join(tmpdir(), 'witan-kill-'))
after(() => {
  leaveChildren()
  rmSync(folder, { recursive: true, force: true })
})

const script = fileURLToPath(new URL('support/held-run.ts', import.meta.url))

/** Starts a process and waits until it is in the middle of its run. */
async function hold(file: string): Promise<{ readonly child: ChildProcess; readonly runId: string }> {
  const child = killedAtEnd(
    spawn(process.execPath, ['--conditions=witan-source', script, file], { stdio: ['ignore', 'pipe', 'inherit'] }),
  )
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.startsWith('held ')) return { child, runId: line.slice('held '.length) }
  }
  throw new Error('the process ended before its model was asked')
}

async function kill(child: ChildProcess): Promise<NodeJS.Signals | null> {
  const signal = new Promise<NodeJS.Signals | null>((resolve) => child.once('exit', (_code, how) => resolve(how)))
  child.kill('SIGKILL')
  return signal
}

function open(file: string) {
  const model = scriptedModel(cast({ root: [undefined, 'done'], leaf: ['looked'] }))
  const store = sqliteStore({ file })
  const runtime = createRuntime({
    store,
    models: { 'play/model': model },
    agents: [agent('root', { subAgents: [{ agent: 'leaf' }] }), agent('leaf')],
    retry: { tries: 1 },
  })
  return { runtime, store, requests: model.requests }
}

test('[F01] [I1] [I9] [D2] a run whose process was killed is ended by the next, and no stored reply is asked for again', async () => {
  let fired = 0
  for (let trial = 0; trial < 3; trial += 1) {
    const file = join(folder, `kill-${trial}.db`)
    const { child, runId } = await hold(file)
    assert.equal(await kill(child), 'SIGKILL')
    fired += 1
    const { runtime, store, requests } = open(file)
    await until(async () => (await runtime.getConversation('chats/1')).status === 'idle')
    const { status, result } = await runtime.getRun(runId)
    assert.equal(status, 'completed')
    assert.equal(result?.text, 'done')
    const events = await allEvents(runtime, 'chats/1')
    assertSound(events)
    assertEpochs(await storedEntries(store, 'chats/1'))
    // The root's first reply was stored: only the delegate's and the root's last are asked for.
    assert.deepEqual(requests.map(playerOf), ['leaf', 'root'])
    await runtime.close()
  }
  assert.equal(fired, 3)
})

test('[F17] [I17] a second process on the same file is refused and told who holds it; after a kill the file is free', async () => {
  const file = join(folder, 'lock.db')
  const { child } = await hold(file)
  const second = open(file)
  await assert.rejects(second.runtime.ready, (error: Error & { code?: string }) => {
    assert.equal(error.code, 'STORE_LOCKED')
    assert.match(error.message, new RegExp(`lock\\.db.*${child.pid}`))
    return true
  })
  await assert.rejects(second.runtime.listConversations(), { code: 'STORE_LOCKED' })
  await second.runtime.close()
  assert.equal(await kill(child), 'SIGKILL')
  const third = open(file)
  await third.runtime.ready
  await third.runtime.close()
})
