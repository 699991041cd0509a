/** Groups of appends: at most 500 in each, those of one conversation in their order, and a long queue is not looked through for each. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Append } from '../../store.ts'
import { GroupCommit } from './group.ts'

/** Appends to these conversations, and how often somebody asked one for its conversation. */
function appendsTo(conversations: readonly string[]) {
  const asked = { times: 0 }
  const appends = conversations.map((conversation, index) => ({
    database: 'default',
    entries: [],
    messageAt: index,
    get conversation() {
      asked.times += 1
      return conversation
    },
  }))
  return { appends: appends as readonly Append[], asked }
}

/** The groups in which these are stored, as the numbers of their appends. */
async function groupsOf(appends: readonly Append[], groupsAtOnce = 2): Promise<readonly (readonly number[])[]> {
  const groups: number[][] = []
  const commits = new GroupCommit({
    async store(_, members) {
      groups.push(members.map(({ append }) => append.messageAt ?? -1))
      await new Promise((resolve) => setImmediate(resolve))
      return members.map(() => ({ ok: true, before: 0, lastSeq: 0, jobs: [] }))
    },
    stored: () => {},
    groupsAtOnce,
  })
  await Promise.all(appends.map((append) => commits.append(append)))
  return groups
}

test('a group has 500 appends at most, and those of one conversation keep their order', async () => {
  const names = Array.from({ length: 1_300 }, (_, index) => `chats/${index % 3 === 0 ? 'same' : index}`)
  const groups = await groupsOf(appendsTo(names).appends)
  assert.deepEqual(
    groups.flat().toSorted((one, other) => one - other),
    names.map((_, index) => index),
  )
  assert.ok(groups.every(({ length }) => length > 0 && length <= 500))
  const same = groups.flat().filter((index) => index % 3 === 0)
  assert.deepEqual(
    same,
    same.toSorted((one, other) => one - other),
  )
})

test('to take a group out of a long queue costs what it takes', async () => {
  const names = Array.from({ length: 10_000 }, (_, index) => `chats/${index}`)
  const { appends, asked } = appendsTo(names)
  const groups = await groupsOf(appends)
  assert.equal(groups.length, 20)
  assert.ok(asked.times <= 5 * names.length, `${asked.times} looks at ${names.length} appends`)
})
