/** The index of ids that a model has read: it knows exactly what a search of all texts would find, and searches no text twice. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { holds } from '../../../../test/support/seeds.ts'
import type { ModelMessage } from '../model/message.ts'
import { idsIn, noIds } from './read-ids.ts'

const ids = ['0', 'v'].map((letter) => `art_${letter.repeat(26)}`)
/** Its last letters begin the next one. */
const chained = `art_${'0'.repeat(23)}art`
const all = [...ids, chained]

const piece = fc.oneof(
  fc.constantFrom(
    ...all,
    'art_',
    'art',
    '_',
    'a',
    `x${ids[0]}x`,
    `${chained}_${'v'.repeat(26)}`,
    ids[1]?.slice(0, 20),
    ids[1]?.slice(20),
  ),
  fc.string({ maxLength: 4 }),
)
const text = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(''))
const step = fc.record({ role: fc.constantFrom('user', 'assistant', 'tool'), content: text })

test('[T31] it knows an id if and only if a text of somebody else has it, however the texts came', async (context) => {
  await holds(
    context,
    fc.property(fc.array(fc.tuple(step, fc.boolean()), { maxLength: 12 }), (steps) => {
      const messages: { role: string; content: string }[] = []
      const found = noIds()
      for (const [{ role, content }, asks] of steps) {
        const last = messages.at(-1)
        // Neighbouring words become one message.
        if (role === 'user' && last?.role === 'user')
          messages[messages.length - 1] = { role, content: `${last.content}${content}` }
        else messages.push({ role, content })
        if (!asks) continue
        const known = idsIn(messages as ModelMessage[], found)
        for (const id of [...all, `art_${'v'.repeat(26)}`])
          assert.equal(
            known.has(id),
            messages.some((one) => one.role !== 'assistant' && one.content.includes(id)),
          )
      }
    }),
    2_000,
  )
})

test('[T31] no text is read again but the last, which may have grown', () => {
  let reads = 0
  const message = (content: string) => ({
    role: 'user',
    get content() {
      reads += 1
      return content
    },
  })
  const messages = Array.from({ length: 10_000 }, () => message('nothing'))
  const found = noIds()
  idsIn(messages as ModelMessage[], found)
  reads = 0
  for (let count = 0; count < 100; count += 1) idsIn(messages as ModelMessage[], found)
  assert.ok(reads <= 100, `${reads} texts were read`)
})

test('[T31] an id is known whose end came after a search', () => {
  const id = `art_${'0'.repeat(26)}`
  for (let cut = 1; cut < id.length; cut += 1) {
    const found = noIds()
    idsIn([{ role: 'user', content: `see ${id.slice(0, cut)}` }], found)
    assert.ok(idsIn([{ role: 'user', content: `see ${id}` }], found).has(id), `cut at ${cut}`)
  }
})
