/** `witan conversations prompts`: what the models of a conversation were asked, for a person and for a program. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createClient } from '@witan/client'
import { defineAgent, defineTool } from '@witan/core'
import { call, scriptedModel } from '@witan/core/testing'
import { loadConfig, startServer, type WitanServer } from '@witan/server'
import { z } from 'zod'
import { askConfig, witan } from '../testing/witan.ts'

const lookup = defineTool({
  name: 'lookup',
  description: 'Looks up.',
  parameters: z.object({ what: z.string() }),
  execute: ({ what }) => `found ${what}`,
})
const boss = defineAgent({
  id: 'boss',
  instructions: 'Be short.',
  parameters: [{ name: 'ticket', sendToModel: false }],
  tools: [lookup],
  model: scriptedModel((_, turn) => (turn === 0 ? call('lookup', { what: 'x' }) : 'Done.'), { id: 'scripted/boss' }),
})

describe('what models were asked, on the command line', () => {
  let server: WitanServer
  before(async () => {
    const config = await loadConfig({ file: askConfig, env: { WITAN_LOG_LEVEL: 'error' } })
    server = await startServer({ ...config, agents: [boss] })
    const client = createClient({ url: server.url })
    await client
      .conversation('boss', { id: 'chats/1', parameters: { ticket: 'T-4711-x' } })
      .run('I have T-4711-x.\nGo.')
    client.close()
  })
  after(() => server.close())

  const prompts = (...more: string[]) => witan(['conversations', 'prompts', 'chats/1', ...more, '--url', server.url])

  test('without a number it lists them, with one it prints the request and the reply', async () => {
    const { out } = await prompts()
    const [head, first, second, ...rest] = out.trimEnd().split('\n')
    assert.match(head ?? '', /^N +AGENT +CALL +FOR +STATUS +MODEL +MESSAGES +TOKENS +TIME +NOTE$/)
    assert.match(first ?? '', /^\d+ +boss +1 +answer +completed +scripted\/boss +2 .*hidden values are masked/)
    assert.match(second ?? '', /^\d+ +boss +2 +answer +completed +scripted\/boss +4, 2 as before /)
    assert.deepEqual(rest, [])
    const [number = ''] = (second ?? '').split(' ')
    const { out: one } = await prompts(number)
    assert.match(one, /^model call \d+ {2}boss {2}answer {2}completed {2}scripted\/boss/)
    assert.match(one, /\nsystem\n {2}Be short\.\n {2}ticket: supplied by the system\n/)
    assert.match(one, /\nuser\n {2}I have \[hidden\]\.\n {2}Go\.\n/)
    assert.match(one, /\nassistant\n {2}calls lookup \{"what":"x"\}\n/)
    assert.match(one, /\nresult of lookup\n {2}found x\n/)
    assert.match(one, /\ntools\n {2}lookup: Looks up\.\n/)
    assert.match(one, /\nsettings\n {2}toolChoice auto\n/)
    assert.match(one, /\nreply\n {2}Done\.\n$/)
  })

  test('as JSON it is what the server answers', async () => {
    const client = createClient({ url: server.url })
    const lines = []
    for await (const line of client.conversations.modelCalls.all('chats/1')) lines.push(line)
    const { out } = await prompts('--json')
    assert.deepEqual(
      out
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
      lines,
    )
    const last = lines.at(-1)?.id ?? ''
    assert.deepEqual(
      JSON.parse((await prompts(last, '--json')).out),
      await client.conversations.modelCalls.get('chats/1', last),
    )
    const [reader] = await client.conversations.modelCalls.readers('chats/1', 1)
    assert.deepEqual([reader?.agent, reader?.first, reader?.as], ['boss', lines[0]?.id, 'message'])
    client.close()
  })

  test('a number that is none says where they are listed', async () => {
    const { err, code } = await prompts('1')
    assert.notEqual(code, 0)
    assert.match(err, /There is no model call `1`\.[\s\S]*`witan conversations prompts ID` lists them/)
  })
})
