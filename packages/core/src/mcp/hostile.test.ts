/** MCP servers that break the protocol or its bounds: each fails in words, holds up nobody, and leaves nothing running. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { isAlive, textOf, until, withServers } from './testing/opened.ts'
import { nodeServer, sessionOf, settingsOf } from './testing/settings.ts'
import type { McpFailure, McpSettings } from '../tool/mcp/mcp.ts'

const file = 'test/support/mcp/hostile-server.ts'
const secret = 'hush-hush-7'
const hostile = (kind: string, others: Partial<McpSettings> = {}) =>
  settingsOf(kind, nodeServer(file, [kind], { SECRET: secret }), others)
const signal = new AbortController().signal

describe('a list', { concurrency: 4 }, () => {
  const kinds: readonly (readonly [string, McpFailure['reason'], RegExp])[] = [
    ['many-pages', 'protocol', /more than 20 pages/],
    ['same-page', 'protocol', /same page/],
    ['many-tools', 'protocol', /more than 500 tools/],
    ['deep-list', 'protocol', /deeper than 512/],
    ['no-list', 'unavailable', /not ready within 2 s/],
    ['never', 'unavailable', /not ready within 2 s/],
  ]
  for (const [kind, reason, words] of kinds)
    it(`that is ${kind} fails`, async () => {
      await withServers([hostile(kind, { connectTimeoutMs: 2_000 })], async ({ servers }) => {
        const list = await servers.list(sessionOf(kind), signal)
        assert.ok('kind' in list)
        assert.equal(list.reason, reason)
        assert.match(list.detail, words)
        assert.ok(list.detail.startsWith(`\`${kind}\` `))
        assert.equal(servers.standing(kind).state, 'failed')
      })
    })
  it('keeps what is a tool, in its order, each name once or more', async () => {
    await withServers([hostile('odd-tools')], async ({ servers }) => {
      const list = await servers.list(sessionOf('odd-tools'), signal)
      assert.ok(!('kind' in list))
      assert.deepEqual(
        list.tools.map(({ name }) => name),
        ['go', 'go'],
      )
    })
  })
})

describe('a call', { concurrency: 4 }, () => {
  const kinds: readonly (readonly [string, McpFailure['reason'], RegExp])[] = [
    ['long-line', 'protocol', /more than 16 MiB/],
    ['endless-line', 'protocol', /more than 16 MiB/],
    ['deep', 'protocol', /deeper than 512/],
    ['many-values', 'protocol', /too many values/],
    ['silent', 'timeout', /did not answer within 700 ms/],
    ['pings', 'timeout', /did not answer within 700 ms/],
    ['flood', 'timeout', /did not finish a call within 1500 ms/],
    ['dies', 'lost', /ended \(exit code 3\)/],
    ['killed', 'lost', /ended \(SIGKILL\)/],
    ['no-result', 'protocol', /without a result/],
    ['odd-content', 'protocol', /no list of parts/],
    ['error', 'failed', /answered with an error: \[31m\[hidden\] e+…$/],
  ]
  for (const [kind, reason, words] of kinds)
    it(`that is ${kind} fails`, async () => {
      const limits =
        kind === 'flood' || kind === 'silent' || kind === 'pings' ? { timeoutMs: 700, maxTotalMs: 1_500 } : {}
      await withServers([hostile(kind, limits)], async ({ call, reported }) => {
        const answer = await call(kind, 'go')
        assert.equal(answer.kind, 'failed')
        assert.equal(answer.reason, reason, answer.detail)
        assert.match(answer.detail, words)
        assert.ok(answer.detail.length < 400)
        assert.deepEqual(reported, [])
      })
    })

  const odd: readonly (readonly [string, RegExp])[] = [
    ['twice', /^first$/],
    ['other-id', /^yes$/],
    ['samples', /-32601/],
    ['elicits', /"action":"cancel"/],
    ['roots', /-32601/],
    ['odd-progress', /^done$/],
  ]
  for (const [kind, words] of odd)
    it(`that is ${kind} is answered`, async () => {
      await withServers([hostile(kind)], async ({ call }) => {
        assert.match(textOf(await call(kind, 'go')), words)
        assert.match(textOf(await call(kind, 'go')), words)
      })
    })
  it('has a short progress', async () => {
    const seen: unknown[] = []
    await withServers([hostile('odd-progress')], async ({ call }) => {
      await call('odd-progress', 'go', { onProgress: (progress) => seen.push(progress) })
    })
    assert.deepEqual(seen, [{ progress: 1, total: null, message: `${'m'.repeat(999)}…` }])
  })
  it('that floods holds up no other', async () => {
    await withServers(
      [hostile('flood', { timeoutMs: 2_000, maxTotalMs: 2_000 }), hostile('echo')],
      async ({ call }) => {
        await call('echo', 'go')
        const seen: number[] = []
        const flooding = call('flood', 'go', { onProgress: ({ progress }) => seen.push(progress) })
        const delays: number[] = []
        for (let round = 0; round < 20; round++) {
          const begun = performance.now()
          assert.match(textOf(await call('echo', 'go')), /"name":"go"/)
          delays.push(performance.now() - begun)
        }
        assert.ok(Math.max(...delays) < 1_000, String(Math.max(...delays)))
        await flooding
        assert.ok(seen.length <= 21, String(seen.length))
      },
    )
  })
  it('may have a long answer, which holds nothing up', async () => {
    await withServers([hostile('big')], async ({ call }) => {
      await call('big', 'go')
      const delay = monitorEventLoopDelay({ resolution: 1 })
      delay.enable()
      const answer = await call('big', 'go')
      delay.disable()
      assert.equal(textOf(answer).length, 16 * 800_000)
      console.log(`# longest hold for ${textOf(answer).length} characters: ${(delay.max / 1e6).toFixed(1)} ms`)
    })
  })
})

describe('a process', { concurrency: 4 }, () => {
  it('gets few variables', async () => {
    process.env['WITAN_TEST_OWN'] = 'x'
    await withServers([hostile('env')], async ({ call }) => {
      const env = JSON.parse(textOf(await call('env', 'go'))) as Record<string, string>
      const known = ['PATH', 'HOME', 'USER', 'SHELL', 'LANG', 'TERM', 'TMPDIR', 'SECRET']
      assert.deepEqual(
        Object.keys(env).filter((name) => !known.includes(name) && name !== '__CF_USER_TEXT_ENCODING'),
        [],
      )
      assert.equal(env['SECRET'], secret)
    })
    delete process.env['WITAN_TEST_OWN']
  })
  it('writes bounded lines without hidden values to the log', async () => {
    await withServers([hostile('logs')], async ({ call, lines, line }) => {
      assert.equal(textOf(await call('logs', 'go')), 'done')
      await line('[logs] ')
      assert.ok(lines.length <= 42, String(lines.length))
      assert.ok(lines.every((each) => each.length < 1_020 && !each.includes(secret)))
      assert.ok(lines.some((each) => each.startsWith('[logs] info: [hidden] line 0')))
    })
  })
  it('that ignores TERM is killed, within 5 s', async () => {
    const begun = performance.now()
    await withServers([hostile('deaf')], async ({ servers, call }) => {
      await servers.list(sessionOf('deaf'), signal)
      assert.equal((await call('deaf', 'go', { signal: AbortSignal.timeout(300) })).kind, 'failed')
    })
    const took = performance.now() - begun
    assert.ok(took > 3_900 && took < 6_500, String(took))
  })
  it('ends with what it has started', async () => {
    let pid = 0
    await withServers([hostile('parent')], async ({ call, line }) => {
      await call('parent', 'go')
      pid = Number((await line('grandchild')).split(' ').pop())
      assert.ok(isAlive(pid))
    })
    assert.ok(await until(() => !isAlive(pid)))
  })
  it('that ends when it is asked for 2026 is started again', async () => {
    await withServers([hostile('exits-on-probe')], async ({ servers }) => {
      const list = await servers.list(sessionOf('exits-on-probe'), signal)
      assert.ok(!('kind' in list), JSON.stringify(list))
      assert.equal(list.protocolVersion, '2025-11-25')
    })
  })
  it('is told of a call that is cancelled', async () => {
    await withServers([hostile('silent')], async ({ servers, call, line }) => {
      await servers.list(sessionOf('silent'), signal)
      await call('silent', 'go', { signal: AbortSignal.timeout(1) })
      const abort = new AbortController()
      const waiting = call('silent', 'go', { signal: abort.signal })
      setTimeout(() => abort.abort(), 200)
      const answer = await waiting
      assert.deepEqual(answer, {
        kind: 'failed',
        reason: 'failed',
        detail: '`silent` was told that the call is cancelled.',
      })
      assert.match(await line('cancelled'), /requestId/)
    })
  })
})

it('a server that cannot be started fails at once, and is tried again later and later', async () => {
  const none = settingsOf('none', { type: 'stdio', command: '/no/such/program', args: [], cwd: null, env: {} })
  await withServers([none], async ({ servers }) => {
    const first = await servers.list(sessionOf('none'), signal)
    assert.deepEqual(first, {
      kind: 'failed',
      reason: 'unavailable',
      detail: '`none` could not be started: there is no program `/no/such/program`, or no folder to run it in.',
    })
    assert.deepEqual(await servers.list(sessionOf('none'), signal), first)
    assert.deepEqual(servers.standing('none'), { state: 'failed', list: null, error: first.detail })
  })
})
