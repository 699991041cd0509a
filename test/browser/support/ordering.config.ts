/** The agents of two workflows: a loop of a writer and a panel of two judges. The workflows themselves are saved by the test. */
import { defineAgent } from '@witan/core'
import { call, lastUserMessage, type Rule, scriptedModel } from '@witan/core/testing'
import { defineConfig } from '@witan/server'

const agent = (id: string, name: string, rule: Rule) =>
  defineAgent({ id, name, model: scriptedModel(rule, { id: `scripted/${id}` }), instructions: 'Work.' })

export default defineConfig({
  store: { url: 'memory:' },
  auth: { mode: 'none' },
  server: { port: 0 },
  agents: [
    agent('writer', 'Writer', (request) =>
      lastUserMessage(request).includes('Shorter') ? 'Rain.' : 'It was a dark and stormy night.',
    ),
    agent('taste', 'Judge of taste', (request) =>
      lastUserMessage(request).includes('Rain.') ? call('exit_loop', {}) : 'Shorter, please.',
    ),
    agent('law', 'Judge of law', () => 'Nothing to object to.'),
  ],
})
