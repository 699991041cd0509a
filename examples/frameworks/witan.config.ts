/** A desk that asks agents of other frameworks, each by the URL of its card. */
import { defineAgent } from '@witan/core'
import { call, lastUserMessage, scriptedModel, toolResults } from '@witan/core/testing'
import { defineConfig } from '@witan/server'

/** The port of each agent: the first argument of its file. */
const ports = { library: 9001, weather: 9002, reports: 9003, translator: 9004, greeter: 9005 }

/** `http` and private addresses are for tests: both hosts that a card may name are excepted. */
const resolve = Object.fromEntries(
  Object.values(ports).flatMap((port) =>
    ['127.0.0.1', 'localhost'].map((host) => [`${host}:${port}`, `http://127.0.0.1:${port}`]),
  ),
)

const desk = defineAgent({
  id: 'desk',
  instructions: 'Ask whoever knows, and pass on what they say.',
  remotes: Object.entries(ports).map(([name, port]) => ({
    name,
    card: `http://127.0.0.1:${port}/.well-known/agent-card.json`,
  })),
  model: scriptedModel(
    (request) => {
      const [name = '', ...words] = lastUserMessage(request).split(': ')
      return toolResults(request)[0] ?? call(name, { message: words.join(': ') })
    },
    { id: 'script/desk' },
  ),
})

export default defineConfig({ server: { domain: 'desk.test' }, federation: { resolve }, agents: [desk] })
