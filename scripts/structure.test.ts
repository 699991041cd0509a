import assert from 'node:assert/strict'
import test from 'node:test'
import type { Manifest } from './structure/source.ts'
import { sourceFile } from './structure/source.ts'
import { checkTree } from './structure.ts'

const entry = (name: string) => ({ '.': { 'witan-source': `./src/${name}.ts` } })
const manifests = new Map<string, Manifest>([
  ['', { devDependencies: { 'fast-check': '4' } }],
  ['packages/protocol', { name: '@witan/protocol', exports: entry('index'), dependencies: { zod: '4' } }],
  ['packages/core', { name: '@witan/core', exports: entry('index'), dependencies: { zod: '4' } }],
  ['packages/client', { name: '@witan/client', exports: entry('index') }],
  ['packages/server', { name: '@witan/server', exports: entry('index'), dependencies: { hono: '4' } }],
  ['packages/studio', { name: '@witan/studio', exports: entry('index'), devDependencies: { react: '19' } }],
])

/** What the checks say about a tree of these files, one line each. */
function check(files: Record<string, string>, folders: readonly string[] = []): string[] {
  const sources = new Map(Object.entries(files).map(([path, text]) => [path, sourceFile(path, text)]))
  return checkTree({ files: sources, manifests, builds: new Map(), folders }).map(({ file, what }) => `${file} ${what}`)
}

const core = (path: string, target: string) =>
  check({ [`packages/core/src/${path}`]: `import type { X } from '${target}'\n` })

test('a tidy tree has no violation', () => {
  const files = {
    'packages/protocol/src/index.ts': "export type { Id } from './id.ts'\n",
    'packages/protocol/src/id.ts': '/** An id. */\nexport type Id = string\n',
    'packages/core/src/index.ts': "export { createRuntime } from './runtime.ts'\n",
    'packages/core/src/runtime.ts': "import { a } from './edge/peer.ts'\n/** All. */\nexport const createRuntime = a\n",
    'packages/core/src/edge/peer.ts': "import type { Id } from '@witan/protocol'\n/** A. */\nexport const a: Id = ''\n",
    'packages/core/src/edge/peer.test.ts': "import { createRuntime } from '../runtime.ts'\n",
    'packages/server/src/index.ts': "import { folder } from '@witan/studio'\nimport { Hono } from 'hono'\n",
  }
  assert.deepEqual(check(files), [])
})

test('a package is built after those that it depends on', () => {
  const needs = new Map(manifests)
  needs.set('packages/server', { name: '@witan/server', dependencies: { '@witan/core': '1', hono: '4' } })
  const built = (references: readonly string[]) => {
    const builds = new Map([
      ['packages/core', []],
      ['packages/server', references],
    ])
    return checkTree({ files: new Map(), manifests: needs, builds, folders: [] }).map(
      ({ file, what }) => `${file} ${what}`,
    )
  }
  assert.deepEqual(built(['packages/core']), [])
  const beside = 'packages/server/tsconfig.build.json is built beside @witan/core, which it depends on'
  assert.deepEqual(built(['packages/protocol']), [beside])
})

test('a lower floor may not import a higher one', () => {
  for (const [from, to] of [
    ['agent/agent.ts', '../store/store.ts'],
    ['store/store.ts', '../run/loop.ts'],
    ['tool/tool.ts', './kinds/query.ts'],
    ['run/perform.ts', '../edge/peer.ts'],
    ['run/perform.ts', '../store/drivers/sqlite.ts'],
    ['run/perform.ts', '../model/adapters/ai-sdk.ts'],
    ['run/perform.ts', '../runtime.ts'],
    ['telemetry/otlp.ts', '../runtime/parts.ts'],
    ['federation/sign.ts', '../run/perform.ts'],
    ['federation/sign.ts', '../telemetry/otlp.ts'],
  ] as const) {
    assert.equal(core(from, to).length, 1, `${from} imports ${to}`)
  }
})

test('on floors 1 to 3 a folder imports only those to its left', () => {
  assert.equal(core('tool/tool.ts', '../model/model.ts').length, 0)
  assert.equal(core('model/model.ts', '../tool/tool.ts').length, 1)
  assert.equal(core('conversation/fold.ts', '../store/store.ts').length, 0)
  assert.equal(core('store/store.ts', '../conversation/fold.ts').length, 1)
  assert.equal(core('agent/check/cycle.ts', '../agent.ts').length, 0)
  assert.equal(core('agent/agent.ts', './check/cycle.ts').length, 1)
  assert.equal(core('worker/worker.ts', '../run/loop.ts').length, 0)
  assert.equal(core('run/loop.ts', '../worker/worker.ts').length, 1)
  assert.equal(core('run/loop.ts', '../command/accept.ts').length, 1)
})

test('a leaf imports floors 0 to 2, its own files, and nothing else', () => {
  assert.equal(core('edge/peer.ts', '../task/task.ts').length, 0)
  assert.equal(core('store/drivers/sqlite/driver.ts', '../sqlite.ts').length, 0)
  const parts = { 'a.ts': '', 'a-one.ts': "import './a-two.ts'", 'a-two.ts': "import './b.ts'", 'b.ts': '' }
  const leaf = Object.entries(parts).map(([name, text]) => [`packages/core/src/tool/kinds/${name}`, `${text}\n`])
  assert.match(check(Object.fromEntries(leaf)).join(), /^\S+a-two\.ts imports \S+b\.ts$/)
  assert.equal(core('edge/peer.ts', './sub-agent.ts').length, 1)
  assert.equal(core('edge/peer.ts', '../tool/kinds/query.ts').length, 1)
  assert.equal(core('edge/peer.ts', '../run/decide.ts').length, 1)
})

test('only entries and tests import testing/ and replay/, nobody the barrel, and every file has a floor', () => {
  assert.equal(core('runtime.ts', './testing/clock.ts').length, 1)
  assert.equal(core('index.ts', './testing/clock.ts').length, 0)
  assert.equal(core('runtime/witan.ts', '../replay/replay.ts').length, 1)
  assert.equal(core('export.ts', './replay/replay.ts').length, 0)
  assert.equal(core('replay/stage.ts', '../runtime/wiring.ts').length, 0)
  assert.equal(core('conformance.ts', './testing/conformance/edge.ts').length, 0)
  assert.equal(core('runtime.ts', './index.ts').length, 1)
  assert.match(core('magic/wand.ts', 'zod').join(), /stands on no floor/)
})

test('the lower floors do no I/O and nobody imports what the package does not declare', () => {
  assert.match(core('agent/registry.ts', 'node:fs').join(), /imports node:fs/)
  assert.equal(core('store/drivers/sqlite.ts', 'node:sqlite').length, 0)
  assert.match(core('model/adapters/ai-sdk.ts', 'ai').join(), /imports undeclared ai/)
})

test('packages import along the arrows, by declared entries only', () => {
  const from = (path: string, target: string) => check({ [path]: `import { x } from '${target}'\n` })
  assert.equal(from('packages/protocol/src/a.ts', '@witan/core').length, 1)
  assert.equal(from('packages/client/src/a.ts', '@witan/core').length, 1)
  assert.equal(from('packages/studio/src/a.tsx', '@witan/core').length, 1)
  assert.equal(from('packages/core/src/runtime.ts', '@witan/server').length, 1)
  assert.equal(from('packages/server/src/a.ts', '@witan/studio/src/app.tsx').length, 1)
  assert.equal(from('packages/server/src/a.ts', '../../core/src/runtime.ts').length, 1)
  assert.equal(from('test/scenarios/a.test.ts', '../../packages/core/src/runtime.ts').length, 1)
  assert.equal(from('packages/server/src/a.ts', '@witan/server').length, 1)
  assert.equal(from('packages/server/bin/witan.js', '@witan/server').length, 0)
  assert.equal(from('packages/client/src/a.test.ts', '@witan/server').length, 0)
})

test('a ring of files is reported once, type imports and tests included', () => {
  const ring = {
    'test/a.ts': "import type { B } from './b.ts'",
    'test/b.ts': "export * from './c.ts'",
    'test/c.ts': "import './a.ts'",
  }
  assert.deepEqual(check(ring), ['test/a.ts imports itself through test/a.ts → test/b.ts → test/c.ts → test/a.ts'])
})

test('imports in comments do not count; those over several lines and dynamic ones do', () => {
  const file = sourceFile(
    'a.ts',
    "// import './no.ts'\n/* from './no.ts' */\nimport {\n  a,\n} from './yes.ts'\nawait import('./too.ts')\n",
  )
  assert.deepEqual(file.imports, ['./yes.ts', './too.ts'])
})

test('folders named for nothing, inner barrels, long barrels and starred ones are reported', () => {
  assert.equal(check({}, ['packages/core/src/utils', 'test/helpers', 'packages/core/src/run']).length, 2)
  assert.match(check({ 'packages/server/src/routes/index.ts': '' }).join(), /barrel inside/)
  assert.match(check({ 'packages/client/src/index.ts': "export * from './a.ts'\n" }).join(), /with \*/)
  const names = Array.from({ length: 61 }, (_, index) => `  n${index},\n`).join('')
  assert.match(
    check({ 'packages/client/src/index.ts': `export {\n${names}} from './a.ts'\n` }).join(),
    /exports 61 names/,
  )
})

test('classes are small and inherit from errors only; decorators are not used', () => {
  const members = Array.from({ length: 13 }, (_, index) => `  m${index}(): void {\n    return\n  }\n`).join('')
  assert.match(check({ 'bench/a.ts': `class Big {\n${members}}\n` }).join(), /class Big has 13 members/)
  assert.match(check({ 'bench/a.ts': 'class Dog extends Animal {\n}\n' }).join(), /extends Animal/)
  assert.deepEqual(check({ 'bench/a.ts': 'class Gone extends RangeError {\n  code = 1\n}\n' }), [])
  assert.match(check({ 'bench/a.ts': '@sealed\nclass A {\n}\n' }).join(), /decorator/)
})

test('the core takes time and chance from its runtime', () => {
  const text = 'const a = Date.now()\nconst b = new Date()\nconst c = Math.random()\n'
  assert.equal(check({ 'packages/core/src/run/loop.ts': text }).length, 3)
  assert.deepEqual(check({ 'packages/core/src/runtime/clock.ts': text, 'packages/core/src/run/a.test.ts': text }), [])
  assert.deepEqual(
    check({ 'packages/core/src/run/a.ts': "const say = 'Date.now()' // Math.random\nconst d = new Date(0)\n" }),
    [],
  )
})

test('the loop stays short and exported names of the libraries are described', () => {
  assert.match(check({ 'packages/core/src/run/loop.ts': 'a\n'.repeat(101) }).join(), /has 101 lines/)
  assert.match(check({ 'packages/client/src/a.ts': 'export const a = 1\n' }).join(), /exports a without/)
  const shape = '/** What. */\nexport const shape = z.string()\nexport type Shape = z.infer<typeof shape>\n'
  const others = { 'packages/server/src/b.ts': 'export const b = 1\n' }
  const users = {
    'packages/client/src/a.test.ts': "import { type Shape, shape } from './a.ts'\n",
    'packages/server/src/b.test.ts': "import { b } from './b.ts'\n",
  }
  assert.deepEqual(check({ 'packages/client/src/a.ts': shape, ...others, ...users }), [])
})

test('a file exports only what another one imports', () => {
  const a = '/** A. */\nexport const a = 1\n/** B. */\nexport interface B {}\n'
  const found = (files: Record<string, string>) => check({ 'packages/client/src/a.ts': a, ...files }).join()
  assert.match(found({}), /exports a, which no other file imports.*exports B, which/)
  for (const [text, left] of [
    ["import { a } from './a.ts'", /^\S+ exports B, which no other file imports$/],
    ["import type { B } from './a.ts'", /^\S+ exports a, which no other file imports$/],
    ["import { a as b, type B } from './a.ts'", /^$/],
    ["import * as all from './a.ts'", /^$/],
    ["const { a } = await import('./a.ts')", /^$/],
    ["// import { a } from './a.ts'", /exports a, .*exports B/],
  ] as const)
    assert.match(found({ 'packages/client/src/b.test.ts': `${text}\n` }), left, text)
  const index = "export { a as c } from './a.ts'\nexport type { B } from './a.ts'\n"
  assert.equal(found({ 'packages/client/src/index.ts': index }), '')
  assert.match(found({ 'packages/client/src/b.ts': index }), /b\.ts exports c, .*b\.ts exports B, /)
})

test('a test file that shares its process hooks only its own tests', () => {
  const text = "before(() => {})\ndescribe('a', () => {\n  before(() => {})\n})\n"
  assert.equal(check({ 'packages/core/src/run/a.test.ts': text }).length, 1)
  assert.equal(check({ 'test/acceptance/a.test.ts': text }).length, 0)
})

test('properties are checked in one place, which knows their seeds', () => {
  for (const text of ['fc.assert(property, { seed })\n', 'await fc.check(\n  property,\n  { numRuns: 9 },\n)\n'])
    assert.match(check({ 'packages/core/src/run/a.test.ts': text }).join(), /checks a property by itself/)
  assert.deepEqual(check({ 'packages/core/src/run/a.test.ts': 'await holds(context, property, 9)\n' }), [])
})

test('connections begin where a table says so, with who names the address, and follow no redirect', () => {
  const begins: Readonly<Record<string, string>> = {
    'a global': 'export default await fetch(at)\n',
    'a global by its name': 'const get = globalThis.fetch\n',
    'a global in place of one that is handed in': 'const way = { fetch: options.fetch ?? fetch }\n',
    'a module': "import { request } from 'node:https'\n",
    'a module beside a type of it': "import {\n  type Server,\n  get as read,\n} from 'node:http'\n",
    'a whole module': "import * as net from 'node:net'\n",
    'a module without its scheme': "import tls from 'tls'\n",
    'a module that is imported later': "const { Pool } = await import('pg')\n",
    'a package': "import { request } from 'undici'\n",
    'a socket': 'const socket = new WebSocket(at)\n',
    'keys that are fetched': "import { createRemoteJWKSet } from 'jose'\nconst keys = createRemoteJWKSet(at)\n",
  }
  const found = (path: string, text: string) => check({ [path]: text }).filter((one) => /connection|redirect/.test(one))
  for (const [what, text] of Object.entries(begins)) {
    for (const path of ['packages/core/src/edge/remote.ts', 'packages/server/src/a.ts', 'packages/cli/src/a.ts'])
      assert.match(found(path, text).join(), /^\S+ .* may begin a connection$/, what)
    assert.deepEqual(found('packages/core/src/edge/remote.test.ts', text), [], what)
  }
  const none: Readonly<Record<string, string>> = {
    'one that is handed in': 'async function read({ fetch }: Way) {\n  await fetch(at)\n}\n',
    'the method of something': 'await services.fetch(at)\n',
    'a word': "const say = 'fetch(at)' // fetch(at)\n",
    'a server': "import { createServer, type Server } from 'node:http'\nimport { isIP } from 'node:net'\n",
    'a type': "import type { Pool } from 'pg'\n",
  }
  for (const [what, text] of Object.entries(none))
    assert.deepEqual(found('packages/core/src/edge/a.ts', text), [], what)
  const keys = 'packages/server/src/issuer-keys.ts'
  assert.match(found(keys, 'await fetch(url, { signal })\n').join(), /follows redirects/)
  assert.deepEqual(found(keys, "await fetch(url, { redirect: 'error' })\n"), [])
  assert.match(found(keys, 'const a = 1\n').join(), /begins none|beginning connections/)
})
