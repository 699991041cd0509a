/** The scrubber: no secret comes through it in any form, and what holds none comes through unchanged. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineTool } from '@witan/core'
import { call, toolResults } from '@witan/core/testing'
import fc from 'fast-check'
import { z } from 'zod'
import { holds } from '../support/seeds.ts'
import { createStage } from '../support/stage.ts'
import { assertCheap } from '../support/cpu.ts'

/** Written from the words of the plan: the value, and how others would carry it. */
function formsOf(secret: string): readonly string[] {
  const json = JSON.stringify(secret).slice(1, -1)
  const html = secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
  const bytes = Buffer.from(secret)
  return [
    secret,
    json,
    JSON.stringify(json).slice(1, -1),
    html,
    encodeURIComponent(secret.toWellFormed()),
    new URLSearchParams({ '': secret.toWellFormed() }).toString().slice(1),
    bytes.toString('hex'),
    [...secret].reverse().join(''),
    ...(secret.length > 256 ? [] : [[...secret].join('\u200b')]),
    ...[0, 1, 2].flatMap((lead) => base64Core(bytes, lead)),
  ]
}

/** What of a base 64 does not depend on its neighbours. */
function base64Core(bytes: Buffer, lead: number): readonly string[] {
  const encoded = Buffer.concat([Buffer.alloc(lead), bytes])
    .toString('base64')
    .replace(/=+$/, '')
  const core = encoded.slice(Math.ceil((lead * 4) / 3), (lead + bytes.length) % 3 === 0 ? undefined : -1)
  return [core, core.replaceAll('+', '-').replaceAll('/', '_')]
}

const secret = fc.oneof(
  fc.string({ unit: 'binary', minLength: 8, maxLength: 40 }),
  fc.string({ unit: 'grapheme', minLength: 8, maxLength: 20 }),
  fc.string({
    unit: fc.constantFrom('\\', '"', '\n', '&', '<', '%', '+', '/', ' ', '\ud800', '$', '(', '0'),
    minLength: 8,
    maxLength: 20,
  }),
  fc.string({ unit: 'grapheme-ascii', minLength: 257, maxLength: 300 }),
)
const secrets = fc.array(secret, { minLength: 1, maxLength: 4 })

/** What a model reads of a tool's text, where these values are secret. */
async function readBy(all: readonly string[], text: string): Promise<string> {
  const tool = defineTool({
    name: 'tell',
    description: 'Tells.',
    parameters: z.object({}),
    effect: 'none',
    execute: () => text,
  })
  const parameters = all.map((_, index) => ({ name: `p${index}`, sendToModel: false, secret: true }))
  const given = Object.fromEntries(all.map((one, index) => [`p${index}`, one]))
  const stage = createStage({
    agents: [{ id: 'root', parameters, tools: ['tell'] }],
    plays: { root: [call('tell'), 'done'] },
    options: { tools: [tool] },
  })
  await stage.ask('root', 'go', { parameters: given })
  const last = stage.requests[1]
  assert.ok(last)
  return toolResults(last)[0] ?? ''
}

test('[P24] [D15] no secret comes through, in whatever form and beside whatever else', async (context) => {
  const pieces = fc.array(fc.tuple(fc.string({ unit: 'binary', maxLength: 12 }), fc.nat(), fc.nat()), {
    minLength: 1,
    maxLength: 8,
  })
  const property = fc.asyncProperty(secrets, pieces, async (all, some) => {
    const text = some
      .map(([between, which, how]) => {
        const forms = formsOf(all[which % all.length] ?? '')
        return `${between}${forms[how % forms.length]}`
      })
      .join('')
    const clean = await readBy(all, text)
    for (const one of all)
      for (const form of formsOf(one))
        assert.ok(!clean.includes(form), `${JSON.stringify(form)} in ${JSON.stringify(clean)}`)
  })
  await holds(context, property, 250)
})

test('[P24] a text without secrets is unchanged', async (context) => {
  const plain = fc.string({ unit: fc.constantFrom(...'ghijklm nop.,!?\n{}[]:;#*äß€😀\u200b'), maxLength: 400 })
  const other = fc.string({ unit: fc.constantFrom(...'QRSTUVWXYZ_@=^|'), minLength: 8, maxLength: 40 })
  const property = fc.asyncProperty(fc.array(other, { minLength: 1, maxLength: 4 }), plain, async (all, text) => {
    assert.equal(await readBy(all, text), text)
  })
  await holds(context, property, 300)
})

test('[P24] a long text of near misses takes no time to speak of', async () => {
  const value = 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaab'
  for (const one of ['a', '\\', 'a\u200b', '&#97;', '%61', '\\\\\\\\u0061'])
    await assertCheap({ total: 1_000 }, () => readBy([value], one.repeat(20_000)), one)
})
