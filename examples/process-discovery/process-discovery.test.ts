/** The example as a person meets it: the comparison, the check, and no key in the environment. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createRuntime } from '@witan/core'
import { compare, run } from './command.ts'
import type { Measured } from './compare/measured.ts'
import { run as measure, truth } from './compare/run.ts'
import { saveModel } from './compare/save.ts'
import { faultsOf } from './model/faults.ts'
import { setupsOf } from './setups/all.ts'
import { byScript } from './setups/setup.ts'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

test('[Tb16] [Tb28] four set-ups of one task are compared: what they cost, whom they asked, what they found and missed', async () => {
  const { code, out, err } = await compare(['--json'])
  assert.equal(code, 0, err)
  const { model, setups } = JSON.parse(out) as { model: string; setups: Measured[] }
  assert.equal(model, 'script')
  const byName = Object.fromEntries(setups.map((one) => [one.setup, one]))
  assert.deepEqual(Object.keys(byName), ['monolithic', 'duo', 'manager', 'team'])
  for (const one of setups) {
    assert.deepEqual([one.status, one.problem], ['completed', null], one.setup)
    const sum = Object.values(one.byAgent).reduce((all, { modelCalls }) => all + modelCalls, 0)
    assert.equal(sum, one.modelCalls, `${one.setup}: its agents made all of its calls`)
    assert.ok(one.inputTokens > 1000 && one.outputTokens > 500 && one.versions > 1)
  }
  // What a set-up passes on decides what it can find; the scripts are the same.
  const { monolithic, duo, manager, team } = byName as Record<string, Measured>
  assert.deepEqual([monolithic?.messages, monolithic?.faultsFound, monolithic?.faultsLeft], [0, 3, []])
  assert.deepEqual([duo?.faultsFound, duo?.faultsLeft], [3, []])
  assert.deepEqual([team?.faultsFound, team?.faultsLeft], [3, []])
  assert.deepEqual(manager?.faultsLeft, [
    'wrong condition: Write the estimate → Ask the customer for approval',
    'wrong condition: Write the estimate → Look for the parts',
  ])
  assert.ok((team?.modelCalls ?? 0) > (monolithic?.modelCalls ?? 0))
  assert.ok((team?.messages ?? 0) > (manager?.messages ?? 0))
})

test('the table says that scripts play, is aligned, and has no colours on a pipe', async () => {
  const { code, out, err } = await compare(['--setup', 'duo', '--setup', 'monolithic'])
  assert.equal(code, 0, err)
  const [first, , ...rows] = out.trimEnd().split('\n')
  assert.match(first ?? '', /no language model is called/)
  assert.deepEqual(
    rows.map((row) => row.split(/ {2,}/)[0]),
    ['set-up', 'monolithic', 'duo'],
  )
  assert.equal(new Set(rows.map((row) => row.length)).size, 1, out)
  assert.ok(!out.includes('\u001b'))
  assert.match(err, /^monolithic: \d+ model calls, \d+ questions\nduo: /)
})

test('a mistake on the command line is said with what there is, and a missing key by its variable', async () => {
  const cases: readonly [readonly string[], RegExp][] = [
    [['--setup', 'trio'], /"trio" is no set-up\. There are monolithic, duo, manager, team\./],
    [['--model', 'gpt-5'], /"gpt-5" names no model\..*openai, anthropic, google, mistral, openrouter, local, own\./],
    [['--model', 'openai/gpt-5-mini'], /^OPENAI_API_KEY is not set\./],
    [['--model', 'own/x'], /^WITAN_BASE_URL is not set\./],
    [['--colour'], /--colour/],
    [['--mlflow', 'here'], /^--mlflow takes an http or https address\./],
    [['--mlflow', 'http://127.0.0.1:9'], /^MLflow at 127\.0\.0\.1:9 does not answer\./],
  ]
  const all = await Promise.all(cases.map(([words]) => compare(words)))
  for (const [index, { code, out, err }] of all.entries()) {
    assert.deepEqual([code, out], [2, ''])
    assert.match(err, cases[index]?.[1] ?? /$^/)
    assert.doesNotMatch(err, /\n {4}at /, 'no stack')
  }
})

test('with a model every agent asks it; one that makes no model is reported, and nothing hangs', async () => {
  const asked: { readonly authorization: string | undefined; readonly body: string }[] = []
  const server = createServer(async (request, response) => {
    asked.push({ authorization: request.headers.authorization, body: await text(request) })
    const message = { role: 'assistant', content: 'I would\n\u001b[2J rather not.' }
    const usage = { prompt_tokens: 100, completion_tokens: 5 }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ model: 'm-1', choices: [{ index: 0, message, finish_reason: 'stop' }], usage }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const env = { WITAN_BASE_URL: `http://127.0.0.1:${port}/v1`, WITAN_API_KEY: 'key-of-mine' }
  const { code, out } = await compare(['--model', 'own/m-1', '--setup', 'team'], env)
  server.close()
  assert.equal(code, 0, out)
  assert.match(out, /^Model: own\/m-1\n/)
  assert.match(out, /\nteam +4 +1 +100 +5 .* no model /)
  assert.match(
    out,
    /\nteam: it saved no process model\. Its last words: “I would \[2J rather not\.”\nteam: .* Try a larger one/,
  )
  assert.equal(asked[0]?.authorization, 'Bearer key-of-mine')
  assert.match(asked[0]?.body ?? '', /office-interviewer_ask/)
  assert.doesNotMatch(asked[0]?.body ?? '', /Ines|Marek/, 'no name of a person reaches a model')
})

test('there is nothing to say against its agents and protocols', async () => {
  const { out } = await run([here('../../packages/cli/bin/witan.js'), 'check', '--config', here('./witan.config.ts')], {
    WITAN_STORE_URL: 'memory:',
  })
  assert.match(out, /0 errors, 0 warnings/)
})

test('the figures in the README are those of the command', async () => {
  const { setups } = JSON.parse((await compare(['--json'])).out) as { setups: Measured[] }
  const page = readFileSync(here('./README.md'), 'utf8')
  const count = (value: number) => value.toLocaleString('en-US')
  for (const one of setups) {
    const { agents, modelCalls, inputTokens, outputTokens, questions, messages, faultsFound, faultsLeft } = one
    const cells = [
      agents,
      modelCalls,
      inputTokens,
      outputTokens,
      questions,
      messages,
      faultsFound,
      faultsLeft?.length ?? 0,
    ]
    const row = `| ${one.setup} | ${cells.map(count).join(' | ')} |`
    assert.ok(page.includes(row), `the README lacks: ${row}`)
  }
})

test('[Tb30] the outcome is saved as two artifacts, of which the drawing names the model that it is of', async () => {
  const { default: config } = await import('./witan.config.ts')
  const runtime = createRuntime({ agents: config.agents, protocols: config.protocols })
  const setup = setupsOf(byScript).find(({ name }) => name === 'team')
  assert.ok(setup)
  const { conversation } = await measure(runtime, setup, () => {})
  const { items } = await runtime.artifacts.list(conversation)
  const [model, drawing] = [items.findLast(({ name }) => name === 'process-model.json'), items.at(-1)]
  assert.deepEqual([drawing?.name, drawing?.agent, drawing?.inputs.at(-1)], ['process-model.mmd', 'modeler', model?.id])
  const folder = mkdtempSync(join(tmpdir(), 'witan-discovery-'))
  await saveModel(runtime, { setup: 'team', conversation }, folder)
  await runtime.close()
  assert.match(readFileSync(join(folder, 'team-process-model.mmd'), 'utf8'), /^flowchart LR\n[\s\S]*"Repair the bike"/)
  assert.deepEqual(faultsOf(JSON.parse(readFileSync(join(folder, 'team-process-model.json'), 'utf8')), truth), [])
  rmSync(folder, { recursive: true })
})
