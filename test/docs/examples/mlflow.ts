/** What an MLflow server is asked for a run: here a stand-in prints it. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createRuntime, defineAgent } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'

const server = createServer((request, response) => {
  const { 'content-type': type, 'x-mlflow-experiment-id': experiment = '-' } = request.headers
  console.log(request.method, request.url, type, experiment)
  response.end(request.url?.startsWith('/api') ? '{"experiment":{"experiment_id":"7"}}' : '')
}).listen(0, '127.0.0.1')
await once(server, 'listening')
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

const greeter = defineAgent({ id: 'greeter', instructions: 'Greet.', model: scriptedModel(() => ({ text: 'Hello.' })) })
const runtime = createRuntime({ agents: [greeter], telemetry: { mlflow: { url, experiment: 'witan' } } })
await runtime.conversation('greeter').run('Hi')
await runtime.close()
server.close()
