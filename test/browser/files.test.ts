/** Files in the Studio: chosen, pasted and dropped, sent with a message, shown where they are pictures, and never run. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { deflateSync } from 'node:zlib'
import { defineAgent } from '@witan/core'
import { type ScriptedModel, scriptedModel } from '@witan/core/testing'
import { loadConfig, startServer, type WitanServer } from '@witan/server'
import type { Browser, Page } from 'playwright-core'
import { closePages, missing, openBrowser, openPage, inspect } from './support/browser.ts'

/** A small picture of two colours. */
function chart(): Buffer {
  const [width, height] = [160, 90]
  const chunk = (type: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(type), data])
    const head = Buffer.alloc(4)
    head.writeUInt32BE(data.length)
    const tail = Buffer.alloc(4)
    tail.writeUInt32BE(crc(body))
    return Buffer.concat([head, body, tail])
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 2, 0, 0, 0], 8)
  const row = (y: number) =>
    Buffer.from([
      0,
      ...Array.from({ length: width }, (_, x) => (height - y < x * 0.5 ? [37, 99, 235] : [241, 245, 249])).flat(),
    ])
  const rows = Buffer.concat(Array.from({ length: height }, (_, y) => row(y)))
  const parts = [chunk('IHDR', header), chunk('IDAT', deflateSync(rows)), chunk('IEND', Buffer.alloc(0))]
  return Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), ...parts])
}

function crc(bytes: Buffer): number {
  let value = 0xffffffff
  for (const byte of bytes) {
    value ^= byte
    for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1
  }
  return (value ^ 0xffffffff) >>> 0
}

const script = '<script>document.title = "owned"; alert(1)</script>'
const svg = `<svg xmlns="http://www.w3.org/2000/svg" onload="alert(2)">${script}</svg>`

describe('files in the Studio', { skip: missing(), timeout: 300_000 }, () => {
  let browser: Browser
  let server: WitanServer
  let seeing: ScriptedModel

  before(async () => {
    browser = await openBrowser()
    const config = await loadConfig({ cwd: '/', env: { WITAN_LOG_LEVEL: 'silent', WITAN_STORE_URL: 'memory:' } })
    seeing = scriptedModel(() => 'Sales rise from left to right.', { id: 'demo/seeing' })
    const blind = scriptedModel(() => 'heard', { id: 'demo/blind', takes: [] })
    server = await startServer({
      ...config,
      auth: { mode: 'local' },
      server: { ...config.server, port: 0 },
      agents: [
        defineAgent({ id: 'seeing', model: seeing, instructions: 'Look.' }),
        defineAgent({ id: 'blind', model: blind, instructions: 'Listen.' }),
      ],
    })
  })
  after(async () => {
    await closePages()
    await server?.close()
  })

  const signedIn = async (path: string, expects?: RegExp) => {
    const opened = await openPage(browser, server.url, expects === undefined ? {} : { expects })
    await opened.page.goto(`${server.url}${path}${path.includes('?') ? '&' : '?'}token=${server.token}`)
    return opened
  }

  /** The width of the picture in the chat, once it is there. */
  const widthOf = (page: Page) =>
    page.evaluate(`(async () => {
      const image = document.querySelector('[role=log] img')
      await image.decode()
      return image.naturalWidth
    })()`)

  const choose = (page: Page, files: readonly { name: string; mimeType: string; buffer: Buffer }[]) =>
    page.getByLabel('Files to attach').setInputFiles([...files])

  test('[Rb53] the first message takes a picture, which is shown with its name and size, also after a reload', async () => {
    const { page, complaints, close } = await signedIn('/conversations?agent=seeing')
    await choose(page, [{ name: 'sales.png', mimeType: 'image/png', buffer: chart() }])
    await page.getByRole('list', { name: 'Attached files' }).getByText('sales.png').waitFor()
    await page.getByLabel('First message').fill('What does this chart show?')
    await page.getByRole('button', { name: 'Start', exact: true }).click()
    await page.getByText('Sales rise from left to right.').first().waitFor()
    const shown = page.getByRole('log').getByRole('img', { name: 'sales.png' })
    await shown.waitFor()
    assert.equal(await widthOf(page), 160)
    await inspect(page, 'files-sent')
    await page.reload()
    await shown.waitFor()
    assert.equal(await widthOf(page), 160)
    assert.deepEqual(complaints, [])
    await close()
  })

  test('[Rb53] files are pasted, dropped and removed; a page or a drawing among them is saved and never run', async () => {
    const { page, complaints, close } = await signedIn('/conversations?agent=seeing')
    await page.getByLabel('First message').fill('Hello')
    await page.getByRole('button', { name: 'Start', exact: true }).click()
    await page.getByText('Sales rise').first().waitFor()
    const give = (kind: 'drop' | 'paste', [name, type, content]: readonly [string, string, string]) =>
      page.evaluate(`(() => {
        const { kind, name, type, content } = ${JSON.stringify({ kind, name, type, content })}
        const data = new DataTransfer()
        data.items.add(new File([content], name, { type }))
        const options = { bubbles: true, cancelable: true }
        document.querySelector('textarea[aria-label="Message"]').dispatchEvent(
          kind === 'drop'
            ? new DragEvent('drop', { ...options, dataTransfer: data })
            : new ClipboardEvent('paste', { ...options, clipboardData: data }),
        )
      })()`)
    await give('drop', ['<img src=x onerror=alert(3)>.html', 'text/html', script])
    await give('paste', ['drawing.svg', 'image/svg+xml', svg])
    await give('drop', ['wrong.txt', 'text/plain', 'not this'])
    const attached = page.getByRole('list', { name: 'Attached files' })
    await attached.getByText('wrong.txt').waitFor()
    await inspect(page, 'files-attached')
    await page.getByRole('button', { name: 'Remove wrong.txt' }).click()
    assert.equal(await attached.getByRole('listitem').count(), 2)
    await page.getByRole('button', { name: 'Send' }).click()
    const files = page.getByRole('list', { name: 'Files' })
    await files.getByText('drawing.svg').waitFor()
    assert.equal(await files.getByRole('img').count(), 0, 'only pictures that cannot run are shown')
    const content = seeing.requests.at(-1)?.messages.at(-1)?.content ?? ''
    assert.ok(content.includes(script) && content.includes('onload'), 'the model reads both as text')
    const address = await files.getByRole('link', { name: 'drawing.svg' }).getAttribute('href')
    const [saved] = await Promise.all([page.waitForEvent('download'), files.getByText('drawing.svg').click()])
    assert.equal(saved.suggestedFilename(), 'drawing.svg')
    const [visited] = await Promise.all([
      page.waitForEvent('download'),
      page.evaluate(`window.location.assign(${JSON.stringify(address)})`),
    ])
    assert.equal(visited.suggestedFilename(), 'drawing.svg', 'its address is saved, too, and not shown')
    assert.notEqual(await page.title(), 'owned')
    assert.deepEqual(complaints, [])
    await close()
  })

  test('[Rb53] what is too large, or of a type that the model does not take, is told, and nothing typed is lost', async () => {
    const { page, complaints, close } = await signedIn('/conversations?agent=blind', /422/)
    await choose(page, [{ name: 'huge.bin', mimeType: '', buffer: Buffer.alloc(5_242_881) }])
    await page.getByRole('alert').getByText('The file `huge.bin` has 5242881 bytes').waitFor()
    await choose(page, [{ name: 'sales.png', mimeType: 'image/png', buffer: chart() }])
    await page.getByLabel('First message').fill('What is it?')
    await page.getByRole('button', { name: 'Start', exact: true }).click()
    await page.getByText('does not take files of type').waitFor()
    await page.getByText('MEDIA_TYPE_UNSUPPORTED').waitFor()
    assert.equal(await page.getByLabel('Message', { exact: true }).inputValue(), 'What is it?')
    await page.getByRole('button', { name: 'Remove sales.png' }).click()
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText('heard').first().waitFor()
    assert.deepEqual(complaints, [])
    await close()
  })
})
