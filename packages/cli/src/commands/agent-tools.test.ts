/** `witan agents tools`, `preview` and `revisions`. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { defineAgent } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'
import { loadConfig, startServer, type WitanServer } from '@witan/server'
import { askConfig, witan } from '../testing/witan.ts'

const model = scriptedModel(() => 'Done.', { id: 'scripted/any' })
const clerk = defineAgent({
  id: 'clerk',
  description: 'Looks things up.',
  instructions: 'You look up.',
  parameters: [
    { name: 'count', type: 'number' },
    { name: 'tenant', policy: 'forbidModelGeneration', sendToModel: false },
  ],
  questions: true,
  model,
})
const lead = defineAgent({ id: 'lead', instructions: 'You lead.', subAgents: [{ agent: 'clerk' }], model })

describe('an agent before it runs, on the command line', () => {
  let server: WitanServer
  before(async () => {
    const config = await loadConfig({ file: askConfig, env: { WITAN_LOG_LEVEL: 'error' } })
    server = await startServer({ ...config, agents: [clerk, lead] })
  })
  after(() => server.close())
  const agents = (...more: string[]) => witan(['agents', ...more, '--url', server.url])

  test('its tools stand in a table, with what is not offered', async () => {
    assert.match((await agents('tools', 'clerk')).out, /ask_question +question +– +once +never +Asks a person/)
    assert.match(
      (await agents('tools', 'lead')).out,
      /clerk +subAgent +clerk +– +never +not offered: `lead\/clerk` needs `tenant`/,
    )
    const [line = ''] = (await agents('tools', 'clerk', '--json')).out.split('\n')
    assert.equal(JSON.parse(line).kind, 'question')
  })

  test('its preview has the system message and the tools, and says what is lacking', async () => {
    const { code, out, err } = await agents('preview', 'clerk', '--param', 'count=3')
    assert.deepEqual([code, err.split(' ')[0]], [0, 'PARAM_UNUSED'])
    assert.match(
      out,
      /^You look up\.\ncount = 3\ntenant: supplied by the system\n\nTools \(auto\), about \d+ tokens .*\nask_question: Asks/,
    )
    assert.match((await agents('preview', 'clerk')).err, /PARAM_MISSING {2}A conversation cannot start without `count`/)
    const below = JSON.parse((await agents('preview', 'clerk', '--below', 'lead', '--json')).out)
    assert.deepEqual(below.parameters[0], { name: 'count', shown: true, boundFrom: 'model', mayGenerate: true })
    const wrong = await agents('preview', 'clerk', '--below', 'nobody')
    assert.deepEqual([wrong.code, /no agent `nobody`/.test(wrong.err)], [2, true])
  })

  test('its revisions say who and what', async () => {
    assert.match((await agents('revisions', 'clerk')).out, /REVISION +BY +AT +CHANGED\n1 +\(code\) +20/)
  })
})
