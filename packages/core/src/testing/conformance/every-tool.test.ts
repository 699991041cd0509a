/** No source of tools is left out of the conformance kit. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

test('the tools of every source of a runtime pass the kit', () => {
  const read = (file: string) => readFileSync(new URL(file, import.meta.url), 'utf8')
  const imported = /^import \{.*\b(\w+Tools)\b.*\} from '\.\.\/(?:edge|tool\/kinds)\//gm
  const sources = [...read('../../runtime/toolset.ts').matchAll(imported)].map(([, name]) => String(name))
  const tested = [
    'tool.test.ts',
    'knowledge-tools.test.ts',
    'memory-tools.test.ts',
    'mcp-tools.test.ts',
    'task-tools.test.ts',
    'edge.test.ts',
  ]
    .map(read)
    .join('')
  assert.ok(sources.length > 10, sources.join())
  // What an agent demands is the body of its call: no model is offered it, so it has a name that no provider takes.
  assert.deepEqual(
    sources.filter((name) => !tested.includes(`import { ${name} }`)),
    ['demandTools'],
  )
})
