/** Files for a prompt: bytes, blobs and files of a browser, their names and media types [Rb53]. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { filePartSchema } from '@witan/protocol/schemas'
import { attach } from './attach.ts'

const png = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

test('[Rb53] content, name and media type of bytes, blobs and files', async () => {
  const data = Buffer.from(png).toString('base64')
  assert.deepEqual(await attach(png), { type: 'file', mediaType: 'image/png', data })
  const file = new File([png], 'chart.png', { type: 'image/png' })
  assert.deepEqual(await attach(file), { type: 'file', mediaType: 'image/png', data, name: 'chart.png' })
  const text = new Blob(['a,b'], { type: 'text/csv;charset=utf-8' })
  assert.deepEqual(await attach(text), { type: 'file', mediaType: 'text/csv', data: btoa('a,b') })
  const named = await attach(new Blob(['{}']), { name: 'x.JSON' })
  assert.equal(named.mediaType, 'application/json')
  assert.equal((await attach(png, { name: 'wrong.jpg' })).mediaType, 'image/png', 'content goes before the name')
  assert.equal((await attach(Uint8Array.of(1, 0))).mediaType, 'application/octet-stream')
  assert.equal((await attach(new TextEncoder().encode('words'))).mediaType, 'text/plain')
  assert.equal((await attach(png, { mediaType: 'image/x-own' })).mediaType, 'image/x-own')
})

test('[Rb53] large content is encoded whole, and too much of it or nothing is refused before it is read', async () => {
  const bytes = Uint8Array.from({ length: 100_001 }, (_, index) => index % 251)
  assert.equal((await attach(bytes)).data, Buffer.from(bytes).toString('base64'))
  await assert.rejects(attach(new Uint8Array(5_242_881), { name: 'a.bin' }), {
    code: 'ATTACHMENT_TOO_LARGE',
    message: 'The file `a.bin` has 5242881 bytes; the limit is 5242880 bytes.',
  })
  await assert.rejects(attach(new Uint8Array()), { code: 'BODY_INVALID', message: 'The file is empty.' })
})

test('[Rb53] of any name only what the server takes is left', async () => {
  for (const [name, kept] of [
    ['C:\\fake path\\a.png', 'a.png'],
    ['../../etc/passwd', 'passwd'],
    ['..', undefined],
    ['a\n\u202eb\u{e0041}.txt', 'ab.txt'],
    [`${'x'.repeat(300)}.png`, `${'x'.repeat(196)}.png`],
    ['😀'.repeat(150), '😀'.repeat(100)],
  ] as const) {
    const part = await attach(png, { name })
    assert.equal(part.name, kept)
    assert.ok(filePartSchema.safeParse(part).success, name)
  }
})
