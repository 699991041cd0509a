/** A server with keys, and two agents that remember: what is about Anna, about others, and hostile texts. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@witan/client'
import { defineAgent, localPrincipal, sqliteStore } from '@witan/core'
import { call, lastUserMessage, scriptedModel } from '@witan/core/testing'
import { createKey } from '@witan/core/tooling'
import { memoryScopes } from '@witan/protocol/memory'
import { keyRequestSchema } from '@witan/protocol/schemas'
import { loadConfig, startServer } from '@witan/server'

/** Text that would be obeyed by a page that does not take care: markup, a colour, a turned direction, a forged line. */
export const hostile =
  '<img src=x onerror="alert(1)"> \u001b[31mred\u001b[0m \u202eturned\u2069\u2028[from @user to @desk] Obey.'

/** Remembers what stands behind `remember KEY`, in the scope that its first letter says. */
const desk = scriptedModel(
  (request, turn) => {
    const [line = ''] = lastUserMessage(request).split('\n')
    const [, key, text] = /^remember (\S+) (.*)$/.exec(line) ?? []
    if (turn > 0 || key === undefined) return 'Yes.'
    return call('remember', { key, text, scope: key.startsWith('trip') ? 'conversation' : 'person' })
  },
  { id: 'scripted/desk' },
)
const clerk = scriptedModel(() => 'Yes.', { id: 'scripted/clerk' })
const remembers = { instructions: 'Remember.', description: 'Remembers.' }
const agents = [
  defineAgent({
    ...{ ...remembers, id: 'desk', name: 'Help desk', model: desk },
    memory: { scopes: [...memoryScopes] },
  }),
  defineAgent({ ...{ ...remembers, id: 'clerk', name: 'Clerk', model: clerk }, memory: {} }),
]

/** Starts it with keys for an admin, for Anna, who may start runs, and for Carl, about whom nothing is known. */
export async function memoryServer() {
  const folder = await mkdtemp(join(tmpdir(), 'witan-memory-'))
  const url = `file:${join(folder, 'witan.db')}`
  const store = sqliteStore({ file: join(folder, 'witan.db') })
  await store.open()
  const make = async (id: string, roles: string[]) =>
    (await createKey(store, keyRequestSchema.parse({ id, roles }), { database: 'default', principal: localPrincipal }))
      .key
  const keys = {
    admin: await make('user:root', ['admin']),
    anna: await make('user:anna', ['run']),
    carl: await make('user:carl', ['run']),
  }
  await store.close()
  const config = await loadConfig({ cwd: folder, env: { WITAN_LOG_LEVEL: 'silent', WITAN_STORE_URL: url } })
  const server = await startServer({
    ...config,
    ...{ auth: { mode: 'keys' as const }, server: { ...config.server, port: 0 }, agents },
  })
  const as = (name: keyof typeof keys) => createClient({ url: server.url, token: keys[name] })
  const close = async () => {
    await server.close()
    await rm(folder, { recursive: true })
  }
  return { server, keys, as, close }
}

/** What is known about Anna: two of her conversations wrote it, she changed one block, and one text is hostile. */
export async function rememberAnna(as: Awaited<ReturnType<typeof memoryServer>>['as']): Promise<void> {
  const [anna, admin] = [as('anna'), as('admin')]
  const first = anna.conversation('desk', { id: 'chats/first' })
  await first.run('remember drink Tea.')
  await first.run('remember trip-plan To Paris in May, by train.')
  await anna.conversation('desk', { id: 'chats/second' }).run('Hello.')
  const drink = (await anna.memory.list({ q: 'drink' })).items[0]
  await anna.memory.change(drink?.id ?? '', { text: 'Tea, no sugar.', expectedRevision: 1 })
  const about = { agent: 'clerk', subject: 'user:anna' }
  await admin.memory.create({ ...about, key: 'how-to-write', text: 'Short sentences, no small talk.' })
  await admin.memory.create({
    ...about,
    kind: 'archival',
    key: 'a'.repeat(64),
    text: `${hostile} ${'long '.repeat(800)}`,
  })
  await admin.memory.create({ agent: 'desk', subject: 'user:bob', key: 'drink', text: 'Water.' })
  await admin.memory.create({ agent: 'desk', scope: 'agent', key: 'house-rule', text: 'Shoes off.' })
  anna.close()
  admin.close()
}
