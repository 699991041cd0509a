/** The official Python SDK as client, in both bindings: the card and its signature, a message, a stream, a question and its answer, a list, and a refused cancel. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { keyOf } from '../acceptance/support/a2a.ts'
import { agent, createStage, type Stage } from '../acceptance/support/stage.ts'

const run = promisify(execFile)

const script = `
import asyncio, json, sys, uuid, httpx, jwt
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import a2a_pb2 as t
from a2a.utils.signing import create_signature_verifier
url, key, binding = sys.argv[1:4]

def saying(text, task=None):
    message = t.Message(message_id=str(uuid.uuid4()), role=t.ROLE_USER, parts=[t.Part(text=text)])
    if task is not None:
        message.task_id, message.context_id = task.id, task.context_id
    return t.SendMessageRequest(message=message)

async def last(client, request):
    task, text, states = None, "", []
    async for frame in client.send_message(request):
        kind = frame.WhichOneof("payload")
        if kind == "task":
            task = frame.task
        if kind == "artifact_update":
            said = "".join(part.text for part in frame.artifact_update.artifact.parts)
            text = text + said if frame.artifact_update.append else said
        if kind == "status_update":
            states.append(t.TaskState.Name(frame.status_update.status.state))
    return task, text, states

async def main():
    headers = {"Authorization": "Bearer " + key}
    async with httpx.AsyncClient(headers=headers, timeout=30) as http:
        card = await A2ACardResolver(http, url).get_agent_card()
        config = ClientConfig(httpx_client=http, supported_protocol_bindings=[binding], streaming=True)
        client = ClientFactory(config).create(card)
        keys = (await http.get(httpx.URL(url).join("/.well-known/jwks.json"))).json()["keys"]
        key_of = {one["kid"]: jwt.PyJWK(one, algorithm="EdDSA") for one in keys}
        create_signature_verifier(lambda kid, jku: key_of[kid], ["EdDSA"])(card)
        out = {"card": card.name, "signed": len(card.signatures)}
        task, text, states = await last(client, saying("go"))
        out["streamed"] = [text, states[-1]]
        read = await client.get_task(t.GetTaskRequest(id=task.id))
        out["read"] = [read.artifacts[0].parts[0].text, t.TaskState.Name(read.status.state)]
        asked, _, states = await last(client, saying("ask"))
        out["asked"] = states[-1]
        done, text, states = await last(client, saying("9", asked))
        out["answered"] = [done.id == asked.id, text, states[-1]]
        listed = await client.list_tasks(t.ListTasksRequest(page_size=1))
        out["listed"] = [len(listed.tasks), listed.total_size]
        polling = ClientFactory(ClientConfig(httpx_client=http, supported_protocol_bindings=[binding], streaming=False)).create(card)
        whole, _, _ = await last(polling, saying("whole"))
        out["whole"] = whole.artifacts[0].parts[0].text
        try:
            await client.cancel_task(t.CancelTaskRequest(id=task.id))
        except Exception as error:
            out["refused"] = type(error).__name__
        print(json.dumps(out))

asyncio.run(main())
`

describe('the Python SDK', () => {
  let stage: Stage
  before(async () => {
    stage = await createStage({ prepare: () => ({ server: { domain: 'bots.example' } }) })
    await stage.save(agent('docs', { name: 'The docs', address: 'docs', questions: true }))
  })
  after(() => stage?.close())

  for (const binding of ['JSONRPC', 'HTTP+JSON'])
    test(`is a client over ${binding}`, async () => {
      const python = process.env.WITAN_A2A_PYTHON ?? assert.fail('npm run test:a2a-python names the interpreter')
      const key = await keyOf(stage.witan, { id: `user:${binding.toLowerCase().replace('+', '-')}`, roles: ['run'] })
      const free = { id: 'q', text: 'How many?', options: [], multiple: false, freeText: true, required: true }
      const from = stage.model.of('docs').length
      const replies = [
        { text: 'one two three', pieces: 4 },
        { calls: [{ name: 'ask_question', args: { questions: [free] } }] },
        { text: 'nine' },
        { text: 'in one piece' },
      ]
      stage.model.on('docs', ({ nth }) => replies[nth - 1 - from] ?? { text: 'out of script' })
      const { stdout } = await run(python, ['-c', script, `${stage.witan.url}/a2a/docs`, key, binding])
      assert.deepEqual(JSON.parse(stdout), {
        card: 'The docs',
        signed: 1,
        streamed: ['one two three', 'TASK_STATE_COMPLETED'],
        read: ['one two three', 'TASK_STATE_COMPLETED'],
        asked: 'TASK_STATE_INPUT_REQUIRED',
        answered: [true, 'nine', 'TASK_STATE_COMPLETED'],
        listed: [1, 2],
        whole: 'in one piece',
        refused: 'TaskNotCancelableError',
      })
    })
})
