/** Files are read in a process of their own: what one file does there ends that file alone, and never holds this process. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import type { DocumentReader } from '@witan/core/knowledge'
import { assertCheap } from '../../../test/support/cpu.ts'
import { createReaders, type ReadersOptions } from './readers.ts'
import { pdfWith } from './testing/pdf.ts'

const signal = new AbortController().signal
const entry = new URL('./index.ts', import.meta.url).href

/** A reader from code that does what the file says. */
const hostileModule = `
import { UnreadableError } from ${JSON.stringify(entry)}
export async function read(content, mediaType) {
  const text = Buffer.from(content).toString()
  if (text === 'crash') process.exit(3)
  if (text === 'loop') for (;;);
  if (text === 'sleep') await new Promise((resolve) => setTimeout(resolve, 100_000))
  if (text === 'memory') { const kept = []; for (;;) kept.push(Buffer.alloc(1_000_000, 1)) }
  if (text === 'heap') { const kept = []; for (;;) kept.push({ kept: [] }) }
  if (text === 'later') setTimeout(() => process.exit(3), 20)
  if (text === 'after') await new Promise((resolve) => setTimeout(resolve, 60))
  if (text === 'throw') throw new Error('ENOENT: /srv/secret')
  if (text === 'refuse') throw new UnreadableError('It is empty.')
  if (text === 'nonsense') return { title: 7, blocks: [{ kind: 'image', text: 'x' }] }
  if (text === 'endless') return { title: null, blocks: Array.from({ length: 300_000 }, () => ({ kind: 'row', text: '' })) }
  if (text === 'environment') return { title: null, blocks: [{ kind: 'code', text: Object.keys(process.env).join() }] }
  return { title: mediaType, blocks: [{ kind: 'paragraph', text: text + process.pid }] }
}`

function hostile(context: TestContext, options: ReadersOptions = {}): DocumentReader & { readonly module: URL } {
  const folder = mkdtempSync(join(tmpdir(), 'witan-readers-'))
  writeFileSync(join(folder, 'hostile.mjs'), hostileModule)
  const module = pathToFileURL(join(folder, 'hostile.mjs'))
  const readers = createReaders({ modules: [{ mediaTypes: ['application/x-Hostile'], module }], ...options })
  context.after(async () => {
    await readers.close()
    rmSync(folder, { recursive: true })
  })
  return { ...readers, module }
}

const read = async (readers: DocumentReader, text: string, type = 'application/x-hostile') => {
  const { blocks } = await readers.read(Buffer.from(text), type, signal)
  return blocks.map((block) => block.text).join()
}

/** The processes that read for a module now. */
function processesOf(module: URL): number[] {
  const { stdout } = spawnSync('ps', ['-A', '-ww', '-o', 'pid=,args='], { encoding: 'utf8' })
  const lines = stdout.split('\n').filter((line) => /readers.src.process\.ts/.test(line) && line.includes(module.href))
  return lines.map((line) => Number.parseInt(line, 10))
}

async function until(claim: () => boolean): Promise<void> {
  const end = performance.now() + 30_000
  for (; !claim(); await wait(20)) assert.ok(performance.now() < end, 'not so within 30 s')
}

test('a reader from code reads in one process, beside the readers of the package', async (context) => {
  const readers = hostile(context)
  assert.deepEqual(processesOf(readers.module), [])
  assert.ok(readers.mediaTypes.includes('application/x-hostile') && readers.mediaTypes.includes('text/html'))
  const first = await read(readers, 'x')
  assert.equal(await read(readers, 'x'), first)
  assert.equal(await read(readers, 'x', 'text/plain'), 'x')
  assert.equal(processesOf(readers.module).length, 1)
  await readers.close()
  assert.deepEqual(processesOf(readers.module), [])
  await assert.rejects(read(readers, 'x'), /readers are closed/)
})

test('what ends a process ends one file, and says nothing of the server', async (context) => {
  const readers = hostile(context, { timeoutMs: 1_500, memoryBytes: 160 * 1024 * 1024 })
  const ended = 'It could not be read as application/x-hostile: its reader ended, or took more than 160 MiB of memory.'
  const table: Readonly<Record<string, string>> = {
    crash: ended,
    loop: 'It took longer than 1.5 s to read.',
    sleep: 'It took longer than 1.5 s to read.',
    memory: ended,
    heap: ended,
    throw: 'It could not be read as application/x-hostile.',
    refuse: 'It is empty.',
    nonsense: 'Its reader gave something that is no block.',
    endless: 'It has more than 200000 parts. Divide it into several files.',
  }
  for (const [text, message] of Object.entries(table)) {
    const [failed, next] = await Promise.allSettled([read(readers, text), read(readers, 'next', 'text/plain')])
    assert.equal(failed.status === 'rejected' && failed.reason.message, message, text)
    assert.equal(next.status === 'fulfilled' && next.value, 'next', text)
  }
})

test('a process that an earlier file ends later does not fail the file that it reads then', async (context) => {
  const readers = hostile(context)
  await read(readers, 'later')
  assert.match(await read(readers, 'after'), /^after\d+$/)
})

test('an abort ends the reading at once', async (context) => {
  const readers = hostile(context)
  await read(readers, 'x')
  const control = new AbortController()
  const reading = readers.read(Buffer.from('loop'), 'application/x-hostile', control.signal)
  setTimeout(() => control.abort(new Error('stopped')), 50)
  await assert.rejects(reading, /stopped/)
  await until(() => processesOf(readers.module).length === 0)
  const closing = readers.read(Buffer.from('loop'), 'application/x-hostile', signal)
  setTimeout(() => void readers.close(), 50)
  await assert.rejects(closing, /closed/)
})

test('the process has nothing of the environment', async (context) => {
  process.env['WITAN_TEST_SECRET'] = 'canary-7f3a'
  context.after(() => delete process.env['WITAN_TEST_SECRET'])
  const readers = hostile(context)
  const known = ['TZ', 'NODE_CHANNEL_FD', 'NODE_CHANNEL_SERIALIZATION_MODE', 'NODE_V8_COVERAGE', '']
  const names = (await read(readers, 'environment')).split(',')
  assert.deepEqual(
    names.filter((name) => !known.includes(name)),
    [],
  )
  if (process.platform !== 'linux') return
  const whole = readFileSync(`/proc/${processesOf(readers.module)[0]}/environ`, 'utf8')
  assert.ok(!whole.includes('canary'))
})

test('the process ends with its parent, also in the middle of a file, and does not keep its parent alive', async (context) => {
  const { module } = hostile(context)
  const program = (body: string) =>
    spawn(
      process.execPath,
      [
        '--conditions=witan-source',
        '--input-type=module',
        '-e',
        `import { createReaders } from ${JSON.stringify(entry)}
        const readers = createReaders({ modules: [{ mediaTypes: ['a/b'], module: new URL(${JSON.stringify(module.href)}) }] })
        const read = (text) => readers.read(Buffer.from(text), 'a/b', new AbortController().signal);${body}`,
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
  const done = program(`await read('x'); console.log('done')`)
  const output = done.stdout.toArray()
  const [code] = await once(done, 'exit')
  assert.deepEqual([code, Buffer.concat(await output).toString()], [0, 'done\n'])
  await until(() => processesOf(module).length === 0)
  for (const body of [
    `await read('x'); console.log('idle'); setInterval(() => {}, 1000)`,
    `await read('x'); read('loop'); setTimeout(() => console.log('busy'), 50)`,
  ]) {
    const parent = program(body)
    await once(parent.stdout, 'data')
    assert.equal(processesOf(module).length, 1)
    parent.kill('SIGKILL')
    await until(() => processesOf(module).length === 0)
  }
})

const million = 1_000_000
const size = 16 * million
/** Files that are made to take long or much, by their kind. Each ends, read or refused, and holds no turn of this process. */
const poison: Readonly<Record<string, Readonly<Record<string, () => string | Uint8Array>>>> = {
  'text/plain': {
    'no space': () => 'x'.repeat(size),
    'line ends': () => '\n'.repeat(size),
    'spaces after a line end': () => `\n${' '.repeat(size)}`,
    'paragraphs of one letter': () => 'a\n\n'.repeat(size / 3),
  },
  'text/markdown': {
    'open brackets': () => '['.repeat(million),
    'open brackets in a heading': () => `# ${'['.repeat(400)}\n# ${'['.repeat(million)}`,
    'open links and images in headings': () => `# ${'![a]('.repeat(60)}${'!['.repeat(95)}\n`.repeat(size / 500),
    'open emphasis': () => '*a **a '.repeat(million / 7),
    'open tags': () => '<'.repeat(million),
    'open comments': () => '<!--'.repeat(million / 4),
    'open comments, one for each line': () => 'a <!--\n\n'.repeat(million / 8),
    'nested quotes': () => '>'.repeat(million),
    'nested lists': () => Array.from({ length: 3_000 }, (_, at) => `${' '.repeat(at)}- a`).join('\n'),
    'backticks of all lengths': () => Array.from({ length: 1_500 }, (_, at) => '`'.repeat(at)).join(' '),
    'rows of a table': () => `|a|b|\n|-|-|\n${'|1|2|\n'.repeat(million / 6)}`,
    references: () => Array.from({ length: 50_000 }, (_, at) => `[${at}]: x\n`).join('\n'),
    '16 MB of text': () => 'word '.repeat(size / 5),
    '16 MB of headings': () => '# a\n'.repeat(size / 4),
  },
  'text/html': {
    'a hundred thousand levels': () => '<div>'.repeat(100_000),
    'a hundred thousand levels, closed': () => `${'<b>'.repeat(100_000)}x${'</b>'.repeat(100_000)}`,
    'levels just below the limit, and closing tags': () => '<b>'.repeat(9_999) + '</i>'.repeat(100_000),
    'entities by the million': () => '&amp;'.repeat(3 * million),
    'spaces as entities': () => '&#32;'.repeat(3 * million),
    'an endless tag': () => `<a ${'b '.repeat(million)}`,
    'an endless comment': () => `<!--${'-'.repeat(size)}`,
    'an endless style': () => `<p style="${'/*'.repeat(million)}">x`,
    'a list of items': () => `<ul>${'<li>a'.repeat(million)}`,
    'a table of cells': () => `<table>${'<tr><td>a'.repeat(million)}`,
    '16 MB of text': () => 'word '.repeat(size / 5),
  },
  'text/csv': {
    'one quote': () => `a,b\n"${'1,2\n'.repeat(size / 4)}`,
    'many quotes that nothing closes': () => `a\n${'"a",'.repeat(million)}"`,
    'doubled quotes': () => `"${'""'.repeat(million)}`,
    separators: () => ','.repeat(million),
    'long names': () =>
      `${Array.from({ length: 1_000 }, (_, at) => `${at}`.repeat(50)).join()}\n${`${'1,'.repeat(1_000)}\n`.repeat(5_000)}`,
  },
  'application/json': {
    'a hundred thousand levels': () => `${'['.repeat(100_000)}${']'.repeat(100_000)}`,
    'a million lists': () => `[${'[],'.repeat(million)}[]]`,
    'an endless text': () => `"${'\\"'.repeat(million)}`,
    'a hundred levels with long keys': () => {
      let value = '1'
      for (let at = 0; at < 99; at += 1) value = `{"${'k'.repeat(1_000)}":${value},"b":1}`
      return `[${Array.from({ length: 100 }, () => value).join()}]`
    },
  },
  'application/pdf': {
    'a bomb': () => pdfWith([Buffer.from(`BT /F1 9 Tf ${'(word) Tj '.repeat(5 * million)} ET`)]),
    'a bomb in a bomb': () => pdfWith([Buffer.alloc(1_500 * million)], { filters: 3 }),
    'a thousand pages of it': () => pdfWith(Array.from({ length: 1_000 }, () => Buffer.alloc(million, '(x) Tj '))),
    'nested lists': () => pdfWith([Buffer.from(`${'['.repeat(million)} TJ`)]),
    'a page tree that leads to itself': () =>
      Buffer.from(
        pdfWith([]).toString('latin1').replace('Kids[]', 'Kids[2 0 R]').replace('Count 0', 'Count 9'),
        'latin1',
      ),
  },
}

for (const [mediaType, files] of Object.entries(poison))
  for (const [what, make] of Object.entries(files))
    test(`${mediaType}: ${what}`, async (context) => {
      const readers = createReaders({ timeoutMs: 5_000 })
      context.after(() => readers.close())
      const content = Buffer.from(make())
      await readers.read(Buffer.from('x'), 'text/plain', signal)
      const { result } = await assertCheap({ longest: 40 }, async () => {
        try {
          return await readers.read(content, mediaType, signal)
        } catch (error) {
          return (error as Error).message
        }
      })
      assert.ok(typeof result !== 'string' || /^It [^/]*(?:\w+\/\w+)?[^/]*\.$/.test(result), String(result))
      context.diagnostic(typeof result === 'string' ? result : `${result.blocks.length} blocks`)
      assert.equal(await read(readers, 'next', 'text/plain'), 'next')
    })
