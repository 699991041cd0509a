/** The script that runs the conformance kit of A2A: it says when there is none, and gives a kit the agent that it needs. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const script = fileURLToPath(new URL('test-a2a-kit.ts', import.meta.url))

async function run(...words: string[]) {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const child = spawn(process.execPath, ['--no-warnings', '--conditions=witan-source', script, ...words], { env })
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  return { code: child.exitCode, out, err }
}

/** Stands in for the interpreter of a kit: sends what a kit sends, and prints each state with the first part of the answer. */
const kit = `#!${process.execPath}
const url = process.argv[process.argv.indexOf('--sut-host') + 1]
const { supportedInterfaces } = await (await fetch(url + '/.well-known/agent-card.json')).json()
const headers = { 'content-type': 'application/json', 'a2a-version': '1.0' }
const send = async (messageId, more = {}) => {
  const message = { messageId, role: 'ROLE_USER', parts: [{ text: 'Hello' }], ...more }
  const answer = await fetch(supportedInterfaces[1].url + '/message:send', { method: 'POST', headers, body: JSON.stringify({ message }) })
  return (await answer.json()).task
}
const ids = ['complete-task', 'delayed-complete', 'artifact-text', 'artifact-data', 'input-required', 'auth-required']
for (const id of ids) {
  const { status, artifacts = [] } = await send('tck-' + id + '-1')
  console.log(id, status.state, JSON.stringify(artifacts[0]?.parts.at(-1) ?? null))
}
const { id: taskId } = await send('tck-input-required-1')
console.log('answered', (await send('tck-complete-task-1', { taskId })).status.state)
process.exitCode = 7
`

const said = `complete-task TASK_STATE_COMPLETED {"text":"Hello from TCK"}
delayed-complete TASK_STATE_COMPLETED {"text":"Done after delay"}
artifact-text TASK_STATE_COMPLETED {"text":"Generated text content"}
artifact-data TASK_STATE_COMPLETED {"data":{"key":"value","count":42}}
input-required TASK_STATE_INPUT_REQUIRED null
auth-required TASK_STATE_AUTH_REQUIRED null
answered TASK_STATE_COMPLETED
`

describe('npm run test:a2a-kit', () => {
  let folder = ''
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'witan-a2a-kit-'))
    await mkdir(join(folder, 'tests/compatibility'), { recursive: true })
    await writeFile(join(folder, 'python.mjs'), kit, { mode: 0o700 })
  })
  after(() => rm(folder, { recursive: true }))

  test('without a kit it did not run, and says what to do', async () => {
    for (const [words, pattern] of [
      [[], /COULD NOT RUN: no kit is named\. Clone a2aproject\/a2a-tck and pass `-- --kit FOLDER`\./],
      [['--kit', tmpdir()], /COULD NOT RUN: .* has no `tests\/compatibility`/],
      [['--kit', folder], /COULD NOT RUN: there is no .*python\. .* or pass `--python FILE`/],
    ] as const) {
      const { code, err } = await run(...words)
      assert.equal(code, 3)
      assert.match(err, pattern)
    }
  })

  test('it runs a kit over both bindings, against the agent that the kit needs, and ends as the kit does', async () => {
    const { code, out, err } = await run('--kit', folder, '--python', join(folder, 'python.mjs'))
    assert.deepEqual([code, err], [7, ''])
    assert.equal(out.split(said).length, 3, out)
    assert.match(out, /over jsonrpc, at .* over http_json, at /s)
  })
})
