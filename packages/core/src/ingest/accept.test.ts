/** Each document of a request is checked for itself; what is too large for a request is refused whole. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { knowledgeBaseSchema } from '@witan/protocol/knowledge'
import { assertCheap } from '../../../../test/support/cpu.ts'
import { acceptDocuments } from './accept.ts'

const base = knowledgeBaseSchema.parse({
  id: 'b',
  attributes: { name: 'string', year: 'number', isOld: 'boolean', tags: 'string[]' },
})
const types = ['text/plain', 'text/html']
const accept = (documents: readonly unknown[]) => acceptDocuments(base, documents, types)

test('each reason why a document is refused has its code and its words', async () => {
  const table: readonly (readonly [string, unknown, string, RegExp])[] = [
    ['null', null, 'BODY_INVALID', /^`document` is not valid/],
    ['a list', [], 'BODY_INVALID', /^`document`/],
    ['no key', { text: 'x' }, 'BODY_INVALID', /^`key`/],
    ['an empty key', { key: '', text: 'x' }, 'BODY_INVALID', /^`key`/],
    ['a key with a part ..', { key: 'a/../b', text: 'x' }, 'BODY_INVALID', /part `\.\.`/],
    ['a key with a line end', { key: 'a\nb', text: 'x' }, 'BODY_INVALID', /control/],
    ['a key with half a pair', { key: '\ud83d', text: 'x' }, 'BODY_INVALID', /surrogate/],
    ['an unknown field', { key: 'k', text: 'x', body: 'x' }, 'BODY_INVALID', /body/],
    ['no content', { key: 'k' }, 'BODY_INVALID', /either `text` or `data`/],
    ['two contents', { key: 'k', text: 'x', data: '' }, 'BODY_INVALID', /either `text` or `data`/],
    ['no base64', { key: 'k', data: 'x' }, 'BODY_INVALID', /base64/],
    [
      'base64 that goes on behind its end',
      { key: 'k', data: `${'A'.repeat(262_142)}==AAAA` },
      'BODY_INVALID',
      /base64/,
    ],
    ['no media type', { key: 'k', text: 'x', mediaType: 'html' }, 'BODY_INVALID', /no media type/],
    ['a media type with a line end', { key: 'k', text: 'x', mediaType: 'text/a\nb' }, 'BODY_INVALID', /no media type/],
    [
      'another media type',
      { key: 'k', text: 'x', mediaType: 'Image/PNG; a=b' },
      'MEDIA_TYPE_UNSUPPORTED',
      /`image\/png`.*text\/html/,
    ],
    ['NUL', { key: 'k', text: 'x\0' }, 'DOCUMENT_UNREADABLE', /NUL/],
    [
      'an unknown attribute',
      { key: 'k', text: 'x', attributes: { toString: 'x' } },
      'BODY_INVALID',
      /no attribute `toString`/,
    ],
    [
      'an attribute of another type',
      { key: 'k', text: 'x', attributes: { year: '1' } },
      'BODY_INVALID',
      /`year` must be a number/,
    ],
    [
      'a text for a list',
      { key: 'k', text: 'x', attributes: { tags: 'a' } },
      'BODY_INVALID',
      /`tags` must be a string\[\]/,
    ],
    [
      'a list for a text',
      { key: 'k', text: 'x', attributes: { name: ['a'] } },
      'BODY_INVALID',
      /`name` must be a string/,
    ],
    ['no JSON number', { key: 'k', text: 'x', attributes: { year: Number.NaN } }, 'BODY_INVALID', /attributes/],
    [
      'long attributes',
      { key: 'k', text: 'x', attributes: { name: 'x'.repeat(30_000) } },
      'BODY_INVALID',
      /20000 characters/,
    ],
  ]
  for (const [what, document, code, detail] of table) {
    const { pending, failed } = await accept([document, { key: 'good', text: 'x' }])
    assert.deepEqual(
      pending.map(({ key }) => key),
      ['good'],
      what,
    )
    assert.equal(failed.length, 1, what)
    assert.equal(failed[0]?.code, code, what)
    assert.match(failed[0]?.detail ?? '', detail, what)
    assert.ok((failed[0]?.key ?? '').length > 0 && failed[0]?.key.isWellFormed() && !failed[0].key.includes('\n'), what)
  }
})

test('what is accepted, and as what', async () => {
  const whole = {
    key: 'a/b.html',
    title: 'T',
    uri: 'https://example.org/\0',
    mediaType: 'Text/HTML; charset=latin1',
    data: Buffer.from('<p>x').toString('base64'),
    attributes: { name: 'n', year: 1, isOld: false, tags: ['a', 'b\ud83d'] },
  }
  const { pending, failed } = await accept([whole, { key: 'b', text: 'half \ud83d' }, { key: 'b', text: 'again' }])
  assert.deepEqual(failed, [
    { key: 'b', code: 'BODY_INVALID', detail: 'Another document of the request has this key.' },
  ])
  const [first, second] = pending
  assert.match(first?.digest ?? '', /^sha256:/)
  assert.deepEqual(
    { ...first, digest: '', content: Buffer.from(first?.content as Uint8Array).toString() },
    {
      ...{ key: 'a/b.html', title: 'T', uri: 'https://example.org/\ufffd', mediaType: 'Text/HTML; charset=latin1' },
      ...{ content: '<p>x', digest: '', attributes: { name: 'n', year: 1, isOld: false, tags: ['a', 'b\ufffd'] } },
    },
  )
  assert.equal(second?.content, 'half \ufffd')
})

test('more than 1,000 documents or 16 MiB refuse the request', async () => {
  const many = Array.from({ length: 1_001 }, (_, at) => ({ key: `${at}`, text: '' }))
  await assert.rejects(accept(many), { code: 'BODY_INVALID' })
  assert.equal((await accept(many.slice(1))).pending.length, 1_000)
  const half = 8 * 1_048_576
  const text = { key: 'a', text: 'x'.repeat(half) }
  const data = { key: 'b', data: Buffer.alloc(half, 1).toString('base64') }
  assert.equal((await accept([text, data])).pending.length, 2)
  await assert.rejects(accept([text, data, { key: 'c', text: 'x' }]), { code: 'BODY_TOO_LARGE' })
  await assert.rejects(accept([{ key: 'a', text: 'é'.repeat(half + 1) }]), { code: 'BODY_TOO_LARGE' })
})

test('the largest requests hold no turn', async () => {
  const size = 16 * 1_048_576
  const attributes = { tags: Array.from({ length: 100 }, (_, at) => `tag ${at}`) }
  const requests: Readonly<Record<string, readonly unknown[]>> = {
    'one text': [{ key: 'a', text: 'x'.repeat(size) }],
    'one text beyond ASCII': [{ key: 'a', text: '知'.repeat(size / 3) }],
    'one file': [{ key: 'a', data: Buffer.alloc(size, 1).toString('base64') }],
    'a thousand documents': Array.from({ length: 1_000 }, (_, at) => ({
      key: `${at}`,
      text: 'x'.repeat(16_000),
      attributes,
    })),
    'a thousand bad ones': Array.from({ length: 1_000 }, () => ({ key: 'a'.repeat(10_000), attributes: { a: [{}] } })),
  }
  for (const [what, documents] of Object.entries(requests))
    await assertCheap({ longest: 40 }, () => accept(documents), what)
})
