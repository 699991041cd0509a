/** A test that fails leaves no server behind, and its file ends. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { until } from './support/stage.ts'

const file = fileURLToPath(new URL('../fixtures/a-test-that-leaves-a-server.ts', import.meta.url))

/** What the file printed; null where it had to be killed. */
function printed(...flags: readonly string[]): Promise<string | null> {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const words = ['--conditions=witan-source', '--no-warnings', ...flags, file]
  return new Promise((resolve) => {
    execFile(process.execPath, words, { env, timeout: 60_000, killSignal: 'SIGKILL' }, (error, out) =>
      resolve(error?.killed === true ? null : out),
    )
  })
}

function isGone(pid: number): boolean {
  try {
    return !process.kill(pid, 0)
  } catch {
    return true
  }
}

for (const flags of [[], ['--test', '--test-isolation=none', '--test-force-exit']])
  test(`the server of a failed test is killed at its end: node ${flags.join(' ')}`, async () => {
    const out = await printed(...flags)
    assert.match(out ?? 'it did not end', /as it should/)
    const pid = Number(/server (\d+)/.exec(out ?? '')?.[1])
    assert.ok(pid > 0, String(out))
    // A killed process needs a moment to be gone; one that lives on would listen for ever.
    await until(
      () => Promise.resolve(isGone(pid)),
      (gone) => gone,
    )
  })
