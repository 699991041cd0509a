/** A question at the terminal that somebody else answers, or whose run ends, while it stands. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Client, createClient } from '@witan/client'
import type { Interruption } from '@witan/protocol'
import { loadConfig, startServer, type WitanServer } from '@witan/server'
import { sitting } from './testing/person.ts'
import { askConfig } from './testing/witan.ts'

const approved = { answer: { decision: 'approved' } }

describe('while a question stands at the terminal', () => {
  let server: WitanServer
  let client: Client
  before(async () => {
    server = await startServer(await loadConfig({ file: askConfig, env: { WITAN_LOG_LEVEL: 'error' } }))
    client = createClient({ url: server.url })
  })
  after(async () => {
    client.close()
    await server.close()
  })

  const asking = (prompt: string) => ['run', 'asker', prompt, '--url', server.url]
  const openOnes = async (): Promise<readonly Interruption[]> => (await client.interruptions.list({})).items
  const answerFirst = async () => client.interruptions.answer((await openOnes())[0]?.id ?? '', approved)

  test('an answer that is given elsewhere takes it away, and the run is followed on', async () => {
    const { code, screen } = await sitting(asking('pay'), [answerFirst])
    assert.equal(code, 0, screen)
    assert.match(screen, /wants to call pay.*Approved elsewhere, by \S+.*It came to: paid 5/s)
  })

  const elsewhere = [
    ['pay', { decision: 'denied' }, 'Denied'],
    ['demand', { resolution: {} }, 'Resolved'],
    ['demand', { decision: 'declined' }, 'Declined'],
  ] as const
  for (const [prompt, answer, word] of elsewhere)
    test(`it says how it was answered elsewhere: ${prompt}, ${word.toLowerCase()}`, async () => {
      const settle = async () => client.interruptions.answer((await openOnes())[0]?.id ?? '', { answer })
      const { screen } = await sitting(asking(prompt), [settle])
      assert.match(screen, new RegExp(`${word} elsewhere, by \\S+.*It came to: `, 's'))
    })

  test('the next question is asked then', async () => {
    const { code, screen } = await sitting(asking('pay twice'), [answerFirst, 'n'])
    assert.equal(code, 0, screen)
    assert.match(screen, /amount {2}3.*Approved elsewhere.*amount {2}4.*It came to: paid 3/s)
    assert.deepEqual(await openOnes(), [])
  })

  test('a question that is answered before its turn is not asked at all', async () => {
    const answerLast = async () => {
      const last = (await openOnes()).at(-1)
      await client.interruptions.answer(last?.id ?? '', approved)
    }
    const answerBoth = () => answerLast().then(answerFirst)
    const { code, screen } = await sitting(asking('pay twice'), [answerBoth])
    assert.equal(code, 0, screen)
    assert.equal(screen.split('wants to call pay').length, 2)
  })

  test('a run that is cancelled elsewhere ends here', async () => {
    const cancel = async () => {
      const [open] = await openOnes()
      const { activeRunId } = await client.conversations.get(open?.conversationId ?? '')
      await client.runs.cancel(activeRunId ?? '')
    }
    const { code, screen } = await sitting(asking('pay'), [cancel])
    assert.equal(code, 1, screen)
    assert.match(screen, /It is cancelled\..*The run was cancelled\./s)
  })

  test('what is left open is named at the end, and not what was answered', async () => {
    const { code, screen } = await sitting(asking('pay twice'), ['y', ''])
    assert.equal(code, 3, screen)
    assert.equal(screen.split('pay waits for an answer').length, 2)
    const [left, ...others] = await openOnes()
    assert.deepEqual(others, [])
    assert.ok(screen.includes(`witan interruptions answer ${left?.id} --approve`))
    await client.interruptions.answer(left?.id ?? '', approved)
  })
})
