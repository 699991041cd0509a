/** What A2A 1.0 asks of a server, requirement by requirement, in both bindings. Written from the specification; it is not the official kit. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { keyOf } from './support/a2a.ts'
import { asking } from './support/a2a-asking.ts'
import { type BindingName, bindingNames, boundClient } from './support/a2a-bound.ts'
import { naming } from './support/a2a-naming.ts'
import { reading, streaming } from './support/a2a-reading.ts'
import { type Level, scene, stageNow } from './support/a2a-requirement.ts'
import { sending } from './support/a2a-sending.ts'
import { agent, createStage } from './support/stage.ts'

const keys: string[] = []

before(async () => {
  const stage = await createStage({ prepare: () => ({ server: { domain: 'bots.example' } }) })
  scene.stage = stage
  await stage.save(agent('docs', { address: 'docs', name: 'The docs', description: 'Answers.', questions: true }))
  for (const id of ['user:anna', 'user:bob']) keys.push(await keyOf(stage.witan, { id, roles: ['run'] }))
})
after(() => scene.stage?.close())

const requirements = [...sending, ...reading, ...streaming, ...asking, ...naming]
const clientOf = (binding: BindingName, token = '') => boundClient(stageNow(), { binding, path: '/a2a/docs', token })

for (const binding of bindingNames)
  describe(`A2A 1.0 over ${binding}`, () => {
    for (const { section, level, says, differs, check } of requirements)
      test(`${section} ${level}: ${says}${differs === undefined ? '' : ' (differs)'}`, () =>
        check(clientOf(binding, keys[0]), clientOf(binding, keys[1])))
  })

test('the page says how many requirements are seen, and what differs', () => {
  const page = readFileSync(new URL('../../docs/guides/a2a-conformance.md', import.meta.url), 'utf8')
  const count = (level: Level) => requirements.filter((one) => one.level === level).length
  const said = `${count('MUST')} rows that the specification says MUST of, ${count('SHOULD')} SHOULD and ${count('MAY')} MAY`
  assert.ok(page.includes(said), said)
  for (const { section, level, differs } of requirements)
    if (differs) assert.ok(page.includes(`| ${section} ${level} |`), `no line for ${section} ${level}`)
})
