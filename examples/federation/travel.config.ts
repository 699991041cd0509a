/** The travel agency, `travel.test`: its agent for trains has an address, and lets in the agents of the office. */
import { defineAgent, defineTool } from '@witan/core'
import { call, finishedCalls } from '@witan/core/testing'
import { defineConfig } from '@witan/server'
import { z } from 'zod'
import { played } from './pace.ts'
import { ports, resolve, storeOf } from './places.ts'

const timetable = defineTool({
  name: 'timetable',
  description: 'The trains of a day, with their fares.',
  parameters: z.object({ from: z.string(), to: z.string() }),
  effect: 'none',
  execute: () => ({ leaves: '08:26', arrives: '11:02', fares: { first: '71.00 EUR', second: '41.00 EUR' } }),
})

const question = {
  id: 'class',
  text: 'First or second class?',
  options: [
    { id: 'first', label: 'First, 71.00 EUR' },
    { id: 'second', label: 'Second, 41.00 EUR' },
  ],
}

const trains = defineAgent({
  id: 'trains',
  name: 'Trains',
  description: 'Finds and books trains.',
  instructions: 'Look trains up. Ask for the class before you book one.',
  address: 'trains',
  access: { call: ['@*@office.test'] },
  questions: true,
  tools: [timetable],
  model: played('trains', (request) => {
    const [train, chosen] = finishedCalls(request).map(({ result }) => result)
    if (train === undefined) return call('timetable', { from: 'Graz', to: 'Vienna' })
    if (chosen === undefined) return call('ask_question', { questions: [question] })
    const { leaves, arrives, fares } = JSON.parse(train)
    const which = chosen.includes('first') ? 'first' : 'second'
    return `The train leaves Graz at ${leaves} and is in Vienna at ${arrives}: ${which} class, ${fares[which]}.`
  }),
})

export default defineConfig({
  server: { port: ports.travel, domain: 'travel.test', publicUrl: 'https://travel.test' },
  store: storeOf('travel'),
  federation: { resolve },
  agents: [trains],
})
