/** What files of each kind become. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Block, DocumentReader } from '@witan/core/knowledge'
import { createReaders } from './readers.ts'
import { pdfOf } from './testing/pdf.ts'

const signal = new AbortController().signal

/** Blocks as short lines: `h1 Title`, `p text`, `l list`, `c code`, `r row`. */
function short(block: Block): string {
  const text = JSON.stringify(block.text.trimEnd()).slice(1, -1)
  return block.kind === 'heading' ? `h${block.level} ${text}` : `${block.kind[0]} ${text}`
}

describe('what files become', () => {
  let readers: DocumentReader
  before(() => {
    readers = createReaders()
  })
  after(() => readers.close())

  async function read(content: string | Uint8Array, mediaType: string): Promise<readonly string[] | string> {
    const bytes = typeof content === 'string' ? Buffer.from(content) : content
    try {
      const { title, blocks } = await readers.read(bytes, mediaType, signal)
      return [...(title === null ? [] : [`t ${title}`]), ...blocks.map(short)]
    } catch (error) {
      return (error as Error).message
    }
  }

  const tables: Readonly<Record<string, readonly (readonly [string, string, readonly string[]])[]>> = {
    'text/plain': [
      ['nothing', '', ['p ']],
      ['paragraphs', 'One\ntwo\n\n \t\nthree\r\n\r\nfour\ffive', ['p One\\ntwo', 'p three', 'p four', 'p five']],
    ],
    'text/markdown': [
      [
        'headings and paragraphs',
        '# A **b** [c](x)\nText *x*.\n\nMore\n---\ny',
        ['h1 A b c', 'p Text *x*.', 'h2 More', 'p y'],
      ],
      ['lists stay whole', '- a\n  - b\n\n  c\n- d\n\n1. x\n', ['l - a\\n  - b\\n\\n  c\\n- d', 'l 1. x']],
      ['code', '```js\n# no\n```\n\n    in\n', ['c # no', 'c in']],
      ['tables', '| A | B |\n|---|---|\n| 1 | 2 |\n| | 3 |\n', ['r A: 1; B: 2', 'r B: 3']],
      ['quotes', '> a\n> b\n', ['p a\\nb']],
      ['HTML', '<div>a <b>b</b></div>\n\n<div hidden>no</div>\n\n<script>\nno\n\nno</script>\n', ['p a b']],
      ['comments', 'a <!-- no --> b <!-- no\n\n<!-- no\n\nno -->\nc', ['p a  b', 'p c']],
      ['front matter', '---\ntitle: "A b"\nx: 1\n---\nText', ['t A b', 'c title: \\"A b\\"\\nx: 1', 'p Text']],
      ['empty front matter', '---\n---\nText', ['p Text']],
      ['a rule is no front matter', '---\nText', ['p Text']],
      ['references are not text', '[x]: http://example.org\n\n[x]', ['p [x]']],
    ],
    'text/html': [
      [
        'title and headings',
        '<title>T &amp; x</title><h1>A <i>b</i></h1><p>c<p>d<br>e',
        ['t T & x', 'h1 A b', 'p c', 'p d\\ne'],
      ],
      ['spaces', '<p>a\n  b&nbsp;c</p>  <p> d</p>', ['p a b c', 'p d']],
      ['lists', '<ul><li>a<li>b<ul><li>c</ul><li><p>d</p></ul>e', ['l - a\\n- b\\n  - c\\n- d', 'p e']],
      ['tables', '<table><caption>C</caption><tr><th>A<th>B<tr><td>1<td><p>2</p>3</table>', ['p C', 'r A: 1; B: 2 3']],
      ['tables without heads', '<table><tr><td>1<td>2<tr><td>3<td>4</table>', ['r 1; 2', 'r 3; 4']],
      ['a table in a table', '<table><tr><td>a<table><tr><td>b</table>c</table>', ['r a b c']],
      ['code', '<pre>a\n  <b>b</b></pre>', ['c a\\n  b']],
      [
        'what tags hide',
        'a<script>no</script><style>no</style><template><p>no</template><noscript>no</noscript><!-- no -->b',
        ['p ab'],
      ],
      [
        'what attributes hide',
        '<p hidden>no<p>a<div hidden><p>no<div>no</div></div><dialog>no</dialog><dialog open>b</dialog>',
        ['p a', 'p b'],
      ],
      [
        'what styles hide',
        `${[
          'display:none',
          'DISPLAY : none',
          'color:red;display:none!important',
          'display:/**/none',
          'd\\69splay:none',
          'visibility:hidden',
        ]
          .map((style) => `<p style="${style}">no</p>`)
          .join('')}<p style="display:nonesuch">a</p>`,
        ['p a'],
      ],
      ['a hidden part that is never closed', 'a<div hidden>no<p>no', ['p a']],
      ['void elements that are hidden', '<input hidden>a<br hidden>b', ['p ab']],
      ['tags that are never closed', 'a<p>b<h2>c', ['p a', 'p b', 'h2 c']],
      ['tags that were never opened', '</div>a</td></p>b', ['p a', 'p b']],
      ['entities', '<p>&lt;b&gt; &#x1F600; &unknown;', ['p <b> 😀 &unknown;']],
    ],
    'text/csv': [
      [
        'rows',
        'name,age\n"Ada, L",36\r\nBo,\n\n"x""y","a\nb"',
        ['r name; age', 'r name: Ada, L; age: 36', 'r name: Bo', 'r name: x\\"y; age: a\\nb'],
      ],
      ['semicolons', 'a;b\n1,5;2', ['r a; b', 'r a: 1,5; b: 2']],
      ['tabs', 'a\tb\n1\t2', ['r a; b', 'r a: 1; b: 2']],
      ['more cells than names', 'a\n1,2', ['r a', 'r a: 1; 2']],
      ['a quote that nothing closes', 'a,b\n1,"2\n3,4', ['r a; b', 'r a: 1; b: \\"2', 'r a: 3; b: 4']],
      ['text behind a quote', 'a,b\n"1,2\n3"x,y', ['r a; b', 'r a: 1,2\\n3x; b: y']],
      ['a quote inside a cell', 'a,b\n1"x,2', ['r a; b', 'r a: 1\\"x; b: 2']],
    ],
    'application/json': [
      ['single values', '{"a":1,"b":null,"c":[1,"x"],"d":true}', ['l a: 1\\nc: 1, x\\nd: true']],
      ['objects', '{"a":{"b":1,"c":{"d":{"e":2}}},"f":3}', ['h1 a', 'l b: 1', 'h2 c', 'l d.e: 2', 'l f: 3']],
      ['lists', '[{"a":1,"b":{"c":2}},{"a":[{"d":3}]},4]', ['r a: 1\\nb.c: 2', 'r a[0].d: 3', 'r 4']],
      ['a single value', '"x"', ['p x']],
      ['keys of objects', '{"__proto__":{"a":1}}', ['h1 __proto__', 'l a: 1']],
    ],
  }
  for (const [mediaType, rows] of Object.entries(tables))
    test(`${mediaType}`, async () => {
      for (const [what, text, expected] of rows) assert.deepEqual(await read(text, mediaType), expected, what)
    })

  test('application/pdf', async () => {
    const pages = [
      [
        [20, 20, 'Handbook'],
        [10, 30, 'The first para-'],
        [10, 12, 'graph goes on'],
        [10, 12, 'here.'],
        [10, 30, 'Another one.'],
      ],
      [
        [14, 20, 'Leave'],
        [10, 30, 'Thirty days of leave for everybody who works here.'],
      ],
    ] as const
    assert.deepEqual(await read(pdfOf(pages, { title: 'All of it' }), 'application/pdf'), [
      't All of it',
      'h1 Handbook',
      'p The first paragraph goes on here.',
      'p Another one.',
      'h2 Leave',
      'p Thirty days of leave for everybody who works here.',
    ])
    assert.equal(await read(pdfOf([[]]), 'application/pdf'), 'It has no text: its pages may be images.')
    for (const damaged of [Buffer.from('%PDF-1.4 and no more'), Buffer.alloc(100_000, 'PDF')])
      assert.equal(await read(damaged, 'application/pdf'), 'It is not a PDF, or it is damaged.')
  })

  test('encodings', async () => {
    const umlaut = 'Käse — 知'
    const latin = Buffer.from('K\xe4se', 'latin1')
    const swapped = Buffer.from(`\ufeff${umlaut}`, 'utf16le').swap16()
    const table: readonly (readonly [string, Uint8Array, string, readonly string[] | RegExp])[] = [
      ['UTF-8', Buffer.from(umlaut), 'text/plain', [`p ${umlaut}`]],
      ['UTF-8 with mark', Buffer.from(`\ufeff${umlaut}`), 'text/plain', [`p ${umlaut}`]],
      ['UTF-16 with mark', Buffer.from(`\ufeff${umlaut}`, 'utf16le'), 'text/plain', [`p ${umlaut}`]],
      ['UTF-16, the other order', swapped, 'text/plain', [`p ${umlaut}`]],
      ['the charset of the media type', latin, 'Text/Plain; Charset="ISO-8859-1"', ['p Käse']],
      ['the charset of a page', Buffer.concat([Buffer.from('<meta charset=latin1>'), latin]), 'text/html', ['p Käse']],
      ['a page that says UTF-16 and is not', Buffer.from('<meta charset=utf-16>Käse'), 'text/html', ['p Käse']],
      [
        'the media type before the page',
        Buffer.from('<meta charset=latin1>Käse'),
        'text/html; charset=utf-8',
        ['p Käse'],
      ],
      ['no charset', latin, 'text/plain', /not text in utf-8.*charset=windows-1252/],
      ['an unknown charset', latin, 'text/plain; charset=klingon', /charset is unknown/],
      ['an image', Buffer.from('89504e470d0a1a0a', 'hex'), 'text/plain', /not text in utf-8/],
      ['zeros', Buffer.from('a\0b'), 'text/csv', /has NUL/],
      ['half a pair of UTF-16', Buffer.from('fffe00d8', 'hex'), 'text/plain', /not text in utf-16le/],
    ]
    for (const [what, bytes, type, expected] of table) {
      const found = await read(bytes, type)
      if (expected instanceof RegExp) assert.match(String(found), expected, what)
      else assert.deepEqual(found, expected, what)
    }
  })

  test('what a heading in Markdown says, whatever shape its links have', async () => {
    const quoted = '[a](b'.repeat(120)
    const table: readonly (readonly [written: string, read: string])[] = [
      ['[link](javascript:alert(1))', 'link'],
      ['See [link](https://example.org/a_(b)_(c)) now', 'See link now'],
      ['[link](<a b)c>)', 'link'],
      ['[link](a "b) c")', 'link'],
      ['[a [b] c](d)', 'a [b] c'],
      ['[a `]` b](c)', 'a ] b'],
      ['[**a** _b_](c)', 'a b'],
      ['![photo](a_(b).png) of', 'photo of'],
      ['[![icon](a.png) text](b)', 'icon text'],
      ['![a [b](c) d](e)', 'a b d'],
      ['![a `*b*` c](d)', 'a *b* c'],
      ['[text][ref], [ref][] and [ref]', 'text, ref and ref'],
      ['[text][none] and [none]', '[text][none] and [none]'],
      ['<https://example.org/a> and <me@example.org>', 'https://example.org/a and me@example.org'],
      ['<javascript:alert(1)>', 'javascript:alert(1)'],
      ['https://example.org/a_b_c', 'https://example.org/a_b_c'],
      ['\\[a\\](b)', '[a](b)'],
      ['[a\\]b](c)', 'a]b'],
      ['[a] (b)', '[a] (b)'],
      ['a](b) [c', 'a](b) [c'],
      ['[](b)c', 'c'],
      ['snake_case, 2 * 3 * 4, `a*b`, ~~c~~', 'snake_case, 2 * 3 * 4, a*b, c'],
      ['Map<Key, Value> &amp; <b>x</b>', 'Map<Key, Value> & <b>x</b>'],
      [quoted, quoted],
    ]
    for (const [written, said] of table)
      assert.deepEqual(await read(`# ${written}\n\n[ref]: javascript:x`, 'text/markdown'), [`h1 ${said}`], written)
    assert.deepEqual(await read('[a](b)\n[c](d(e))\n===', 'text/markdown'), ['h1 a\\nc'])
  })

  test('what a reader refuses, and how it says so', async () => {
    const table: readonly (readonly [string, string, string])[] = [
      ['{', 'application/json', 'It is not JSON.'],
      ['['.repeat(100_000), 'application/json', 'It nests deeper than 100 levels.'],
      ['x', 'image/png', 'There is no reader for this media type.'],
    ]
    for (const [text, type, detail] of table) assert.equal(await read(text, type), detail)
  })
})
