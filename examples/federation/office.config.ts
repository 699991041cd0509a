/** The office, `office.test`: a desk that asks agents of two other servers. */
import { defineAgent } from '@witan/core'
import { toolResults } from '@witan/core/testing'
import { defineConfig } from '@witan/server'
import { played } from './pace.ts'
import { hotelCard, ports, resolve, storeOf } from './places.ts'

const desk = defineAgent({
  id: 'desk',
  description: 'Plans journeys.',
  instructions: 'Ask for the train and for the room at the same time. Answer from what you are told.',
  remotes: [
    { name: 'trains', address: '@trains@travel.test', description: 'Finds and books trains.' },
    { name: 'hotel', card: hotelCard, description: 'Keeps rooms in Vienna.' },
  ],
  model: played('desk', (request) => {
    const told = toolResults(request)
    if (told.length > 0) return told.map((line) => `- ${sentence(line)}`).join('\n')
    return {
      toolCalls: [
        { name: 'trains', arguments: { message: 'A train from Graz to Vienna on Thursday, there by noon.' } },
        { name: 'hotel', arguments: { message: 'A room for one, Thursday night.' } },
      ],
    }
  }),
})

/** What a remote said; or why it said nothing, which a model reads as an error. */
function sentence(result: string): string {
  return result.startsWith('{"error"') ? `Not done: ${JSON.parse(result).error}` : result
}

export default defineConfig({
  server: { port: ports.office, domain: 'office.test', publicUrl: 'https://office.test' },
  store: storeOf('office'),
  federation: { resolve },
  agents: [desk],
})
