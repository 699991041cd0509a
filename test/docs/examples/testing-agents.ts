/** An agent's test: a script in place of its model, and a recording that plays again. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRuntime, defineAgent, type Model } from '@witan/core'
import { call, recordModel, replayModel, scriptedModel, toolResults, turns } from '@witan/core/testing'

const ask = async (model: Model) => {
  const clerk = defineAgent({ id: 'clerk', instructions: 'Help.', model, actions: [{ name: 'Ship' }] })
  const runtime = createRuntime({ agents: [clerk] })
  const chat = runtime.conversation('clerk').handle('Ship', () => 'on its way')
  const { text } = await chat.run('Ship order 7.')
  await runtime.close()
  return text
}

const script = scriptedModel(turns(call('Ship', { order: 7 }), 'Order 7 is on its way.'))
console.log(await ask(script))
console.log(script.requests.slice(1).map(toolResults))

const folder = mkdtempSync(join(tmpdir(), 'recording-'))
const file = join(folder, 'ship.jsonl')
await ask(recordModel(script, file)) // a real model, once
console.log(await ask(replayModel(file))) // the same run, offline
rmSync(folder, { recursive: true })
