/** What the compiler holds of events, and what only a run can show. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EntryContent } from './entry.ts'
import { type AnyEvent, type Event, type EventOf, eventSchema } from './event.ts'
import { type ReaderTable, readers } from './readers.ts'

type Same<One, Other> = [One] extends [Other] ? ([Other] extends [One] ? true : false) : false

test('the compiler checks the table of readers against the bodies of entries', () => {
  // @ts-expect-error A field that no body has.
  const unknownField: ReaderTable = { ...readers, message: { event: ['author', 'mood'], terse: false } }
  const { cancel, ...others } = readers
  // @ts-expect-error An entry type without a row.
  const missingRow: ReaderTable = others
  type Vote = { readonly type: 'vote'; readonly kind: null; readonly body: { readonly choice: string } }
  // @ts-expect-error A new entry type, of which the table says nothing.
  const newType: ReaderTable<EntryContent | Vote> = readers
  const withRow: ReaderTable<EntryContent | Vote> = { ...readers, vote: { event: ['choice'], terse: true } }
  assert.ok([unknownField, missingRow, newType, withRow, cancel])
})

test('type and kind of an event say what its content holds', () => {
  const words = (event: Event): string | null => {
    if (event.type === 'start') return event.kind === 'agent' ? event.content.message : event.content.name
    if (event.type === 'approval_required') return event.content.digest
    // @ts-expect-error A field that only other events have.
    if (event.type === 'task') return event.content.text
    return event.type === 'end' && event.kind === 'model' ? event.content.model : null
  }
  assert.equal(
    words({ ...envelope, type: 'task', kind: null, content: { taskId: 'c_1', status: 'queued' } }),
    undefined,
  )
  // @ts-expect-error Readers never see the note of a checkpoint.
  const note: keyof EventOf<'checkpoint'>['content'] = 'note'
  // @ts-expect-error A message has no kind.
  const kind: EventOf<'message'>['kind'] = 'agent'
  assert.ok(note && kind)
})

test('the schema of events knows their types and kinds, and takes each of them', () => {
  const types: Same<Event['type'], AnyEvent['type']> = true
  const kinds: Same<Event['kind'], AnyEvent['kind']> = true
  const fits: Event extends AnyEvent ? true : false = true
  assert.ok(types && kinds && fits)
  for (const name of Object.keys(readers)) {
    const [type, kind = null] = name.split(' ')
    assert.ok(eventSchema.safeParse({ ...envelope, type, kind, content: {} }).success, name)
  }
  assert.ok(!eventSchema.safeParse({ ...envelope, type: 'vote', kind: null, content: {} }).success)
})

const envelope = {
  seq: 1,
  callId: 'c_1',
  parentCallId: null,
  rootCallId: 'c_1',
  conversationId: 'chats/1',
  document: 'chats/1',
  author: 'desk',
  agentPath: 'desk',
  invocationId: 'c_1',
  branch: null,
  branchPath: [],
  authorKind: 'agent' as const,
  at: '2026-01-01T00:00:00.000Z',
  actions: {},
}
