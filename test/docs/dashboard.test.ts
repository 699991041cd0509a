/** The dashboard for Grafana asks for metrics and labels that there are. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { createRuntime, defineAgent } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'

interface Dashboard {
  readonly panels: readonly {
    readonly title: string
    readonly description: string
    readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
    readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[]
  }[]
  readonly templating: { readonly list: readonly { readonly name: string; readonly query: string }[] }
}

const { panels, templating } = JSON.parse(
  readFileSync(new URL('../../docs/grafana/witan.json', import.meta.url), 'utf8'),
) as Dashboard

/** Every series of a process that has called a model, by its name, with the names of its labels. */
async function seriesShown(): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const usage = { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0, reasoningTokens: 0 }
  const model = scriptedModel(() => ({ text: 'ok', usage }))
  const agents = [defineAgent({ id: 'clerk', instructions: 'Work.', model })]
  const runtime = createRuntime({ agents, telemetry: { metrics: true } })
  await runtime.conversation('clerk').run('hello')
  const text = await runtime.metrics()
  await runtime.close()
  const series = new Map<string, Set<string>>()
  for (const [, name = '', labels = ''] of text.matchAll(/^([a-z_]+)(?:\{(.*)\})? /gm)) {
    const known = series.get(name) ?? new Set(['job'])
    for (const [, label = ''] of labels.matchAll(/([a-z_]+)="/g)) known.add(label)
    series.set(name, known)
  }
  return series
}

test('every query names series that a process shows, and labels that they have', async () => {
  const series = await seriesShown()
  const used = new Set<string>()
  const queries = [
    ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
    ...templating.list.map(({ query }) => query),
  ]
  for (const query of queries) {
    for (const [name] of query.matchAll(/\b(?:gen_ai_client|witan)_[a-z_]+/g)) {
      assert.ok(series.has(name), `${name} in ${query}`)
      used.add(name)
    }
    const name = /\b(?:gen_ai_client|witan)_[a-z_]+/.exec(query)?.[0] ?? ''
    const labels = [...query.matchAll(/\{([^}]*)\}/g)].flatMap(([, inner = '']) => [...inner.matchAll(/([a-z_]+)=/g)])
    const grouped = [...query.matchAll(/by \(([^)]*)\)/g)].flatMap(([, inner = '']) => inner.split(', '))
    for (const label of [...labels.map(([, one = '']) => one), ...grouped])
      assert.ok(series.get(name)?.has(label), `${label} in ${query}`)
  }
  const families = [...series.keys()].map((name) => name.replace(/_(bucket|sum|count)$/, ''))
  for (const family of families)
    assert.ok(
      [...used].some((name) => name === family || name.startsWith(`${family}_`)),
      `no panel shows ${family}`,
    )
})

test('panels have titles and explanations, and do not cover each other', () => {
  const taken = new Set<string>()
  for (const { title, description, gridPos } of panels) {
    assert.ok(title.length > 3 && description.length > 10, title)
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1)
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
        assert.ok(x < 24 && !taken.has(`${x} ${y}`), title)
        taken.add(`${x} ${y}`)
      }
  }
})
