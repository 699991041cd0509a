/** A real server whose agents work in the background for as long as a test wants. */
import { defineAgent } from '@witan/core'
import { lastUserMessage, type Rule, scriptedModel } from '@witan/core/testing'
import { loadConfig, startServer } from '@witan/server'

/** Its Studio, and the door that the counting waits at. */
export interface BackgroundServer {
  readonly url: string
  /** Lets the counting go on to its end. */
  open(): void
  close(): Promise<void>
}

/** A desk that has things counted by a counter and checked by an auditor; neither is waited for. */
export async function startBackgroundServer(): Promise<BackgroundServer> {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  const desk: Rule = (request, turn) => {
    const said = lastUserMessage(request)
    if (said.includes('[from @counter')) return 'The count is in.'
    if (turn > 0) return 'Two of us are at it.'
    return {
      toolCalls: ['counter', 'auditor'].map((name) => ({ name, arguments: { message: `the part of ${name}` } })),
    }
  }
  const worker =
    (text: string): Rule =>
    async (request) => {
      const said = lastUserMessage(request)
      if (said.includes('<history>')) return 'Half of it is counted.'
      await opened
      return said.includes('boxes only') ? `${text}, boxes only` : text
    }
  const model = (id: string, rule: Rule) => scriptedModel(rule, { id: `scripted/${id}` })
  const blocking = 'never' as const
  const subAgents = ['counter', 'auditor'].map((agent) => ({ agent, description: `Is a ${agent}.`, blocking }))
  const config = await loadConfig({ cwd: '/', env: { WITAN_LOG_LEVEL: 'error', WITAN_STORE_URL: 'memory:' } })
  const server = await startServer({
    ...config,
    auth: { mode: 'none' },
    server: { ...config.server, port: 0 },
    agents: [
      defineAgent({ id: 'desk', model: model('desk', desk), instructions: 'Have it done.', subAgents }),
      defineAgent({ id: 'counter', model: model('counter', worker('12 boxes')), instructions: 'Count.' }),
      defineAgent({ id: 'auditor', model: model('auditor', worker('all well')), instructions: 'Check.' }),
    ],
  })
  return { url: server.url, open, close: async () => void (await server.close()) }
}
