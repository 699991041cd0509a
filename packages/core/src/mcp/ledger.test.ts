/** Processes of MCP servers end with their owner: when it exits, and at the next start when it was killed. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, describe, it } from 'node:test'
import { isAlive, until } from './testing/opened.ts'
import { pathOf } from './testing/settings.ts'
import { systemClock } from '../identity/clock.ts'
import { createLedger } from './ledger.ts'

/** Starts a process that starts a server which does not end by itself. */
async function owner(folder: string, how: string) {
  const file = pathOf('packages/core/src/mcp/testing/left-process.ts')
  const child = spawn(process.execPath, ['--no-warnings', '--conditions=witan-source', file, folder, how])
  const gone = new Promise((resolve) => child.once('exit', resolve))
  const pid = Number(await new Promise((resolve) => createInterface({ input: child.stdout }).once('line', resolve)))
  return { child, gone, pid }
}

describe('a ledger', () => {
  let folder = ''
  const reported: unknown[] = []
  const ledger = () => createLedger({ folder, clock: systemClock, report: (error) => reported.push(error) })
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'witan-mcp-ledger-'))
  })
  after(() => {
    rmSync(folder, { recursive: true, force: true })
    assert.deepEqual(reported, [])
  })

  it('is not needed by a process that exits', async () => {
    const { gone, pid } = await owner(folder, 'exit')
    await gone
    assert.ok(await until(() => !isAlive(pid)))
  })
  it('ends what a killed process left, and nothing of one that lives', async () => {
    const left = await owner(folder, 'wait')
    const other = await owner(folder, 'wait')
    left.child.kill('SIGKILL')
    await left.gone
    await new Promise((resolve) => setTimeout(resolve, 300))
    assert.ok(isAlive(left.pid))
    await ledger().begin()
    assert.ok(await until(() => !isAlive(left.pid)))
    assert.ok(isAlive(other.pid))
    other.child.kill('SIGKILL')
    await other.gone
    await ledger().begin()
    assert.ok(await until(() => !isAlive(other.pid)))
    assert.ok(await until(() => readdirSync(folder).length === 0), String(readdirSync(folder)))
  })
  it('leaves a process alone that has only the number of one', async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(()=>{},1000)'], { detached: true })
    const page = { owner: { pid: 2 ** 22 + 1, start: '1' }, children: [{ pid: child.pid, start: '1' }] }
    writeFileSync(join(folder, '4194305-1.json'), JSON.stringify(page))
    writeFileSync(join(folder, '4194305-2.json'), '{"owner":')
    writeFileSync(join(folder, 'other.txt'), 'stays')
    await ledger().begin()
    assert.ok(await until(() => readdirSync(folder).length === 1))
    assert.equal(readFileSync(join(folder, 'other.txt'), 'utf8'), 'stays')
    assert.ok(isAlive(child.pid as number))
    child.kill('SIGKILL')
    rmSync(join(folder, 'other.txt'))
  })
})
