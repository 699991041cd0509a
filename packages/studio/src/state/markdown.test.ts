/** Markdown that grows: the same blocks as of the whole text, settled ones parsed once, and no text that takes long. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { holds } from '../../../../test/support/seeds.ts'
import MarkdownIt, { type Token } from 'markdown-it'
import { type MarkdownBlock, markdownText, webAddress } from './markdown.ts'
import { assertCheap } from '../../../../test/support/cpu.ts'

const renderer = new MarkdownIt()

/** What is shown, as HTML that nobody ever sees. */
function shown(blocks: readonly MarkdownBlock[]): string {
  return blocks
    .map(({ tokens, source }) =>
      tokens === null
        ? `<plain>${source}</plain>`
        : renderer.renderer.render([...tokens] as Token[], renderer.options, {}),
    )
    .join('')
}

const whole = (text: string) => shown(markdownText().blocks(text))

const pieces = [
  ...[
    'a',
    'word ',
    '1',
    '2',
    '. ',
    '- ',
    '* ',
    '+ ',
    '#',
    '## ',
    '> ',
    '|',
    '| x | y |',
    '|---|---|',
    '---',
    '===',
    '```',
    '~~~',
  ],
  ...[
    '\n',
    '\n',
    '\n\n',
    '\n\n',
    ' ',
    '  ',
    '    ',
    '\t',
    '**',
    '_',
    '`',
    '[a](http://b.c)',
    '![a](http://b.c)',
    '[a]: b',
    '\\',
    '<b>',
  ],
  ...['\r\n', '\r', '\0', '&amp;', '~~', 'http://a.b', '1) ', '2. b', '- [ ] '],
]

test('at every moment a text that grows shows what the same text shows as a whole', async (context) => {
  const texts = fc.array(fc.constantFrom(...pieces), { maxLength: 40 })
  await holds(
    context,
    fc.property(texts, (parts) => {
      const growing = markdownText()
      let text = ''
      for (const part of parts) {
        for (const char of part) {
          text += char
          const now = shown(growing.blocks(text))
          if (now !== whole(text)) assert.equal(now, whole(text), JSON.stringify(text))
        }
      }
    }),
    1500,
  )
})

test('what is settled is parsed once and stays the same object, so that a long answer costs by its length', () => {
  const paragraph = 'Some words with **weight** and a [link](https://example.org).\n\n- one\n- two\n\n'
  const growing = markdownText()
  let text = ''
  let before: readonly MarkdownBlock[] = []
  for (let index = 0; index < 200; index += 1) {
    text += paragraph
    const blocks = growing.blocks(text)
    const same = before.findLastIndex((block, at) => block === blocks[at])
    assert.ok(same >= before.length - 3, `${same} of ${before.length}`)
    before = blocks
  }
  assert.equal(before.length, 400)
})

test('another text begins anew', () => {
  const growing = markdownText()
  growing.blocks('one\n\ntwo\n\nthree')
  assert.equal(shown(growing.blocks('four\n\nfive\n')), whole('four\n\nfive\n'))
})

test('no text takes long: what would is shown as it is', async () => {
  const many = (part: string, length = 100_000) => part.repeat(Math.ceil(length / part.length)).slice(0, length)
  const hard = [
    '*a ',
    '**a *b ',
    '_a_b',
    '[',
    '![',
    '[a](',
    '>',
    '> - ',
    '1. ',
    '- ',
    '`',
    '<',
    '&a',
    '~~a~',
    '|',
    'http://a.b/(',
    '\\',
    '#',
  ]
  const texts = [...hard.map((part) => many(part)), ...hard.map((part) => many(`${part}\n`))]
  texts.push(many('word '), `${many('- ', 19_000)}\n\n${many('[', 19_000)}`, `\`\`\`\n${many('x\n')}`)
  for (const text of texts) {
    const { result } = await assertCheap(
      { total: 2_000 },
      () => markdownText().blocks(text),
      JSON.stringify(text.slice(0, 10)),
    )
    const words = result.map(({ source }) => source).join('')
    assert.ok(words.length >= text.trimEnd().length - 1, 'nothing is left out')
  }
  const [code] = markdownText().blocks(`\`\`\`ts\n${many('x\n', 50_000)}\`\`\`\n`)
  assert.equal(code?.tokens?.[0]?.type, 'fence')
  const long = markdownText().blocks(many('word\n\n', 150_000))
  assert.deepEqual([long.at(-1)?.tokens, long.at(-1)?.source.length], [null, 50_000])
})

test('HTML is text, and only web addresses lead anywhere', () => {
  assert.match(whole('<img src=x onerror=alert(1)> <script>x</script>'), /&lt;img src=x onerror=alert\(1\)&gt;/)
  assert.doesNotMatch(whole('<b>x</b>\n\n<div>\ny\n</div>'), /<b>|<div>/)
  for (const href of [
    'javascript:alert(1)',
    'data:text/html,x',
    'vbscript:x',
    'file:///etc/passwd',
    '/agents',
    '//evil.test',
    'mailto:a@b',
    'about:blank',
    '',
    'blob:x',
  ])
    assert.equal(webAddress(href), null, href)
  assert.equal(webAddress('https://example.org/a?b#c')?.host, 'example.org')
})
