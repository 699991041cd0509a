/** What `witan dev` keeps while its configuration changes and while it is stopped, and what it finds by itself. */
import assert from 'node:assert/strict'
import { mkdtemp, rename, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { type Running, start } from './testing/program.ts'
import { deskConfig } from './testing/witan.ts'

const studio = /Studio +(http\S+)\n/

/** A folder of its own, and programs that end with the test. */
async function place(context: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'witan-dev-'))
  const running: Running[] = []
  context.after(async () => {
    await Promise.all(running.map((one) => one.stop()))
    await rm(folder, { recursive: true })
  })
  const dev = (...words: string[]) => {
    const program = start(folder, 'dev', ...words)
    running.push(program)
    return program
  }
  /** Puts the whole file in its place at once: nobody reads half of it. */
  const write = async (description: string, more: object = {}) => {
    const connections = { play: { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:9/v1' } }
    const agents = [{ id: 'desk', model: 'play/m', instructions: 'Help.', description }]
    await writeFile(join(folder, 'next.json'), JSON.stringify({ connections, agents, ...more }))
    await rename(join(folder, 'next.json'), join(folder, 'witan.config.json'))
  }
  return { folder, dev, write }
}

function tokenOf(page: string): string {
  return new URL(page).searchParams.get('token') ?? ''
}

async function description(page: string, token = tokenOf(page)): Promise<string> {
  const headers = { authorization: `Bearer ${token}` }
  const reply = await fetch(new URL('/api/v1/agents/desk', page), { headers })
  assert.equal(reply.status, 200)
  return ((await reply.json()) as { description: string }).description
}

describe('witan dev', () => {
  for (const url of ['file:./data/app.db', 'memory:']) {
    const file = url === 'memory:' ? join('.witan', 'dev-token') : join('data', 'app.db.dev-token')
    test(`keeps its token over a change of the configuration and over a restart, in a file of this user alone (${url})`, async (context) => {
      const { folder, dev, write } = await place(context)
      await write('One.', { store: { url } })
      const first = dev()
      const page = await first.until(studio)
      assert.match(tokenOf(page), /^[\w-]{43}$/)
      await write('Two.', { store: { url } })
      const again = await first.until(studio)
      assert.equal(again, page)
      assert.equal(await description(page), 'Two.')
      assert.equal((await stat(join(folder, file))).mode & 0o777, 0o600)
      assert.equal(await first.stop(), 0)
      const second = await dev().until(studio)
      assert.equal(tokenOf(second), tokenOf(page))
      assert.equal(await description(second), 'Two.')
    })
  }

  test('keeps its token where the configuration moves the store', async (context) => {
    const { dev, write } = await place(context)
    await write('One.', { store: { url: 'memory:' } })
    const first = dev()
    const page = await first.until(studio)
    await write('Two.', { store: { url: 'file:./app.db' } })
    assert.equal(await first.until(studio), page)
    await first.stop()
    assert.equal(tokenOf(await dev().until(studio)), tokenOf(page))
  })

  test('prints the page of the conversation that its first run was in', async (context) => {
    const { dev } = await place(context)
    const words = [
      '--config',
      deskConfig,
      '--run',
      'front-desk',
      '--message',
      'Who is my manager?',
      '--param',
      'userId=employees/3',
    ]
    const page = new URL(await dev(...words).until(studio))
    const conversation = /^\/conversations\/(chats:[\w-]+)$/.exec(page.pathname)?.[1]
    const headers = { authorization: `Bearer ${tokenOf(page.href)}` }
    const reply = await fetch(new URL(`/api/v1/conversations/${conversation}`, page), { headers })
    assert.equal(((await reply.json()) as { agent: string }).agent, 'front-desk')
  })

  test('takes up a configuration that appears in its folder, also after one that was wrong', async (context) => {
    const { folder, dev, write } = await place(context)
    const program = dev()
    const page = await program.until(studio)
    await writeFile(join(folder, 'witan.config.json'), '{ "agents": ')
    await program.until(/(is not JSON)/)
    await write('Here.')
    const after = await program.until(studio)
    assert.equal(after, page)
    assert.equal(await description(page), 'Here.')
    await write('Changed.')
    await program.until(studio)
    assert.equal(await description(page), 'Changed.')
  })
})
