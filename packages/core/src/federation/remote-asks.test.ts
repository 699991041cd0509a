/** What another server asks: questions that somebody can answer, and in place of any others its words. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { questionsIn } from './remote-asks.ts'

const plain = { id: 'q', text: 'Which?', options: [], multiple: false, freeText: true, required: true }
const chosen = { ...plain, freeText: false, options: [{ id: 'a', label: 'A' }] }
const asked = (questions: unknown) => {
  const data = { type: 'question', id: 'there', questions }
  const { drafts, asked: there } = questionsIn([
    { kind: 'text', text: 'In my words.' },
    { kind: 'data', data },
  ])
  const [draft] = drafts
  assert.equal(drafts.length, 1)
  return { questions: draft?.kind === 'question' ? draft.questions : [], id: there[0]?.id }
}

test('questions of the form of ours are asked as they are', () => {
  assert.deepEqual(asked([plain, { ...chosen, id: 'r' }]), { questions: [plain, { ...chosen, id: 'r' }], id: 'there' })
})

const unfit: Readonly<Record<string, unknown>> = {
  none: [],
  'no list': {},
  'one without options and free text': [{ ...plain, freeText: false }],
  'two of one id': [plain, { ...plain, text: 'And?' }],
  'two options of one id': [{ ...chosen, options: [...chosen.options, { id: 'a', label: 'B' }] }],
  'an id that objects have': [
    { ...plain, id: '__proto__' },
    { ...plain, id: '' },
  ],
  'an id with a direction mark': [{ ...plain, id: 'q\u202e' }],
  'no words': [{ ...plain, text: '' }],
  'words without end': [{ ...plain, text: 'x'.repeat(4_001) }],
  'half of one': [{ id: 'q', text: 'Which?' }],
  'one that is fit, and none': [plain, null],
  'more than a person reads': Array.from({ length: 21 }, (_, at) => ({ ...plain, id: `q${at}` })),
}
for (const [what, questions] of Object.entries(unfit))
  test(`[D20] [F30] questions that are none here, ${what}: the words beside them are asked`, () => {
    const { questions: shown, id } = asked(questions)
    assert.deepEqual(shown, [{ ...plain, id: 'input', text: 'In my words.' }])
    assert.equal(id, null, 'words are answered by words')
  })
