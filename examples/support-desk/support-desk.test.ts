/** The support desk as a person meets it: the command line, and no key in the environment. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))
let folder: string
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'witan-support-desk-'))
})
after(() => rm(folder, { recursive: true, force: true }))

function witan(...args: readonly string[]): Promise<{ code: number; out: string }> {
  const bin = here('../../packages/cli/bin/witan.js')
  const all = [bin, ...args, '--config', here('./witan.config.ts')]
  return new Promise((resolve) => {
    execFile(process.execPath, all, { cwd: folder, env: { PATH: process.env['PATH'] } }, (error, out) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, out }),
    )
  })
}

test('a broken lamp is handed over and back, a letter is written in two rounds, and three read it', async () => {
  const { code, out } = await witan('run', 'desk', 'My lamp of order 1042 arrived broken.')
  assert.equal(code, 0, out)
  for (const line of [
    /desk → returns/,
    /returns → desk \(back\) {2}A new one is sent today for: lamp/,
    /draft {2}round 2, step 1/,
    /✓ exit_loop/,
    /policy {2}branch panel\.2/,
    /12 model calls/,
  ])
    assert.match(out, line)
  assert.match(out, /\nA new one is sent today, and a letter about it is ready; three colleagues have read it\.\n/)
})

test('a parcel is looked up by its specialist, and the desk passes on what it says', async () => {
  const { out } = await witan('run', 'desk', 'Where is my parcel 1043?')
  assert.match(out, /desk → shipping/)
  assert.match(out, /\nThis is what the carrier says: desk, 199\.00, on its way/)
})

test('there is nothing to say against its agents', async () => {
  assert.match((await witan('check')).out, /0 errors, 0 warnings/)
})
