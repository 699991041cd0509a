/** A Studio that asks for an API key: signing in, out, as somebody else, and what happens when the key is revoked. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, type TestContext, test } from 'node:test'
import { createClient } from '@witan/client'
import { defineAgent, localPrincipal, sqliteStore } from '@witan/core'
import { lastUserMessage, scriptedModel } from '@witan/core/testing'
import { createKey } from '@witan/core/tooling'
import type { DatabaseId } from '@witan/protocol'
import { keyRequestSchema } from '@witan/protocol/schemas'
import { loadConfig, startServer } from '@witan/server'
import type { Browser } from 'playwright-core'
import { closePages, missing, openBrowser, openPage, inspect } from './support/browser.ts'

const skip = missing()
/** What Chromium says of a request without a key, and of one that a role does not reach. */
const expects = /401|404/
const desk = defineAgent({
  id: 'desk',
  name: 'The desk',
  instructions: 'Repeat.',
  model: scriptedModel((request) => `Heard: ${lastUserMessage(request)}`, { id: 'scripted/desk' }),
})

describe('a Studio that asks for a key', { skip, timeout: 300_000 }, () => {
  let browser: Browser
  before(async () => {
    browser = await openBrowser()
  })
  after(closePages)

  /** A server in mode `keys`, and keys of three people: two admins of the database shop, one of another. */
  async function place(context: TestContext) {
    const folder = await mkdtemp(join(tmpdir(), 'witan-sign-in-'))
    const file = join(folder, 'witan.db')
    const store = sqliteStore({ file })
    await store.open()
    const make = (database: string, id: string) =>
      createKey(store, keyRequestSchema.parse({ id, roles: ['admin'] }), {
        database,
        principal: { ...localPrincipal, database: database as DatabaseId },
      })
    const [anna, bob, carl] = [
      await make('shop', 'user:anna'),
      await make('shop', 'user:bob'),
      await make('lab', 'user:carl'),
    ]
    await store.close()
    const env = { WITAN_LOG_LEVEL: 'silent', WITAN_STORE_URL: `file:${file}` }
    const config = await loadConfig({ cwd: folder, env })
    const server = await startServer({
      ...config,
      ...{ auth: { mode: 'keys' }, server: { ...config.server, port: 0 }, agents: [desk] },
    })
    const { page, complaints, close } = await openPage(browser, server.url, { expects })
    context.after(async () => {
      await close()
      await server.close()
      await rm(folder, { recursive: true })
    })
    await page.goto(server.pageUrl)
    const form = page.getByTestId('locked')
    const signIn = async (key: string) => {
      await form.getByLabel('API key').fill(key)
      await form.getByRole('button', { name: 'Sign in' }).click()
    }
    return { server, page, complaints, form, signIn, account: page.getByTestId('account'), anna, bob, carl }
  }

  test('lets in with a key, says who one is, keeps the key from scripts, and forgets all at the way out', async (context) => {
    const { page, complaints, form, signIn, account, anna, carl, server } = await place(context)
    await form.getByRole('heading', { name: 'Sign in' }).waitFor()
    assert.equal(await page.getByRole('navigation').count(), 0, 'nothing of the pages is shown to a stranger')
    await inspect(page, 'sign-in')
    for (const wrong of ['wtn_wrong', `${anna.key}x`, 'ключ', anna.keyId]) {
      await signIn(wrong)
      await form.getByText('That key is not valid.').waitFor()
    }
    await signIn(` ${anna.key} `)
    await account.getByText('anna').waitFor()
    await account.getByText('in shop').waitFor()
    await page.getByRole('heading', { name: 'The desk' }).waitFor()
    await inspect(page, 'signed-in')
    const script =
      '[document.cookie, JSON.stringify([{ ...localStorage }, { ...sessionStorage }]), document.documentElement.outerHTML, location.href]'
    const seen: string[] = await page.evaluate(script)
    assert.equal(seen[0], '')
    assert.equal(seen.join().includes(anna.key.slice(4)), false)
    await page.reload()
    await account.getByText('anna').waitFor()
    await account.getByRole('button', { name: 'Sign out' }).click()
    await form.getByRole('heading', { name: 'Sign in' }).waitFor()
    assert.deepEqual(await page.context().cookies(), [])
    await signIn(carl.key)
    await account.getByText('in lab').waitFor()
    await page.goto(`${server.url}/conversations`)
    await page
      .getByText(/no conversations|New conversation/i)
      .first()
      .waitFor()
    assert.deepEqual(complaints, [])
  })

  test('asks again within five seconds after the key was revoked; the same person goes on, another one begins anew', async (context) => {
    const { page, form, signIn, account, anna, bob, server } = await place(context)
    await signIn(anna.key)
    await page.goto(`${server.url}/conversations?agent=desk`)
    await page.getByLabel('First message').fill('one')
    await page.getByRole('button', { name: 'Start', exact: true }).click()
    await page.getByText('Heard: one').waitFor()
    await page.getByLabel('Message', { exact: true }).fill('half a th')
    const client = createClient({ url: server.url, token: bob.key })
    const again = await client.keys.create({ id: 'user:anna', roles: ['admin'] })
    await client.keys.revoke(anna.keyId)
    client.close()
    // The stream of the page ends, and its reader is refused.
    await form.waitFor({ timeout: 10_000 })
    await inspect(page, 'revoked')
    assert.equal(await page.getByLabel('Message', { exact: true }).inputValue(), 'half a th')
    await signIn(again.key)
    await form.waitFor({ state: 'detached' })
    await page.getByLabel('Message', { exact: true }).press('Enter')
    await page.getByText('Heard: half a th').waitFor()
    await page.getByLabel('Message', { exact: true }).fill('for nobody else')
    const second = createClient({ url: server.url, token: bob.key })
    await second.keys.revoke(again.keyId)
    second.close()
    await form.waitFor({ timeout: 10_000 })
    await signIn(bob.key)
    await account.getByText('bob').waitFor()
    assert.equal(new URL(page.url()).pathname.startsWith('/conversations/'), false)
    assert.equal(await page.evaluate('JSON.stringify({ ...sessionStorage })'), '{}')
  })

  test('shows somebody with few rights what they reach, and no error', async (context) => {
    const { page, complaints, signIn, account, form, anna, server } = await place(context)
    const admin = createClient({ url: server.url, token: anna.key })
    const ron = await admin.keys.create({ id: 'user:ron', roles: ['run'] })
    const nora = await admin.keys.create({ id: 'user:nora' })
    await admin.conversations.start({ agent: 'desk', id: 'chats/1', users: [{ id: 'nora' }], prompt: 'For Nora' })
    admin.close()
    await signIn(ron.key)
    await page.getByRole('heading', { name: 'The desk' }).waitFor()
    assert.equal(await page.getByText('What its model reads first').count(), 0)
    assert.equal(await page.getByRole('tablist', { name: 'Agent' }).count(), 0, 'there is nothing behind tabs')
    await inspect(page, 'only-called')
    await page.getByRole('link', { name: 'New conversation' }).click()
    await page.getByLabel('First message').fill('one')
    await page.getByRole('button', { name: 'Start', exact: true }).click()
    await page.getByText('Heard: one').waitFor()
    await page
      .getByRole('button', { name: /^Menu of what/ })
      .first()
      .click()
    assert.deepEqual(await page.getByRole('menuitem').allTextContents(), ['Copy'], 'who read it is not for everybody')
    await page.keyboard.press('Escape')
    await account.getByRole('button', { name: 'Sign out' }).click()
    await form.waitFor()
    await signIn(nora.key)
    await page.getByText('No agents for you').waitFor()
    await inspect(page, 'no-agents')
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Conversations' }).click()
    await page.getByText('For Nora').click()
    await page.getByText(/Heard: .*For Nora/).waitFor()
    await page.getByLabel('Message', { exact: true }).fill('Thank you')
    await page.getByLabel('Message', { exact: true }).press('Enter')
    await page.getByText(/Heard: .*Thank you/).waitFor()
    assert.deepEqual(complaints, [])
  })
})
