/** The office, `office.test`: a desk that asks the archive of another server. */
import { defineAgent } from '@witan/core'
import { call, lastUserMessage, toolResults } from '@witan/core/testing'
import { defineConfig } from '@witan/server'
import { played } from '../federation/pace.ts'
import { ports, resolve, storeOf } from './places.ts'

const desk = defineAgent({
  id: 'desk',
  description: 'Finds what was written.',
  instructions: 'Ask the archive. Say what it has found.',
  remotes: [{ name: 'archive', address: '@search@archive.test', description: 'Searches the archive.' }],
  model: played('desk', (request) => {
    const [found] = toolResults(request).slice(-1)
    return request.messages.at(-1)?.role === 'tool'
      ? `The archive: ${found}`
      : call('archive', { message: lastUserMessage(request) })
  }),
})

export default defineConfig({
  server: { port: ports.office, domain: 'office.test', publicUrl: 'https://office.test' },
  store: storeOf('office'),
  federation: { resolve },
  agents: [desk],
})
