/** A real server whose conversations stand in every state: waiting, failed, running, done. */
import { defineAgent, defineTool } from '@witan/core'
import { call, lastUserMessage, type Rule, scriptedModel, toolResults } from '@witan/core/testing'
import { loadConfig, startServer } from '@witan/server'
import { z } from 'zod'

/** Its address, and the gate that `hold` waits at. */
export interface StatesServer {
  readonly url: string
  open(): void
  close(): Promise<void>
}

const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  parameters: z.object({ amount: z.number(), to: z.string() }),
  execute: ({ amount, to }) => `paid ${amount} to ${to}`,
})

/** A purchasing desk that asks its clerk, who pays after an approval; and an agent that nobody lists. */
export async function startStatesServer(): Promise<StatesServer> {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  const desk: Rule = async (request, turn) => {
    const said = lastUserMessage(request)
    if (said.includes('break')) return new Error('the model broke')
    if (said.includes('hold')) await opened
    if (said.includes('pay')) return turn === 0 ? call('a-clerk', { message: said }) : (toolResults(request)[0] ?? '')
    return `Noted: ${said}`
  }
  const clerk: Rule = (request, turn) =>
    turn === 0 ? call('pay', { amount: 5, to: 'the carpenter' }) : `It came to: ${toolResults(request)[0]}`
  const config = await loadConfig({ cwd: '/', env: { WITAN_LOG_LEVEL: 'silent', WITAN_STORE_URL: 'memory:' } })
  const server = await startServer({
    ...config,
    auth: { mode: 'none' },
    server: { ...config.server, port: 0 },
    agents: [
      defineAgent({
        id: 'a-clerk',
        name: 'Clerk',
        description: 'Pays what is approved.',
        model: scriptedModel(clerk, { id: 'scripted/clerk' }),
        instructions: 'Pay.',
        tools: [pay],
        approvals: ['pay'],
      }),
      defineAgent({
        id: 'purchasing',
        name: 'Purchasing desk',
        description: 'Buys what the house needs.',
        model: scriptedModel((request, turn) => desk(request, turn), { id: 'scripted/desk' }),
        instructions: 'Buy.',
        subAgents: [{ agent: 'a-clerk', description: 'Pays.' }],
      }),
      defineAgent({
        id: 'z-archive',
        name: 'Archive',
        model: scriptedModel(() => 'Filed.', { id: 'scripted/archive' }),
        instructions: 'File.',
      }),
    ],
  })
  return { url: server.url, open, close: async () => void (await server.close()) }
}
