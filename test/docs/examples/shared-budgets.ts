/** A server with which the budget is shared: what it is sent, and what the run has cost with what it reports. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { createRuntime } from '@witan/core'
import { call, scriptedModel } from '@witan/core/testing'

const card = {
  name: 'Travel',
  supportedInterfaces: [{ url: 'https://travel.example/a2a', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  capabilities: { streaming: false },
}
const spent = {
  modelCalls: 3,
  toolCalls: 1,
  inputTokens: 900,
  outputTokens: 100,
  cachedInputTokens: 0,
  reasoningTokens: 0,
}
const task = {
  id: 'task-1',
  contextId: 'context-1',
  status: { state: 'TASK_STATE_COMPLETED' },
  artifacts: [{ artifactId: 'answer', parts: [{ text: 'The train leaves at nine.' }] }],
  metadata: { witan: { usage: { ...spent, costUsd: null, complete: true } } },
}
const travel = createServer(async (request, response) => {
  const { params } = request.method === 'POST' ? JSON.parse(await text(request)) : { params: null }
  if (params?.message !== undefined) console.log(params.message.metadata.witan.budget)
  const reply = params === null ? card : { jsonrpc: '2.0', id: 1, result: { task } }
  response.setHeader('content-type', 'application/json').end(JSON.stringify(reply))
})
await new Promise<void>((resolve) => travel.listen(0, '127.0.0.1', resolve))
const { port } = travel.address() as AddressInfo

const runtime = createRuntime({
  domains: { 'bots.example.com': 'default' },
  federation: { resolve: { 'travel.example': `http://127.0.0.1:${port}` }, budgets: ['travel.example'] },
  models: {
    'demo/desk': scriptedModel((_, turn) =>
      turn === 0 ? call('travel', { message: 'When does the train leave?' }) : 'At nine.',
    ),
  },
  agents: [
    {
      id: 'desk',
      model: 'demo/desk',
      instructions: 'You ask whoever knows.',
      limits: { maxModelCalls: 21, maxTokens: 100_000 },
      remotes: [{ name: 'travel', card: 'https://travel.example/card.json', description: 'Knows trains.' }],
    },
  ],
})
const { run } = await runtime.start({ agent: 'desk', prompt: 'When is the train?' })
const result = await run?.result
console.log(result?.text, `${result?.usage.modelCalls} model calls`)
await runtime.close()
travel.close()
