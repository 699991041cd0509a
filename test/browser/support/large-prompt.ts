/** A real server with one conversation whose last model call had two megabytes of words. */
import { createClient } from '@witan/client'
import { defineAgent } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'
import { loadConfig, startServer } from '@witan/server'

/** Its address, and the conversation. */
export interface LargePrompt {
  readonly url: string
  readonly id: string
  close(): Promise<void>
}

const turns = 3
const line = 'Many words in a line.\n'
const lines = 32_000

/** `marks` of the turns are in the order in which they were said: each ends one of three messages of 704 kB. */
export const marks = Array.from({ length: turns }, (_, turn) => `The end of ${turn}.`)

/** Runs it to its end. */
export async function startLargePrompt(): Promise<LargePrompt> {
  const config = await loadConfig({ cwd: '/', env: { WITAN_LOG_LEVEL: 'silent', WITAN_STORE_URL: 'memory:' } })
  const model = scriptedModel(() => 'Read.', { id: 'scripted/reader' })
  const server = await startServer({
    ...config,
    auth: { mode: 'none' },
    server: { ...config.server, port: 0 },
    agents: [defineAgent({ id: 'reader', name: 'Reader', model, instructions: 'Read.' })],
  })
  const client = createClient({ url: server.url })
  const id = 'chats/long'
  const chat = client.conversation('reader', { id })
  for (const mark of marks) await chat.run(`Part. ${line.repeat(lines)}${mark}`)
  client.close()
  return { url: server.url, id, close: async () => void (await server.close()) }
}
