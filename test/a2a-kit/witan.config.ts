/** The agent that the official conformance kit of A2A tests. What it does is said by the id of a message, which `front.ts` puts before the text. */
import { setTimeout as sleep } from 'node:timers/promises'
import { defineAgent, defineTool } from '@witan/core'
import { call, finishedCalls, lastUserMessage, type Rule, scriptedModel } from '@witan/core/testing'
import { defineConfig } from '@witan/server'
import { z } from 'zod'

const question = { id: 'more', text: 'What else?', options: [], multiple: false, freeText: true, required: true }

/** Calls a tool, and ends once that has its result. */
const once =
  (name: string, args: Record<string, unknown> = {}): Rule =>
  (request) =>
    finishedCalls(request).length === 0 ? call(name, args) : 'Done'

/** What the agent does, by how the id begins. To anything else it says hello. */
const scenarios: Readonly<Record<string, Rule>> = {
  'tck-delayed-complete': () => ({ text: 'Done after delay', delayMs: 2_000 }),
  'tck-artifact-text': () => 'Generated text content',
  'tck-artifact-data': () => call('transfer_to_agent', { agent_name: 'data' }),
  'tck-input-required': once('ask_question', { questions: [question] }),
  'tck-auth-required': once('sign_in'),
}

const signIn = defineTool({
  name: 'sign_in',
  description: 'Does what needs another credential.',
  parameters: z.object({}),
  async execute(_, { demand }) {
    await demand({ kind: 'unauthorized', message: 'Sign in at the archive.' })
    return 'signed in'
  },
})

const tck = defineAgent({
  id: 'tck',
  name: 'Kit',
  description: 'Does what the kit asks for.',
  instructions: 'Do what the message asks for.',
  address: 'tck',
  access: { call: ['user:kit'] },
  questions: true,
  tools: [signIn],
  transfers: [{ agent: 'data' }],
  model: scriptedModel(
    (request, turn) => {
      const said = lastUserMessage(request)
      const [, rule] = Object.entries(scenarios).find(([prefix]) => said.startsWith(prefix)) ?? []
      return rule === undefined ? { deltas: ['Hello ', 'from ', 'TCK'] } : rule(request, turn)
    },
    { id: 'script/tck', takes: ['text/plain'], sleep: (ms, signal) => sleep(ms, undefined, { signal }) },
  ),
})

const data = defineAgent({
  id: 'data',
  description: 'Answers with data.',
  instructions: 'Answer with data.',
  outputSchema: { type: 'object', properties: { key: { type: 'string' }, count: { type: 'integer' } } },
  model: scriptedModel(() => JSON.stringify({ key: 'value', count: 42 }), { id: 'script/data' }),
})

export default defineConfig({
  server: { port: 0, domain: 'kit.test', publicUrl: process.env['WITAN_A2A_KIT_URL'] ?? 'http://127.0.0.1:4800' },
  store: { url: 'memory:' },
  agents: [tck, data],
})
