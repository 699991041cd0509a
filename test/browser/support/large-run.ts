/** A real server with one finished run of many calls: a root that asks teams, whose tools are called again and again. */
import { createClient } from '@witan/client'
import { defineAgent, defineTool } from '@witan/core'
import { type Rule, scriptedModel } from '@witan/core/testing'
import { loadConfig, startServer } from '@witan/server'
import { z } from 'zod'

/** Its address, and the conversation of the run. */
export interface LargeRun {
  readonly url: string
  readonly id: string
  close(): Promise<void>
}

const perTeam = 127

const look = defineTool({
  name: 'look',
  description: 'Looks at a place.',
  parameters: z.object({ place: z.number() }),
  effect: 'none',
  execute: ({ place }) => `seen ${place}`,
})

/** Runs it to its end: `teams` calls of agents with 127 calls of a tool each, and the root. The server has `others` more agents. */
export async function startLargeRun(teams: number, others = 0): Promise<LargeRun> {
  const lead: Rule = (_request, turn) =>
    turn === 0
      ? {
          toolCalls: Array.from({ length: teams }, (_, at) => ({ name: 'team', arguments: { message: `area ${at}` } })),
        }
      : 'All is seen.'
  const team: Rule = (_request, turn) =>
    turn === 0
      ? { toolCalls: Array.from({ length: perTeam }, (_, place) => ({ name: 'look', arguments: { place } })) }
      : 'Seen.'
  const config = await loadConfig({ cwd: '/', env: { WITAN_LOG_LEVEL: 'silent', WITAN_STORE_URL: 'memory:' } })
  const server = await startServer({
    ...config,
    auth: { mode: 'none' },
    server: { ...config.server, port: 0 },
    agents: [
      defineAgent({
        id: 'lead',
        name: 'Lead',
        model: scriptedModel(lead, { id: 'scripted/lead' }),
        instructions: 'Lead.',
        subAgents: [{ agent: 'team', description: 'Looks.' }],
      }),
      defineAgent({
        id: 'team',
        name: 'Team',
        model: scriptedModel(team, { id: 'scripted/team' }),
        instructions: 'Look.',
        tools: [look],
      }),
      ...Array.from({ length: others }, (_, index) =>
        defineAgent({
          id: `other-${index}`,
          name: `Other ${index}`,
          description: `One of ${others} agents that take no part.`,
          model: scriptedModel(() => 'Done.', { id: `scripted/other-${index}` }),
          instructions: 'Do it. '.repeat(200),
        }),
      ),
    ],
  })
  const client = createClient({ url: server.url })
  const id = 'chats/large'
  await client.conversation('lead', { id }).run('Look everywhere.')
  client.close()
  return { url: server.url, id, close: async () => void (await server.close()) }
}
