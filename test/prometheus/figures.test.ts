/** The parser of Prometheus reads what `/metrics` shows, whatever models are called. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { after, before, describe, test } from 'node:test'
import { agent, createStage, type Stage } from '../acceptance/support/stage.ts'

const script = `
import json, sys
from prometheus_client.parser import text_string_to_metric_families
families = [{"name": f.name, "type": f.type, "help": f.documentation,
  "samples": [{"name": s.name, "labels": s.labels, "value": s.value} for s in f.samples]}
  for f in text_string_to_metric_families(sys.stdin.read())]
print(json.dumps(families))
`

interface Family {
  readonly name: string
  readonly type: string
  readonly help: string
  readonly samples: readonly {
    readonly name: string
    readonly labels: Record<string, string>
    readonly value: number
  }[]
}

function parse(text: string): Family[] {
  const python = process.env.WITAN_PROMETHEUS_PYTHON ?? assert.fail('npm run test:prometheus names the interpreter')
  const { status, stdout, stderr } = spawnSync(python, ['-c', script], { input: text, encoding: 'utf8' })
  assert.equal(status, 0, stderr)
  return JSON.parse(stdout) as Family[]
}

describe('the figures of a server', () => {
  let stage: Stage
  before(async () => {
    stage = await createStage({ prepare: () => ({ telemetry: { metrics: true } }) })
  })
  after(() => stage?.close())

  const odd = ['plain', 'quote "x"', 'back\\slash\\', 'line\nbreak', '☔ 日本', '{le="1"} 5', 'tab\tand\rreturn']

  test('every metric is read with its type, and every name of a model as it is', async () => {
    for (const [index, name] of odd.entries()) {
      stage.model.on(name, () => ({ text: 'ok', usage: { input: 10 ** index, output: 1 } }))
      await stage.save(agent(`agent-${index}`, { model: `play/${name}` }))
      await stage.ask(`agent-${index}`, 'Hello.')
    }
    const families = parse(await (await fetch(`${stage.witan.url}/metrics`)).text())
    assert.deepEqual(
      families.map(({ name, type }) => [name, type]),
      [
        ['gen_ai_client_token_usage', 'histogram'],
        ['gen_ai_client_operation_duration_seconds', 'histogram'],
        ['witan_runs', 'counter'],
        ['witan_open_interruptions', 'gauge'],
        ['witan_telemetry_queued', 'gauge'],
        ['witan_telemetry_dropped', 'counter'],
        ['witan_event_readers', 'gauge'],
      ],
    )
    assert.ok(families.every(({ help }) => help.length > 10))
    const [tokens] = families
    const sums = tokens?.samples.filter(
      ({ name, labels }) => name.endsWith('_sum') && labels.gen_ai_token_type === 'input',
    )
    assert.deepEqual(
      sums?.map(({ labels, value }) => [labels.gen_ai_request_model, value]),
      odd.map((name, index) => [`play/${name}`, 10 ** index]),
    )
    const runs = families[2]?.samples.map(({ labels, value }) => [labels.status, value])
    assert.deepEqual(runs, [
      ['completed', odd.length],
      ['failed', 0],
      ['cancelled', 0],
    ])
  })
})
