/** The configuration of the three servers of the drill; the test says by the environment which one this is, and where everything stands. */
import { defineTool } from '@witan/core'
import { call, scriptedModel, toolResults } from '@witan/core/testing'
import { defineConfig } from '@witan/server'
import { z } from 'zod'

const { side, store, resolve, ledger } = JSON.parse(process.env['DRILL'] ?? '{}') as {
  readonly side: 'a' | 'b' | 'c'
  readonly store: string
  readonly resolve: Readonly<Record<string, string>>
  readonly ledger: string
}

const buy = defineTool({
  name: 'buy',
  description: 'Buys.',
  parameters: z.object({}),
  async execute(_, { demand, callId }) {
    const { receipt } = await demand({ kind: 'payment_required', message: 'One euro.' })
    await (await fetch(ledger, { method: 'POST', body: callId })).text()
    return `bought for ${receipt}`
  },
})

/** Calls each of its tools once, and says what came of them. */
const model = scriptedModel((request) => {
  const results = toolResults(request)
  if (results.length > 0) return results.join(' + ')
  const toolCalls = request.tools.flatMap(
    ({ name }) => call(name, name === 'buy' ? {} : { message: 'go' }).toolCalls ?? [],
  )
  return toolCalls.length > 0 ? { toolCalls } : 'free words'
})

const consent = [{ kind: 'consent_required', message: 'May we?' }]
const remote = (name: string, address: string) => ({ name, address, description: 'Knows.' })
const agent = (id: string, more: object = {}) => ({
  ...{ id, model: 'play/model', instructions: 'x', address: id, access: { call: ['@*', 'user:local'] }, ...more },
})
const agents = {
  a: [agent('desk', { remotes: ['paid', 'strict', 'free'].map((name) => remote(name, `@${name}@b.test`)) })],
  b: [
    agent('paid', { remotes: [remote('shop', '@shop@c.test')] }),
    agent('strict', { demands: consent }),
    agent('free'),
  ],
  c: [agent('shop', { demands: consent, tools: ['buy'] })],
}[side]

export default defineConfig({
  auth: { mode: 'none' },
  store: { url: `file:${store}` },
  server: { port: 0, domain: `${side}.test`, publicUrl: `https://${side}.test` },
  federation: { resolve },
  tools: [buy],
  models: { 'play/model': model },
  agents,
})
