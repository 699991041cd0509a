/** A conversation of many turns: it shows its latest runs and how many there are, and lists all of them page by page. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { memoryStore, type Store, sqliteStore } from '@witan/core'
import { call } from '@witan/core/testing'
import { openStore } from '../postgres/support/stores.ts'
import { createStage, settle } from '../support/stage.ts'

const id = 'chats/1'

function sqlite(context: TestContext): Store {
  const folder = mkdtempSync(join(tmpdir(), 'witan-runs-'))
  context.after(() => rmSync(folder, { recursive: true, force: true }))
  return sqliteStore({ file: join(folder, 'store.db'), synchronous: 'normal' })
}

const stores: Readonly<Record<string, (context: TestContext) => Store | Promise<Store>>> = {
  memory: () => memoryStore(),
  SQLite: sqlite,
  PostgreSQL: openStore,
}

function stageOn(store: Store) {
  return createStage({
    agents: [
      { id: 'root', actions: [{ name: 'Sign' }], subAgents: [{ agent: 'helper', blocking: 'never' }] },
      { id: 'helper' },
    ],
    plays: {
      root: (request, turn) => {
        const last = request.messages.findLast(({ role }) => role === 'user')?.content
        if (turn > 0 || last === 'hello') return 'done'
        return last === 'sign' ? call('Sign') : last === 'help' ? call('helper', { message: 'look' }) : 'noted'
      },
      helper: () => ({ hang: true }),
    },
    options: { store },
  })
}

for (const [name, open] of Object.entries(stores)) {
  test(`${name}: a conversation shows its latest 50 runs in order, and its list all of them, newest first`, async (context) => {
    const { runtime, run } = stageOn(await open(context))
    await runtime.start({ agent: 'root', id })
    assert.deepEqual((({ runs, runCount }) => ({ runs, runCount }))(await runtime.getConversation(id)), {
      runs: [],
      runCount: 0,
    })
    const begun: string[] = []
    for (let count = 0; count < 120; count += 1) begun.push((await run(id, { prompt: 'hello' })).runId)
    const { tasks } = await run(id, { prompt: 'help' })
    const waiting = await run(id, { prompt: 'sign' })
    const { runs } = await runtime.getConversation(id)
    begun.push(runs.at(-2)?.runId ?? '', waiting.runId)
    const shown = await runtime.getConversation(id)
    assert.deepEqual(
      shown.runs.map(({ runId }) => runId),
      begun.slice(-50),
    )
    assert.deepEqual([shown.runCount, shown.activeRunId, shown.status], [122, waiting.runId, 'waiting'])
    assert.deepEqual(
      shown.tasks.map(({ taskId }) => taskId),
      tasks.map(({ taskId }) => taskId),
    )
    for (const limit of [7, 50, 200]) {
      const lines = []
      for (let cursor: string | null = null; ; ) {
        const page = await runtime.listRuns(id, { limit, cursor })
        lines.push(...page.items)
        cursor = page.nextCursor
        if (cursor === null) break
      }
      assert.deepEqual(
        lines.map(({ runId }) => runId),
        begun.toReversed(),
      )
      assert.deepEqual(lines.slice(0, 50), shown.runs.toReversed())
    }
    await settle()
    await runtime.close()
  })
}

test('a list of runs needs its conversation, and a cursor that is a run of it', async () => {
  const { runtime, ask } = stageOn(memoryStore())
  await ask('root', 'hello', { id })
  const other = await ask('root', 'hello', { id: 'chats/2' })
  await assert.rejects(runtime.listRuns('chats/none'), { code: 'NOT_FOUND' })
  for (const cursor of [other.runId, 'none', ''])
    await assert.rejects(runtime.listRuns(id, { cursor }), { code: 'BODY_INVALID', path: 'cursor' })
  await assert.rejects(runtime.listRuns(id, { limit: 201 }), { code: 'BODY_INVALID', path: 'limit' })
})
