/** A real server that goes away and comes back at the same address, with the same store or without. */
import { defineAgent } from '@witan/core'
import { lastUserMessage, scriptedModel } from '@witan/core/testing'
import { loadConfig, startServer, type WitanServer } from '@witan/server'

/** Its address, its token, and its end and new beginning. */
export interface RestartingServer {
  readonly url: string
  readonly token: string
  stop(): Promise<void>
  /** Starts it again on the same port, with another token where that is given. */
  start(token?: string): Promise<void>
  /** Lets the model that a prompt `hold …` asked go on. */
  release(): void
  close(): Promise<void>
}

/** An agent that echoes; what begins with `hold` it answers when it is let. */
export async function startRestartingServer(store: string): Promise<RestartingServer> {
  let release = () => {}
  let held = new Promise<void>((resolve) => {
    release = resolve
  })
  const model = scriptedModel(
    async (request) => {
      const said = lastUserMessage(request)
      if (said.startsWith('hold')) await held
      return `Heard: ${said}`
    },
    { id: 'scripted/echo' },
  )
  const agent = defineAgent({
    id: 'echo',
    model,
    instructions: 'Repeat.',
    parameters: [{ name: 'name', description: 'Who is speaking.' }],
  })
  const config = await loadConfig({ cwd: '/', env: { WITAN_LOG_LEVEL: 'silent', WITAN_STORE_URL: store } })
  const begin = (port: number, token?: string): Promise<WitanServer> =>
    startServer({ ...config, server: { ...config.server, port }, agents: [agent] }, { token })
  let server = await begin(0)
  const { port, url, token } = server
  return {
    url,
    token: token ?? '',
    stop: async () => void (await server.close()),
    start: async (other = token ?? '') => {
      held = Promise.resolve()
      server = await begin(port, other)
    },
    release: () => release(),
    close: async () => {
      release()
      await server.close()
    },
  }
}
