/** However long a collector is away, and however large the spans are, what waits for it holds less than 20 MB. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type Apart, openApart } from '../support/apart.ts'
import type { Filled, Filling } from '../support/full-queue.ts'

const fillings: readonly Filling[] = [
  { kind: 'otlp', protocol: 'http/protobuf', characters: 64_000, runs: 150 },
  { kind: 'otlp', protocol: 'http/json', characters: 64_000, runs: 150 },
  { kind: 'otlp', protocol: 'http/protobuf', characters: 20_000, runs: 400 },
  { kind: 'mlflow', protocol: 'http/protobuf', characters: 64_000, runs: 150 },
]

describe('the queue of an exporter', () => {
  let apart: Apart
  before(() => {
    apart = openApart()
  })
  after(() => apart.close())
  for (const filling of fillings) {
    const { kind, protocol, characters } = filling
    test(`[E80] ${kind}, ${protocol}: full of texts of ${characters} characters it holds less than 20 MB`, async (context) => {
      const module = fileURLToPath(new URL('../support/full-queue.ts', import.meta.url))
      const { held, queued, dropped } = await apart.run<Filled>(module, 'fill', filling)
      context.diagnostic(`${held.toFixed(1)} MB hold ${queued} spans; ${dropped} were dropped`)
      assert.ok(dropped > 0, 'the queue was not full')
      assert.ok(queued > 0 && held > 2, 'hardly anything is held')
      assert.ok(held < 20, `${held} MB`)
    })
  }
})
