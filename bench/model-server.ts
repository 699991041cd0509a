/** A model server in a process of its own: chat completions in OpenAI's form. Each model is a role of the scenario, and answers at once, word by word. */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { type Reply, scenarios } from './scenario.ts'

const scenario = scenarios.find(({ id }) => id === process.argv[2])
if (scenario === undefined) throw new Error(`there is no ${process.argv[2]}`)
const usage = { prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 }
let callIds = 0

interface Request {
  readonly model: string
  readonly messages: readonly { readonly role: string }[]
}

/** The pieces of a reply, as they are streamed. */
function piecesOf(reply: Reply): object[] {
  if (!('calls' in reply)) {
    const text = 'text' in reply ? reply.text : ''
    return text.split(/(?<= )/).map((content) => ({ content }))
  }
  return reply.calls.map(({ name, arguments: given }, index) => {
    callIds += 1
    const asked = { name, arguments: JSON.stringify(given) }
    return { tool_calls: [{ index, id: `call_${callIds}`, type: 'function', function: asked }] }
  })
}

function answer(response: ServerResponse, { model, messages }: Request): void {
  const last = messages.findLastIndex(({ role }) => role === 'user')
  const step = messages.slice(last).filter(({ role }) => role === 'assistant').length
  const reply = scenario?.roles[model]?.reply(step) ?? { text: '' }
  const chunk = (choices: readonly object[], more = {}) =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model, choices, ...more })}\n\n`
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const delta of piecesOf(reply)) response.write(chunk([{ index: 0, delta, finish_reason: null }]))
  const finish = 'calls' in reply ? 'tool_calls' : 'stop'
  response.write(chunk([{ index: 0, delta: {}, finish_reason: finish }]))
  response.end(`${chunk([], { usage })}data: [DONE]\n\n`)
}

const server = createServer((request, response) => {
  void json(request).then((body) => answer(response, body as Request))
})
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }))
process.on('message', () => process.exit(0))
