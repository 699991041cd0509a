/** The check, through the library, over HTTP and in a terminal: the same findings everywhere, each on one line with what to do. */
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { createRuntime, type Runtime } from '@witan/core'
import type { CheckReport, Finding } from '@witan/protocol'
import { loadConfig, startServer, type WitanServer } from '@witan/server'
import { asCommand } from './hints.ts'
import { sitting } from './testing/person.ts'
import { witan } from './testing/witan.ts'
import { wrongSets } from './testing/wrong-agents.ts'
import { wrongModes } from './testing/wrong-modes.ts'
import { wrongQueries } from './testing/wrong-queries.ts'

const connections = { local: { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:1/v1' } } as const
const line = ({ agent, path, code, detail, hint }: Finding) =>
  `${`${agent} ${path}`.trimEnd()}  ${code}  ${detail}${detail.includes(hint) ? '' : ` → ${hint}`}`

let folder: string
let runtime: Runtime
let server: WitanServer
describe('check', () => {
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'witan-check-'))
    const file = join(folder, 'shop.db')
    const shop = new DatabaseSync(file)
    shop.exec('create table items (id integer, owner text)')
    shop.close()
    runtime = createRuntime({ connections, sources: { shop: { kind: 'sqlite', file } } })
    await configure([])
    const env = { WITAN_LOG_LEVEL: 'error' }
    server = await startServer(await loadConfig({ file: join(folder, 'witan.config.json'), env }))
  })
  after(async () => {
    await server.close()
    await runtime.close()
    await rm(folder, { recursive: true })
  })

  const configure = (agents: readonly unknown[], more: object = {}) => {
    const common = { store: { url: 'memory:' }, auth: { mode: 'none' }, server: { port: 0 } }
    const config = { ...common, connections, sources: { shop: { kind: 'sqlite', file: './shop.db' } }, agents, ...more }
    return writeFile(join(folder, 'witan.config.json'), JSON.stringify(config))
  }
  const overHttp = async (agents: readonly unknown[]) => {
    const headers = { 'content-type': 'application/json' }
    const reply = await fetch(`${server.url}/api/v1/check`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ agents }),
    })
    assert.equal(reply.status, 200)
    return (await reply.json()) as CheckReport
  }

  for (const { title, agents, errors, warnings } of [...wrongSets, ...wrongModes, ...wrongQueries]) {
    test(title, async () => {
      const report = await runtime.agents.check(agents)
      assert.deepEqual(report.errors.map(line), errors)
      assert.deepEqual(report.warnings.map(line), warnings)
      assert.deepEqual(await overHttp(agents), report)
      await configure(agents)
      const told = await witan(['check'], { folder })
      const marked = [
        ...report.errors.map((one) => `✗ ${asCommand(line(one))}`),
        ...report.warnings.map((one) => `! ${asCommand(line(one))}`),
      ]
      assert.deepEqual(told.out.split('\n').slice(0, marked.length), marked)
      assert.equal(told.code, report.errors.length > 0 ? 1 : 0, told.err)
      const json = await witan(['check', '--json'], { folder })
      assert.deepEqual(JSON.parse(json.out), report)
    })
  }

  test('a configuration that cannot be read is told in JSON too, to whom asks for that', async () => {
    await writeFile(join(folder, 'witan.config.json'), '{ "agents": [')
    const told = await witan(['check', '--json'], { folder })
    assert.equal(told.code, 78)
    const { errors, ...others } = JSON.parse(told.out) as CheckReport
    assert.deepEqual(others, {
      ...{ warnings: [], matrix: [], callers: [], handlers: [], protocols: [] },
      ...{ acquaintances: [], hotSpots: [] },
    })
    assert.deepEqual([errors.length, errors[0]?.code, errors[0]?.severity], [1, 'CONFIG_INVALID', 'error'])
    assert.match(told.err, /^CONFIG_INVALID/)
  })

  test('in a narrow terminal who sees what is told whole, however long the paths are', async () => {
    const names = [
      'customer-relations-department',
      'international-shipping-department',
      'returns-and-complaints-department',
    ]
    const agents = names.map((id, index) => ({
      id,
      model: 'local/any',
      instructions: 'Work.',
      parameters: [{ name: 'userId' }, { name: 'country', sendToModel: false, policy: 'forbidModelGeneration' }],
      subAgents: names.slice(index + 1, index + 2).map((agent) => ({ agent })),
      actions: index === 0 ? [] : [{ name: 'Correct' }],
    }))
    await configure(agents)
    const { screen } = await sitting(['check', '--config', join(folder, 'witan.config.json')], [])
    const lines = screen.split('\n').map((one) => one.trimEnd())
    const path = names.join('/')
    const at = lines.indexOf(path)
    assert.deepEqual(lines.slice(at, at + 3), [
      path,
      '  userId     parent        yes            no',
      '  country    parent        no             no',
    ])
    assert.ok(lines.includes('  PARAMETER  BOUND FROM    MODEL SEES IT  MODEL MAY MAKE IT'), screen)
    const handlers = lines.slice(lines.indexOf('ACTIONS THAT A CLIENT MUST HANDLE') + 1, -3)
    assert.deepEqual(handlers, [`${names[1]}/Correct`, `${names[1]}/${names[2]}/Correct`])
    assert.ok(!screen.includes('…'), screen)
  })

  test('[C31] [M24] who may call each agent, and with which of its tools, is printed in words', async () => {
    const forAnna = ['@*@b.example', 'for:mailto:anna@b.example']
    const access = { call: ['role:staff', '@*@b.example'], tools: { Pay: ['role:staff', forAnna] } }
    await configure([
      { id: 'docs', model: 'local/any', instructions: 'Work.', actions: [{ name: 'Pay' }], access },
      { id: 'open', model: 'local/any', instructions: 'Work.' },
    ])
    const { out } = await witan(['check'], { folder })
    const lines = out.split('\n').map((one) => one.trimEnd().replace(/ {2,}/g, ' | '))
    const at = lines.indexOf('AGENT | CALLER | MAY CALL | TOOLS WITH A LIST')
    assert.deepEqual(lines.slice(at + 1, at + 5), [
      'docs | anybody in the role staff | yes | Pay',
      'docs | any agent of b.example | yes',
      'docs | any agent of b.example acting for mailto:anna@b.example | yes | Pay',
      '',
    ])
  })

  test('[T19] who writes to whom is printed, exactly, with the hot spots', async () => {
    const speaks = (role: string, ...peers: string[]) => [
      { protocol: 'stock', role, ...(peers.length > 0 ? { peers } : {}) },
    ]
    const agent = (id: string, role: string, ...peers: string[]) => ({
      id,
      model: 'local/any',
      instructions: 'Work.',
      speaks: speaks(role, ...peers),
    })
    const agents = [
      agent('buyer', 'initiator', 'north', 'south'),
      agent('clerk', 'initiator', 'north'),
      agent('north', 'responder'),
      agent('south', 'responder'),
    ]
    await configure(agents, { protocols: [{ name: 'stock', messages: [{ name: 'ask', from: 'initiator' }] }] })
    const { out } = await witan(['check'], { folder })
    const at = out.indexOf('WHO WRITES')
    assert.deepEqual(out.slice(at, out.indexOf('✓')).split(/ *\n/), [
      'WHO WRITES TO WHOM',
      'buyer → north, south  stock',
      'clerk → north  stock',
      '',
      'HOT SPOTS  WRITTEN TO BY  WRITES TO',
      'buyer      0              2',
      'north      2              0',
      'clerk      0              1',
      'south      1              0',
      '',
      '',
    ])
  })
})
