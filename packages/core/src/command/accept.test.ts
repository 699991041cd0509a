/** A store's refusals, as a caller reads them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refusalError } from './accept.ts'

const codes: Readonly<Record<string, string>> = {
  'reply-taken': 'IN_PROGRESS',
  moved: 'REVISION_MISMATCH',
  contentless: 'CONVERSATION_BUSY',
  missing: 'NOT_FOUND',
  inactive: 'RUN_FINISHED',
  active: 'CONVERSATION_BUSY',
}

for (const [reason, code] of Object.entries(codes)) {
  test(`an append that is refused as ${reason} is ${code}, with what to do`, () => {
    const error = refusalError(reason, 'chats/1')
    assert.equal(error.code, code)
    if (code !== 'NOT_FOUND') assert.match(error.hint ?? '', /\w+ .*\.$/)
  })
}
