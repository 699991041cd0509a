import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClient, createConversationFold, speakersOf } from '@witan/client'
import { defineAgent } from '@witan/core'
import { call, lastUserMessage, type Rule, scriptedModel } from '@witan/core/testing'
import { loadConfig, startServer } from '@witan/server'

const agent = (id: string, rule: Rule, more: object = {}) =>
  defineAgent({ id, instructions: 'Help.', model: scriptedModel(rule, { id: `scripted/${id}` }), ...more })
const transfers = [
  { agent: 'billing', description: 'Takes bills.' },
  { agent: 'archive', description: 'Finds letters.', returnsTo: 'caller' },
]
const agents = [
  agent('billing', () => ({ deltas: ['It ', 'is ', 'paid.'] })),
  agent('archive', () => ({ deltas: ['Box ', '7.'] })),
  agent(
    'desk',
    (request) => {
      const said = lastUserMessage(request)
      if (said.startsWith('[from @archive')) return { deltas: ['Box 7, ', 'says the archive.'] }
      const to = call('transfer_to_agent', { agent_name: said.includes('letter') ? 'archive' : 'billing' })
      return { ...to, deltas: ['One ', 'moment.'] }
    },
    { transfers },
  ),
]

for (const verbose of [false, true])
  test(`[K07] [Kb33] a client that reads ${verbose ? 'everything' : 'the run only'} sees who speaks, word by word and once`, async (context) => {
    const config = await loadConfig({ cwd: '/', env: { WITAN_LOG_LEVEL: 'silent', WITAN_STORE_URL: 'memory:' } })
    const server = await startServer({
      ...config,
      auth: { mode: 'none' },
      server: { ...config.server, port: 0 },
      agents,
    })
    const client = createClient({ url: server.url })
    context.after(async () => {
      client.close()
      await server.close()
    })
    const chat = client.conversation('desk')
    /** What a screen shows after each change, without repeats. */
    const shown = async (prompt: string) => {
      const fold = createConversationFold()
      const screens: string[] = []
      const stream = chat.stream(prompt, { verbose })
      for await (const event of stream) {
        fold.take(event)
        const [runId = ''] = fold.view.runs
        const screen = speakersOf(fold.view, runId).map(({ name, text }) => `${name}: ${text}`)
        if (screen.join(' | ') !== screens.at(-1)) screens.push(screen.join(' | '))
      }
      const { agent, text } = await stream.result()
      return { screens, agent, text }
    }
    const moment = ['desk: ', 'desk: One ', 'desk: One moment.']
    const bill = await shown('Where is my bill?')
    assert.deepEqual([bill.agent, bill.text], ['billing', 'It is paid.'])
    const paid = ['billing: ', 'billing: It ', 'billing: It is ', 'billing: It is paid.']
    assert.deepEqual(
      bill.screens.filter((one) => one !== ''),
      [...moment, ...gap(verbose, 'desk: '), ...paid],
    )
    const letter = await shown('Where is my letter?')
    assert.deepEqual([letter.agent, letter.text], ['desk', 'Box 7, says the archive.'])
    const found = 'archive: Box 7.'
    assert.deepEqual(
      letter.screens.filter((one) => one !== ''),
      [
        ...[...moment, ...gap(verbose, 'desk: '), 'archive: ', 'archive: Box ', found],
        ...[`${found} | desk: `, `${found} | desk: Box 7, `, `${found} | desk: Box 7, says the archive.`],
      ],
    )
  })

/** Only who sees tools sees the moment between the words and the hand-over. */
function gap(verbose: boolean, screen: string): string[] {
  return verbose ? [screen] : []
}
