import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createConversationFold } from '@witan/client'
import type { AnyEvent } from '@witan/protocol'
import { momentOf, tell, type Told, wholeRun } from '../testing/events.ts'
import type { DrawOptions, Line } from './lines.ts'
import { drawTree } from './lines.ts'
import { type PlainOptions, plainLines } from './plain.ts'
import { reasonedWords } from './reasoned.ts'
import { textWidth } from './width.ts'

const textOf = (line: Line) =>
  line
    .map((span) => span.text)
    .join('')
    .trimEnd()

function draw(told: readonly Told[], columns = 70, words?: DrawOptions['words']): string[] {
  const events = tell(...told)
  const { view, take } = createConversationFold()
  for (const event of events) take(event)
  return view.runs
    .flatMap((runId) =>
      drawTree(view, runId, { columns, now: momentOf(events), ...(words === undefined ? {} : { words }) }),
    )
    .map(textOf)
}

function log(events: readonly AnyEvent[], options?: PlainOptions): string[] {
  const fold = createConversationFold()
  return events.flatMap((event) => plainLines(fold, event, options)).map(textOf)
}

describe('the tree of a run', () => {
  test('shows agents, tools, bound names, results, last words, time and tokens', () => {
    assert.deepEqual(draw(wholeRun), [
      '✓ front-desk  Who am I?                              1.1 s   1,125 tok',
      '└─ ✓ clerk  Who is it?                              800 ms   1,005 tok',
      '   ├─ ✓ get-me  full: true, $userId  → { name: "…   100 ms',
      '   ├─ ✓ Stamp  as: "paid"  → done                   300 ms',
      '   └─ It is Janet.',
    ])
  })

  test('[F02] says what a message found in knowledge bases by itself, in the tree and in the log', () => {
    const [asked, started] = wholeRun
    const passage = (document: string) => ({ id: 'kaaaaaaaa', base: 'house\u202e', document })
    const found = (query: string, documents: string[]): Told => ({
      ...{ type: 'retrieval', callId: 'root' },
      content: { query, passages: documents.map(passage) },
    })
    const told = [
      asked,
      started,
      found('Where\nis it?\u001b[2J', ['a.md', 'a.md', 'b', 'c', 'd']),
      found('x', []),
    ] as Told[]
    const first =
      'looked up "Where is it?\\u001b[2J"  → 5 passages: house\\u202e/a.md, house\\u202e/b, house\\u202e/c, 1 more'
    assert.deepEqual(draw(told, 104).slice(1), [`├─ ${first.slice(0, 100)}…`, '└─ looked up "x"  → nothing'])
    assert.deepEqual(log(tell(...told)).slice(1), [`│ ${first}`, '│ looked up "x"  → nothing'])
  })

  test('[F08] shows the plan of an agent under it, and no call that wrote it, in the tree and in the log', () => {
    const step = (id: string, status: string, more = {}) => ({ id, title: `Do\n${id}\u001b[2J`, status, ...more })
    const [asked, started] = wholeRun
    const told = [
      asked,
      started,
      {
        type: 'start',
        kind: 'tool',
        callId: 'write',
        parentCallId: 'root',
        content: { name: 'update_plan', arguments: {}, bound: [] },
      },
      {
        ...{ type: 'plan', callId: 'write', parentCallId: 'root' },
        content: {
          revision: 1,
          steps: [
            step('a', 'completed', { note: 'Was\neasy.' }),
            step('b', 'in_progress'),
            step('c', 'pending'),
            step('d', 'dropped'),
          ],
          reason: null,
        },
      },
      {
        type: 'end',
        kind: 'tool',
        callId: 'write',
        parentCallId: 'root',
        content: { result: { revision: 1 }, truncated: false },
      },
    ] as unknown as Told[]
    assert.deepEqual(draw(told, 60).slice(1), [
      '└─ ☑ Do a\\u001b[2J  Was easy.',
      '   ◐ Do b\\u001b[2J',
      '   ☐ Do c\\u001b[2J',
      '   ☒ Do d\\u001b[2J',
    ])
    assert.deepEqual(log(tell(...told)).slice(1), [
      '│ plan  ☑ Do a\\u001b[2J  ◐ Do b\\u001b[2J  ☐ Do c\\u001b[2J  ☒ Do d\\u001b[2J',
    ])
    const many = Array.from({ length: 23 }, (_, index) => step(`s${index}`, 'pending'))
    const long = [asked, started, { ...told[3], content: { revision: 1, steps: many, reason: null } }] as Told[]
    assert.deepEqual(draw(long, 60).slice(-1), ['   3 more steps'])
  })

  test('[F08] says what a critique found, in the tree and in the log, whatever was written', () => {
    const [asked, started] = wholeRun
    const critique = (verdict: string, problems: string[], by = 'front-desk') =>
      ({ type: 'critique', callId: 'root', content: { verdict, problems, by, seq: 1 } }) as unknown as Told
    const told = [
      asked,
      started,
      critique('revise', ['No\nprice.\u001b[2J', 'b', 'c', 'd']),
      critique('revise', [], 'judge'),
      critique('pass', []),
    ] as Told[]
    const lines = ['critique ↻ No price.\\u001b[2J; b; c; 1 more', 'critique by judge ↻ to be revised', 'critique ✓']
    assert.deepEqual(draw(told).slice(1), [`├─ ${lines[0]}`, `├─ ${lines[1]}`, `└─ ${lines[2]}`])
    assert.deepEqual(
      log(tell(...told)).slice(1),
      lines.map((line) => `│ ${line}`),
    )
  })

  test('[F02] says what a hook decided, in the tree and in the log, whatever was written', () => {
    const [asked, started] = wholeRun
    const hook = (effect: string, at: string, reason: string | null) =>
      ({ type: 'hook', callId: 'root', content: { hook: 'audit', at, effect, reason } }) as unknown as Told
    const told = [
      asked,
      started,
      hook('refused', 'beforeTool', 'Too\nmuch.\u001b[2J'),
      hook('rewritten', 'afterRun', null),
      hook('failed', 'onInterruption', 'hook audit failed'),
    ] as Told[]
    const lines = [
      'hook audit refused beforeTool: Too much.\\u001b[2J',
      'hook audit rewrote afterRun',
      'hook audit failed onInterruption',
    ]
    assert.deepEqual(draw(told).slice(1), [`├─ ${lines[0]}`, `├─ ${lines[1]}`, `└─ ${lines[2]}`])
    assert.deepEqual(
      log(tell(...told)).slice(1),
      lines.map((line) => `│ ${line}`),
    )
  })

  test('[M24] says which address called and for whom, and which one a call goes to', () => {
    const called = { address: '@a\u001b[2J@a.test', hop: 2, onBehalfOf: ['mailto:\u202eu'] }
    const [asked, started] = wholeRun
    const far = { ...wholeRun[3], callId: 'far', content: { message: 'Where?', remote: '@docs\u202e@b.test' } } as Told
    const told = [asked, { ...started, content: { ...started?.content, caller: called } }, far] as Told[]
    assert.deepEqual(
      draw(told, 110).map((line) => line.replace(/ {5,}.*/, '')),
      [
        '⠋ front-desk  ← @a\\u001b[2J@a.test for mailto:\\u202eu, hop 2  Who am I?',
        '└─ ⠋ clerk  @docs\\u202e@b.test  Where?',
      ],
    )
    assert.deepEqual(log(tell(...told)), [
      'front-desk  ← @a\\u001b[2J@a.test for mailto:\\u202eu, hop 2  Who am I?',
      '│ clerk  @docs\\u202e@b.test  Where?',
    ])
  })

  test('marks what runs, with the end of what it is writing', () => {
    const words = 'Once upon a time there was a very long answer that goes on and on'
    const lines = draw(
      [...wholeRun.slice(0, 2), { type: 'delta', callId: 'root', content: { text: words, attempt: 0 } }],
      40,
    )
    assert.match(lines[0] ?? '', /^⠋ front-desk {2}Who am I\?/)
    assert.match(lines[1] ?? '', /^└─ ….*goes on and on▍$/)
  })

  test('a higher attempt and a snapshot replace the text', () => {
    const delta = (text: string, attempt: number, more = {}) => ({
      type: 'delta' as const,
      callId: 'root',
      content: { text, attempt, ...more },
    })
    const start = wholeRun.slice(0, 2)
    assert.equal(draw([...start, delta('half', 0), delta('whole', 1), delta('late', 0)])[1], '└─ whole▍')
    assert.equal(draw([...start, delta('half', 0), delta('all so far', 0, { snapshot: true })])[1], '└─ all so far▍')
  })

  test('folds what a model reasoned to one line, and unfolds it where it is asked for', () => {
    const reasons = (reasoning: string) => ({
      type: 'delta' as const,
      kind: 'reasoning' as const,
      callId: 'root',
      content: { reasoning, attempt: 1 },
    })
    const thinking = [...wholeRun.slice(0, 2), reasons('Let me\u001b[2J see.\n\n'), reasons('A clerk may know.')]
    assert.deepEqual(draw(thinking).slice(1), ['└─ thinking for 100 ms'])
    const over = [...thinking, ...wholeRun.slice(2)]
    assert.deepEqual(
      draw(over)
        .map((line) => line.slice(0, 24).trimEnd())
        .slice(1, 3),
      ['├─ thought for 200 ms', '└─ ✓ clerk  Who is it?'],
    )
    const words = (text: string, columns: number) => reasonedWords(text, { columns, most: 100 })
    assert.deepEqual(draw(thinking, 70, words).slice(1), [
      '└─ thinking for 100 ms',
      '   Let me\\u001b[2J see.',
      '   A clerk may know.',
    ])
    assert.deepEqual(
      log(tell(...over)),
      log(tell(...wholeRun)).map((line) => line.replace(' 1.1 s', ' 1.3 s')),
    )
    assert.deepEqual(log(tell(...over), { reasoning: true }).slice(1, 4), [
      '│ thought for 200 ms',
      '│ Let me\\u001b[2J see.',
      '│ A clerk may know.',
    ])
  })

  test('[T31] says what a tool has saved, whatever its name is', () => {
    const saved = (name: string, bytes = 1200) => ({
      type: 'artifact' as const,
      callId: 'query',
      content: { id: `art_${name}`, name, mediaType: 'text/plain', bytes },
    })
    const at = wholeRun.findIndex(({ callId, type }) => callId === 'query' && type === 'start') + 1
    const told = (...names: string[]) => [...wholeRun.slice(0, at), ...names.map((name) => saved(name))]
    const line = (...names: string[]) => draw(told(...names), 104).find((one) => one.includes('get-me')) ?? ''
    assert.match(line('a\u001b[2J.md'), /full: true, \$userId {2}saved a\\u001b\[2J\.md, 1\.2 kB/)
    assert.match(line('a', 'b', 'c', 'd', 'e'), /saved a, 1\.2 kB; b, 1\.2 kB; c, 1\.2 kB; 2 more/)
    const whole = log(tell(...told('a.md'), ...wholeRun.slice(at)))
    assert.match(whole.join('\n'), /get-me .*saved a\.md, 1\.2 kB {2}→ \{ name/)
  })

  test('marks what waits, fails and is cancelled, and what a person should know', () => {
    const waiting = draw(wholeRun.slice(0, 8))
    assert.match(waiting.join('\n'), /◆ front-desk .*◆ clerk .*◆ Stamp {2}as: "paid" +waits/s)
    const failed = draw([
      ...wholeRun.slice(0, 4),
      { type: 'notice', callId: 'clerk', content: { code: 'DELEGATE_UNAVAILABLE', detail: 'no userId' } },
      { type: 'error', kind: 'agent', callId: 'clerk', content: { code: 'MODEL_CALL_FAILED', detail: 'gone' } },
      { type: 'end', kind: 'agent', callId: 'root', content: { text: '', finishReason: 'cancelled' } },
    ])
    assert.match(
      failed.join('\n'),
      /⊘ front-desk.*✗ clerk {2}MODEL_CALL_FAILED {2}gone.*! DELEGATE_UNAVAILABLE: no userId/s,
    )
  })

  test('a cancelled run leaves nothing that runs or waits', () => {
    const lines = draw([
      ...wholeRun.slice(0, 8),
      { type: 'error', kind: 'agent', callId: 'root', content: { code: 'RUN_CANCELLED', detail: 'by anna' } },
    ])
    assert.doesNotMatch(lines.join('\n'), /[⠋◆]/)
  })

  test('no line is wider than the terminal, with wide letters, at any width', () => {
    const wide: Told[] = [
      ...wholeRun.slice(0, 2),
      {
        type: 'start',
        kind: 'tool',
        callId: 't',
        parentCallId: 'root',
        content: { name: '検索', arguments: { q: '寿司 🍣 and 👩‍👩‍👧 é' }, bound: [] },
      },
    ]
    for (let columns = 8; columns < 120; columns += 1) {
      for (const line of [...draw(wide, columns), ...draw(wholeRun, columns)])
        assert.ok(textWidth(line) <= columns, `${columns}: ${line}`)
    }
  })

  test('what a model or tool wrote cannot move the cursor or colour the screen', () => {
    const evil = '\u001b[2J\u001b]0;title\u0007red\u001b[31m\r\nnext\u202e'
    const lines = draw([
      ...wholeRun.slice(0, 2),
      {
        type: 'start',
        kind: 'agent',
        callId: 'c',
        parentCallId: 'root',
        agentPath: 'front-desk/c',
        content: { message: evil },
      },
    ])
    assert.ok(lines[1]?.startsWith('└─ ⠋ c  \\u001b[2J\\u001b]0;title\\u0007red'), lines[1])
  })
})

describe('the tree in a pipe', () => {
  test('prints each line once, when it is final', () => {
    assert.deepEqual(log(tell(...wholeRun)), [
      'front-desk  Who am I?',
      '│ clerk  Who is it?',
      '│ │ ✓ get-me  full: true, $userId  → { name: "Janet" }  100 ms',
      '│ │ ◆ Stamp  as: "paid"  waits for an answer',
      '│ │ ✓ Stamp  as: "paid"  → done  300 ms',
      '│ ✓ clerk  It is Janet.  800 ms  1,005 tok',
      '✓ front-desk  1.1 s  1,125 tok',
    ])
  })

  test('says who is to answer, for each person whom one call asks', () => {
    const asks = (addressee: string): Told => ({
      type: 'message_required',
      callId: 'ask',
      parentCallId: 'root',
      content: {
        id: `i_${addressee}`,
        kind: 'message',
        prompt: 'Which day?',
        addressee,
        path: 'ask_all_users',
        agent: 'front-desk',
      },
    })
    const lines = log(tell(...wholeRun.slice(0, 2), asks('ines'), asks('role:buyer')))
    assert.match(lines.at(-2) ?? '', /◆ .*waits for an answer from ines$/)
    assert.match(lines.at(-1) ?? '', /◆ .*waits for an answer from role:buyer$/)
  })

  test('says whose tool it is where several agents work at once', () => {
    const both = log(
      tell(
        ...wholeRun.slice(1, 4),
        {
          type: 'start',
          kind: 'agent',
          callId: 'other',
          parentCallId: 'root',
          agentPath: 'front-desk/other',
          content: { message: 'And?' },
        },
        ...wholeRun.slice(4, 6),
      ),
    )
    assert.match(both.at(-1) ?? '', /✓ clerk\/get-me/)
  })
})
