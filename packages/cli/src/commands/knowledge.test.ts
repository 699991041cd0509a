/** `witan knowledge …`: a folder goes in, is found, changes and goes, on a store and on a server. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, beforeEach, describe, test } from 'node:test'
import { loadConfig, startServer, type WitanServer } from '@witan/server'
import { batchesOf, findFiles } from '../ingest/files.ts'
import { sitting } from '../testing/person.ts'
import { type Around, type Ended, witan } from '../testing/witan.ts'

let folder = ''
const write = (name: string, content: string | Uint8Array) => {
  mkdirSync(dirname(join(folder, name)), { recursive: true })
  writeFileSync(join(folder, name), content)
}
const bases = [
  { id: 'handbook', description: 'How we work' },
  { id: 'contracts', attributes: { customer: 'string', year: 'number', isOld: 'boolean', tags: 'string[]' } },
]

/** A folder with a configuration. */
function begin(): void {
  folder = mkdtempSync(join(tmpdir(), 'witan-knowledge-'))
  write('witan.config.json', JSON.stringify({ store: { url: `file:${join(folder, 'witan.db')}` }, knowledge: bases }))
}

const run = (words: string, around: Around = {}): Promise<Ended> =>
  witan(
    words.split(' ').map((word) => word.replaceAll('_', ' ')),
    { folder, ...around },
  )

describe('files of a folder', () => {
  beforeEach(begin)
  after(() => rmSync(folder, { recursive: true }))

  test('what is found, under which keys, and what is left out', async () => {
    for (const name of ['b.md', 'a/z.HTML', 'a/b/c.txt', '.hidden.md', '.git/x.md', 'picture.png', 'table.csv'])
      write(`docs/${name}`, 'x')
    symlinkSync(join(folder, 'docs', 'b.md'), join(folder, 'docs', 'link.md'))
    symlinkSync(join(folder, 'docs', 'a'), join(folder, 'docs', 'linked'))
    const { files, left } = await findFiles(['docs', 'witan.config.json'], folder)
    assert.deepEqual(
      files.map(({ key, mediaType }) => `${key} ${mediaType}`),
      [
        'a/b/c.txt text/plain',
        'a/z.HTML text/html',
        'b.md text/markdown',
        'table.csv text/csv',
        'witan.config.json application/json',
      ],
    )
    assert.deepEqual(left, ['picture.png'])
    const named = await findFiles(['docs/picture.png'], folder)
    assert.deepEqual(
      named.files.map(({ mediaType }) => mediaType),
      ['application/octet-stream'],
    )
    const twice = await findFiles(['docs', 'docs/b.md', 'docs'], folder)
    assert.equal(twice.files.length, 4, 'the same file counts once')
    write('other/b.md', 'y')
    await assert.rejects(findFiles(['docs', 'other/b.md'], folder), /would both be "b.md"/)
    await assert.rejects(findFiles(['nowhere'], folder), /There is no file "nowhere"/)
  })

  test('no request has more than a server takes', () => {
    const file = (bytes: number) => ({ key: 'k', path: 'p', mediaType: 'text/plain', bytes })
    const sizes = (files: readonly { readonly bytes: number }[]) =>
      batchesOf(files.map(({ bytes }) => file(bytes))).map((batch) => batch.length)
    assert.deepEqual(sizes([]), [])
    assert.deepEqual(sizes(Array.from({ length: 2_500 }, () => ({ bytes: 10 }))), [1_000, 1_000, 500])
    assert.deepEqual(sizes([6_000_000, 3_000_000, 3, 20_000_000, 1].map((bytes) => ({ bytes }))), [2, 1, 1, 1])
  })
})

const lying: Readonly<Record<string, string>> = {
  'docs/a.md': '# Leave\n\nThirty days of leave.',
  'docs/b/c.txt': 'The office opens at eight.',
}

for (const kind of ['a store', 'a server'] as const)
  describe(`on ${kind}`, () => {
    let server: WitanServer | null = null
    beforeEach(async () => {
      await server?.close()
      server = null
      begin()
      for (const [name, text] of Object.entries(lying)) write(name, text)
      if (kind === 'a server') server = await startServer(await loadConfig({ cwd: folder, env: { WITAN_PORT: '0' } }))
    })
    after(async () => {
      await server?.close()
      rmSync(folder, { recursive: true })
    })

    test('a folder is added, changed, and loses what it does not have any more', async () => {
      const first = await run('knowledge add handbook docs')
      assert.deepEqual(first, { code: 0, out: 'added 2, changed 0, unchanged 0, deleted 0, failed 0\n', err: '' })
      write('docs/a.md', '# Leave\n\nThirty-one days of leave.')
      write('docs/bad.pdf', 'no PDF')
      write('docs/picture.png', 'x')
      const second = await run('knowledge add handbook docs')
      assert.equal(second.code, 1)
      assert.equal(second.out, 'added 0, changed 1, unchanged 1, deleted 0, failed 1\n')
      assert.equal(
        second.err,
        'left out, as no text: 1 (picture.png)\n✗ bad.pdf  DOCUMENT_UNREADABLE  It is not a PDF, or it is damaged.\n',
      )
      rmSync(join(folder, 'docs', 'b'), { recursive: true })
      rmSync(join(folder, 'docs', 'bad.pdf'))
      const third = await run('knowledge add handbook docs --prune --yes --json')
      assert.deepEqual(JSON.parse(third.out), {
        ...{ added: 0, changed: 0, unchanged: 1, deleted: 1 },
        ...{ failed: [], empty: [] },
      })
      assert.equal(third.code, 0)
      const found = await run('knowledge search handbook days_leave')
      assert.match(found.out, /^\[k[a-z2-7]{8}\] Leave {2}handbook\/a\.md\nThirty-one days of leave\.\n\n$/)
      const none = await run('knowledge search handbook office')
      assert.deepEqual(none, { code: 0, out: '', err: 'Nothing was found: no passage has one of these words.\n' })
    })

    test('a search that finds nothing says what to do', async () => {
      const empty = await run('knowledge search handbook office')
      assert.equal(empty.err, '"handbook" has no documents yet. witan knowledge add handbook FOLDER adds some.\n')
      assert.deepEqual([empty.code, empty.out], [0, ''])
      await run('knowledge add contracts docs --attribute customer=acme')
      const filtered = await run('knowledge search contracts office --filter customer=other')
      assert.match(filtered.err, /in the documents that this filter lets in/)
    })

    test('a document without text is named, whatever it is', async () => {
      const none: Readonly<Record<string, string>> = {
        'none/empty.md': '',
        'none/blank.txt': ' \n\n ',
        'none/a folder/hüllt.html': '<script>alert(1)</script><p hidden>no</p>',
        'none/only.md': '<!-- a comment -->',
        'none/list.csv': '',
      }
      for (const [name, text] of Object.entries(none)) write(name, text)
      write('none/some.md', 'A text.')
      for (const state of ['added', 'unchanged']) {
        const { code, out, err } = await run('knowledge add handbook none')
        assert.equal(code, 0)
        assert.match(out, new RegExp(`${state} 6,`))
        const named = [...err.matchAll(/^! (.*?) {2}has no text: no search finds it$/gm)].map(([, key]) => key)
        assert.deepEqual(named, ['a folder/hüllt.html', 'blank.txt', 'empty.md', 'list.csv', 'only.md'])
      }
      assert.equal((await run('knowledge add handbook none/some.md')).err, '')
      const { empty } = JSON.parse((await run('knowledge add handbook none/empty.md --json')).out)
      assert.deepEqual(empty, ['empty.md'])
    })

    test('attributes have the types of their base, and are the filter of a search', async () => {
      const words =
        '--attribute customer=acme --attribute year=2026 --attribute isOld=false --attribute tags=a --attribute tags=b=c'
      assert.equal((await run(`knowledge add contracts docs ${words}`)).code, 0)
      const search = async (filter: string) => (await run(`knowledge search contracts office ${filter} --json`)).out
      for (const filter of ['customer=acme', 'year=2026', 'isOld=false', 'tags=b=c'])
        assert.match(await search(`--filter ${filter}`), /"document":"b\/c.txt"/, filter)
      for (const filter of ['customer=other', 'year=2025', 'isOld=true', 'tags=b'])
        assert.equal(await search(`--filter ${filter}`), '', filter)
      const wrong: Readonly<Record<string, RegExp>> = {
        'size=1': /declares no attribute "size".*\n.*It has customer, year, isOld, tags/s,
        'year=soon': /is a number, and "soon" is none/,
        'isOld=yes': /is a boolean/,
        customer: /no name and value/,
        'customer=a --attribute customer=b': /is there twice/,
      }
      for (const [attribute, message] of Object.entries(wrong)) {
        const { code, err } = await run(`knowledge add contracts docs --attribute ${attribute}`)
        assert.equal(code, 2, attribute)
        assert.match(err, message)
      }
    })

    test('folders with equal paths stand side by side below prefixes, and prune below theirs alone', async () => {
      for (const customer of ['acme', 'globex']) write(`${customer}/contract.txt`, `The notice of ${customer}.`)
      write('acme/old.txt', 'Old.')
      const add = (customer: string, more = '') =>
        run(`knowledge add contracts ${customer} --prefix ${customer}/ --attribute customer=${customer}${more}`)
      assert.match((await add('acme')).out, /added 2/)
      assert.match((await add('globex')).out, /added 1, changed 0/)
      rmSync(join(folder, 'acme', 'old.txt'))
      assert.equal((await add('acme', ' --prune --yes')).out, 'added 0, changed 0, unchanged 1, deleted 1, failed 0\n')
      for (const customer of ['acme', 'globex']) {
        const { out } = await run(`knowledge search contracts notice --filter customer=${customer} --json`)
        assert.equal(JSON.parse(out).document, `${customer}/contract.txt`)
      }
    })

    test('bases are listed, shown and deleted', async () => {
      await run('knowledge add handbook docs')
      assert.match(
        (await run('knowledge list')).out,
        /BASE +DOCUMENTS +PASSAGES.*contracts +0 +0.*handbook +2 +2 +1 +code +How we work/s,
      )
      assert.equal(JSON.parse((await run('knowledge show handbook')).out).documents, 2)
      assert.equal((await run('knowledge show other')).code, 2)
      const unasked = await run('knowledge delete handbook')
      assert.equal(unasked.code, 2)
      assert.match(unasked.err, /Nothing was changed: without a terminal, deleting cannot be confirmed.*\n.*--yes/)
      assert.deepEqual(await run('knowledge delete handbook --yes'), {
        code: 0,
        out: 'deleted handbook\n',
        err: '! It is defined in code, and the next start makes it again, without documents.\n',
      })
      // A base of the code is there again when the next process starts.
      assert.equal((await run('knowledge show handbook')).code, kind === 'a server' ? 2 : 0)
    })

    test('in a script nothing goes without --yes, and nothing is read either', async () => {
      await run('knowledge add handbook docs')
      rmSync(join(folder, 'docs', 'a.md'))
      write('docs/new.md', 'New words.')
      const { code, err } = await run('knowledge add handbook docs --prune')
      assert.equal(code, 2)
      assert.match(err, /Nothing was changed.*\n.*--yes/)
      assert.equal(JSON.parse((await run('knowledge show handbook')).out).documents, 2)
      assert.match((await run('knowledge add handbook docs --prune --yes')).out, /added 1.*deleted 1/)
      assert.match((await run('knowledge add handbook docs --prune')).out, /deleted 0/, 'with nothing to delete')
    })

    test('more files than a request may have lose only what the folder does not have', async () => {
      for (let at = 0; at < 1_100; at += 1) write(`many/${at}.txt`, `text ${at}`)
      assert.match((await run('knowledge add handbook docs')).out, /added 2/)
      const { out } = await run('knowledge add handbook many --prune --yes')
      assert.equal(out, 'added 1100, changed 0, unchanged 0, deleted 2, failed 0\n')
      rmSync(join(folder, 'many', '1099.txt'))
      const again = await run('knowledge add handbook many --prune --yes')
      assert.equal(again.out, 'added 0, changed 0, unchanged 1099, deleted 1, failed 0\n')
    })

    test('files of many megabytes go in, and one that is too large fails alone', async () => {
      const text = 'A sentence of a large file. '.repeat(36_000)
      for (let at = 0; at < 12; at += 1) write(`large/${at}.txt`, `${at} ${text}`)
      write('large/whole.txt', text.repeat(8))
      write('large/too.txt', Buffer.alloc(12_000_001, 'x'))
      const { code, out, err } = await run('knowledge add handbook large')
      assert.equal(out, 'added 13, changed 0, unchanged 0, deleted 0, failed 1\n')
      assert.equal(err, '✗ too.txt  DOCUMENT_UNREADABLE  It has 12000001 bytes, of 12000000 at most.\n')
      assert.equal(code, 1)
    })
  })

test('on a terminal one line says how far it is, and is taken away', async () => {
  begin()
  for (const [name, text] of Object.entries(lying)) write(name, text)
  const { err } = await run('knowledge add handbook docs', { columns: 80 })
  assert.match(err, /^\r.\[Kread \d of 2 files/)
  assert.ok(err.endsWith('\r\u001b[K'))
  rmSync(folder, { recursive: true })
})

test('a person is asked before anything is deleted, and sees how much', async () => {
  begin()
  for (const [name, text] of Object.entries(lying)) write(name, text)
  const at = ['--config', join(folder, 'witan.config.json')]
  const documents = async () => JSON.parse((await run('knowledge show handbook')).out).documents
  await run('knowledge add handbook docs')
  for (let more = 0; more < 4; more += 1) write(`more/${more}.md`, `Text ${more}.`)
  await run('knowledge add handbook more')
  rmSync(join(folder, 'more'), { recursive: true })
  const add = ['knowledge', 'add', 'handbook', join(folder, 'docs'), '--prune', ...at]
  const no = await sitting(add, ['no'], { COLUMNS: '200' })
  assert.match(no.screen, /Delete 4 documents that the files do not have \(0\.md, 1\.md, 2\.md, …\)\?/)
  assert.match(no.screen, /Nothing was changed\./)
  assert.deepEqual([no.code, await documents()], [1, 6])
  const yes = await sitting(add, ['yes'])
  assert.deepEqual([yes.code, await documents()], [0, 2])
  const remove = ['knowledge', 'delete', 'handbook', ...at]
  const kept = await sitting(remove, ['no'])
  assert.match(kept.screen, /Delete the knowledge base handbook with 2 documents\?/)
  assert.deepEqual([kept.code, await documents()], [1, 2])
  const gone = await sitting(remove, ['y'])
  assert.deepEqual([gone.code, await documents()], [0, 0])
  rmSync(folder, { recursive: true })
})

test('words that are missing or wrong', async () => {
  begin()
  const table: Readonly<Record<string, RegExp>> = {
    'knowledge add handbook': /needs a file or a folder|PATH/,
    'knowledge add handbook nowhere': /There is no file "nowhere"/,
    'knowledge search handbook': /needs words|WORDS/,
    'knowledge search handbook x --limit 21': /no number from 1 to 20/,
  }
  for (const [words, message] of Object.entries(table)) {
    const { code, err } = await run(words)
    assert.equal(code, 2, words)
    assert.match(err, message)
  }
  rmSync(folder, { recursive: true })
})
