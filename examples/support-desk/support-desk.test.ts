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

/** What V8 compiled is kept where the tests keep it: this environment names no other place. */
const { PATH, NODE_COMPILE_CACHE } = process.env

function witan(...args: readonly string[]): Promise<{ code: number; out: string }> {
  const bin = here('../../packages/cli/bin/witan.js')
  const all = [bin, ...args, '--config', here('./witan.config.ts')]
  return new Promise((resolve) => {
    execFile(process.execPath, all, { cwd: folder, env: { PATH, NODE_COMPILE_CACHE } }, (error, out) =>
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

test('a complaint is handed over for good, an agent is a tool, and the back office gets what Vera cannot be asked', async () => {
  const { code, out } = await witan(
    'run',
    'desk',
    'I want to complain, my desk of order 1043 is late.',
    '--user',
    'max',
  )
  assert.equal(code, 0, out)
  for (const line of [
    /desk → complaints/,
    /goodwill .*my desk of order 1043/,
    /✗ ask_user .*`vera` does not take part/,
    /back-office {2}Vera is away: I want to complain/,
    /\ncomplaints:\nI am sorry\. Nobody who decides is here\. It is on the list of tomorrow morning\.\n/,
  ])
    assert.match(out, line)
  assert.doesNotMatch(out, /complaints → desk \(back\)/)
})

test('if Vera takes part she is asked, and the run waits for her', async () => {
  const { code, out } = await witan('run', 'desk', 'I want to complain.')
  assert.equal(code, 3, out)
  assert.match(out, /waits for an answer from vera/)
  assert.match(out, /May I give this\? .*Up to 20\.00\./)
})

test('what is no complaint goes on to whom the desk reaches, and an agent that must not hand over cannot', async () => {
  const { out } = await witan('run', 'desk', 'I am angry: my parcel 1043 is late.')
  assert.match(out, /desk → complaints/)
  assert.match(out, /complaints → shipping/)
  assert.match(out, /\nshipping:\nThis is what the carrier says: desk, 199\.00/)
  const report = JSON.parse((await witan('agents', 'export', 'goodwill')).out)
  assert.deepEqual([report.agents[0].transferReach, report.agents[0].disableTransfer], ['tree', true])
})

test('there is nothing to say against its agents', async () => {
  assert.match((await witan('check')).out, /0 errors, 0 warnings/)
})
