/** Documents by path and bound values: one for each set, never two sets in one, and no id that could be taken for another's. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { call, systemText, type ScriptedCall } from '@witan/core/testing'
import fc from 'fast-check'
import { holds } from '../support/seeds.ts'
import { createStage } from '../support/stage.ts'

/** Values that a careless key would run together. */
const value = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    'a',
    'a b',
    '"',
    '","',
    '"],["y","',
    '~2',
    '/leaf',
    'leaf~2',
    'null',
    '\u0000',
    '\ud800',
    'ä',
    'a\u0308',
  ),
  fc.string({ unit: 'binary', maxLength: 6 }),
)
const visits = fc.array(fc.record({ x: value, y: value }), { minLength: 1, maxLength: 8 })

test('[P7] [C7] distinct bound values on one path have distinct documents, equal ones the same', async (context) => {
  const property = fc.asyncProperty(visits, async (all) => {
    const toolCalls = all.map(({ x, y }): ScriptedCall => ({ name: 'mid', arguments: { message: 'go', x, y } }))
    const stage = createStage({
      agents: [
        { id: 'root', subAgents: [{ agent: 'mid', history: 'isolated' }] },
        { id: 'mid', parameters: [{ name: 'x' }, { name: 'y' }], subAgents: [{ agent: 'leaf' }] },
        { id: 'leaf', parameters: [{ name: 'y' }, { name: 'x' }] },
      ],
      plays: {
        root: (_request, turn) => (turn === 0 ? { toolCalls } : 'done'),
        mid: (_request, turn) => (turn === 0 ? call('leaf', { message: 'go' }) : 'done'),
        leaf: (request) => systemText(request),
      },
    })
    await stage.ask('root', 'go', { id: 'chats/1' })
    const leaves = (await stage.events('chats/1')).filter(({ type, author }) => type === 'start' && author === 'leaf')
    assert.equal(leaves.length, all.length)
    const byValues = new Map<string, string>()
    for (const { content, document } of leaves) {
      const { x, y } = content['parameters'] as { x: string; y: string }
      const key = JSON.stringify([x, y])
      assert.equal(byValues.get(key) ?? document, document, 'equal values, two documents')
      byValues.set(key, document)
    }
    const documents = [...byValues.values()]
    assert.equal(new Set(documents).size, byValues.size, 'two sets of values in one document')
    const named = documents.map((_, index) => `chats/1/mid/leaf${index === 0 ? '' : `~${index + 1}`}`)
    assert.deepEqual(documents.sort(), named.sort())
  })
  await holds(context, property, 300)
})

test('[P7] [E8] an id that could be read as another’s path is refused', async (context) => {
  const stage = createStage({ agents: [{ id: 'root' }], plays: { root: ['hi'] } })
  const part = fc.string({ unit: fc.constantFrom('a', 'b', '1', '-', '_', '.'), minLength: 1, maxLength: 5 })
  const odd = fc.constantFrom(
    '/',
    '/leaf',
    '%2f',
    '%2F',
    '..',
    '$',
    '~',
    '~2',
    '\\',
    '?',
    '#',
    ' ',
    '\n',
    '\u200b',
    'é',
  )
  const id = fc.tuple(part, odd, part).map(([before, between, after]) => `chats/${before}${between}${after}`)
  const property = fc.asyncProperty(
    fc.oneof(id, fc.constantFrom('chats/.', 'chats/..', '..', '../x', 'X', '/', '')),
    async (one) => {
      await assert.rejects(stage.runtime.start({ agent: 'root', id: one }), { code: 'ID_INVALID' }, one)
      await assert.rejects(stage.runtime.agents.save({ id: one, model: 'play/model', instructions: 'x' }), {
        code: 'ID_INVALID',
      })
    },
  )
  await holds(context, property, 300)
})
