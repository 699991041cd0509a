/** What a page says of the calls that wait for a person. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { approvalOf, approvalWords } from './approval.ts'

const when = { required: ['amount'] }
const approvals = [
  'pay',
  { tool: 'book', when },
  { tool: 'book', when: 'code' as const },
  { tool: 'both', when },
  'both',
]

test('an approval is for every call, for those that fit a condition, or for those that the program chooses', () => {
  const words = ['pay', 'book', 'both'].map((tool) => {
    const found = approvalOf({ approvals }, tool)
    return found === null ? null : [approvalWords(found), found.schemas]
  })
  assert.deepEqual(words, [
    ['Each call waits until a person allows it.', []],
    ['A call whose arguments fit its condition, or that the program chooses waits until a person allows it.', [when]],
    ['Each call waits until a person allows it.', [when]],
  ])
  assert.equal(approvalOf({ approvals }, 'read'), null)
})
