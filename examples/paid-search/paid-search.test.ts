/** The example as a person meets it: one command on free ports, and what its logs and its archive say. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../test/support/free-port.ts'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const bin = here('../../packages/cli/bin/witan.js')

describe('an archive of another server that wants consent and money', () => {
  let folder = ''
  let env: NodeJS.ProcessEnv
  const run = (...words: readonly string[]): Promise<{ code: number; out: string; err: string }> =>
    new Promise((resolve) => {
      const all = ['--no-warnings', '--conditions=witan-source', ...words]
      execFile(process.execPath, all, { cwd: folder, env }, (error, out, err) =>
        resolve({ code: typeof error?.code === 'number' ? error.code : 0, out, err }),
      )
    })

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'witan-paid-search-'))
    const ports = await Promise.all([0, 1, 2].map(freePort))
    const ours = { PAID_SEARCH_PORTS: ports.join(), PAID_SEARCH_FOLDER: folder, FEDERATION_PACE_MS: '0' }
    env = { PATH: process.env['PATH'], ...ours }
  })
  after(() => rm(folder, { recursive: true, force: true }))

  test('[C21] [M22] one command: consent is asked for once, each article is paid, and the archive knows for whom', async () => {
    const { code, out, err } = await run(here('./start.ts'))
    assert.deepEqual([code, err], [0, ''], out)
    const [first = '', second = ''] = out.split('Again in the same conversation')
    assert.match(first, /◆ archive waits for an answer\n.*May it\?\n.*consent_required/)
    assert.doesNotMatch(second, /consent_required/)
    for (const [part, words] of [
      [first, 'owls'],
      [second, 'bats'],
    ] as const) {
      assert.equal(part.match(/curl -X POST http:\/\/127\.0\.0\.1:\d+\/bills\//g)?.length, 1)
      assert.match(part, new RegExp(`The archive: “On ${words}”`))
    }
    assert.match(second, /✓ search {2}← @desk@office\.test for @local@office\.test, hop 1/)
  })

  test('there is nothing to say against its agents, and a check says who may call the archive', async () => {
    for (const server of ['office', 'archive']) {
      const { out } = await run(bin, 'check', '--config', here(`./${server}.config.ts`))
      assert.match(out, /0 errors, 0 warnings/, server)
      if (server === 'archive') assert.match(out, /search +@desk@office\.test acting for @local@office\.test +yes/)
    }
  })
})
