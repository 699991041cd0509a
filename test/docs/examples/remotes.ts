/** An agent that asks an agent on another server, which is found by its card and speaks A2A over JSON-RPC. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createRuntime } from '@witan/core'
import { call, scriptedModel } from '@witan/core/testing'

const card = {
  name: 'Travel',
  supportedInterfaces: [{ url: 'https://travel.example/a2a', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  capabilities: { streaming: false },
}
const task = {
  id: 'task-1',
  contextId: 'context-1',
  status: { state: 'TASK_STATE_COMPLETED' },
  artifacts: [{ artifactId: 'answer', parts: [{ text: 'The train leaves at nine.' }] }],
}
const travel = createServer((request, response) => {
  const reply = request.method === 'GET' ? card : { jsonrpc: '2.0', id: 1, result: { task } }
  response.setHeader('content-type', 'application/json').end(JSON.stringify(reply))
})
await new Promise<void>((resolve) => travel.listen(0, '127.0.0.1', resolve))
const { port } = travel.address() as AddressInfo

const runtime = createRuntime({
  domains: { 'bots.example.com': 'default' },
  federation: { resolve: { 'travel.example': `http://127.0.0.1:${port}` } },
  models: {
    'demo/desk': scriptedModel(({ messages }, turn) =>
      turn === 0
        ? call('travel', { message: 'When does the train leave?' })
        : `Travel says: ${messages.at(-1)?.content}`,
    ),
  },
  agents: [
    {
      id: 'desk',
      model: 'demo/desk',
      instructions: 'You ask whoever knows.',
      remotes: [{ name: 'travel', card: 'https://travel.example/card.json', description: 'Knows trains.' }],
    },
  ],
})
const { run } = await runtime.start({ agent: 'desk', prompt: 'When is the train?' })
if (run === null) throw new Error('a start with a prompt gives a run')
const { text, runId, usage } = await run.result
console.log(text)
const [node] = (await runtime.getRun(runId)).tree.children
console.log(node?.kind, node?.name, node?.agent, node?.document.replace(/.*\//, '…/'))
console.log(usage.complete ? 'all usage is known' : 'what it has cost there is not known')
await runtime.close()
travel.close()
