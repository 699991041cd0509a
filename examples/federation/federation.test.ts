/** The example as a person meets it: one command, on free ports, and then its log. */
import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { exampleRun } from '../../test/support/example-run.ts'

describe('two servers and an agent of other software', () => {
  let example: Awaited<ReturnType<typeof exampleRun>>
  before(async () => {
    example = await exampleRun(import.meta.url, 'FEDERATION')
  })
  after(() => example?.remove())

  test('one command starts all, and a question and a price of other servers reach the person', async () => {
    const { code, out, err } = await example.start()
    assert.deepEqual([code, err], [0, ''], out)
    for (const line of [
      /◆ trains {2}@trains@travel\.test {2}waits for an answer\n {4}First or second class\?\n {4}1 First, 71\.00 EUR {2}first\n/,
      /◆ hotel {2}https:\/\/hotel\.travel\.test\/\S+ {2}waits for an answer\n(?: {4}.*\n)*? {4}kind +payment_required\n/,
      /resolved {2}policy hotel/,
      /answered {2}question trains/,
      /├─ ✓ trains .*\n│ {2}└─ The train leaves Graz at 08:26 .*second class, 41\.00 EUR\.\n└─ ✓ hotel/,
      /! REMOTE_UNSIGNED: The card of https:\/\/hotel\.travel\.test/,
      /\n- The train leaves Graz .*\n- Room 12 is yours for Thursday night\.\n/,
      /What the agency has of it.*✓ timetable .*✓ ask_question/s,
    ])
      assert.match(out, line)
  })

  test('the price stands in no export of the conversation, which others may read', async () => {
    const { out } = await example.witan('office', 'conversations', 'list', '--json')
    const { id } = JSON.parse(out.split('\n')[0] ?? '')
    const { out: log } = await example.witan('office', 'conversations', 'export', id)
    assert.ok(log.includes('policy_required') && !log.includes('3.00'), log)
  })

  test('there is nothing to say against its agents', async () => {
    for (const server of ['office', 'travel'])
      assert.match((await example.witan(server, 'check')).out, /0 errors, 0 warnings/, server)
  })

  test('a port that is taken is named', async () => {
    const [, , port] = example.ports
    const taken = createServer().listen(port, '127.0.0.1')
    await new Promise((done) => taken.once('listening', done))
    const { code, err } = await example.start()
    await new Promise((done) => taken.close(done))
    assert.equal(code, 1)
    assert.match(err, new RegExp(`${port}.*FEDERATION_PORTS`))
  })
})
