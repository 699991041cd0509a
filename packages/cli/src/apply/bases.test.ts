/** Knowledge bases in files: saved with the agents that search them, compared field by field. */
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { loadConfig, startServer, type WitanServer } from '@witan/server'
import { deskConfig, witan } from '../testing/witan.ts'

const both = `knowledge:
  - id: handbook
    description: How we work
    attributes: { floor: number }
agents:
  - id: reader
    model: scripted/desk
    instructions: Look it up.
    knowledgeBases: [handbook]
`

describe('knowledge bases in files', () => {
  let server: WitanServer
  let folder: string
  before(async () => {
    server = await startServer(await loadConfig({ file: deskConfig, env: { WITAN_LOG_LEVEL: 'error' } }))
    folder = await mkdtemp(join(tmpdir(), 'witan-bases-'))
  })
  after(async () => {
    await server.close()
    await rm(folder, { recursive: true })
  })
  const run = (words: string) => witan([...words.split(' '), '--url', server.url], { folder })
  const write = (name: string, text: string) => writeFile(join(folder, name), text)

  test('a base is saved with the agent that searches it, and changes field by field', async () => {
    assert.match((await run('knowledge list')).err, /no knowledge bases yet\. witan knowledge apply/)
    await write('both.yaml', both)
    const first = await run('agents apply -f both.yaml')
    assert.equal(first.code, 0, first.err)
    assert.match(first.out, /\+ handbook {2}knowledge base, new\n {4}description {2}"How we work"\n/)
    assert.match(
      first.out,
      /\n2 new, 0 changed, 0 unchanged\nsaved knowledge base handbook\nsaved reader \(revision 1\)\n$/,
    )
    const again = await run('knowledge apply -f both.yaml')
    assert.match(
      again.out,
      /= handbook {2}knowledge base, unchanged\n= reader {2}unchanged\n\n0 new, 0 changed, 2 unchanged\n$/,
    )
    await write('both.yaml', both.replace('How we work', 'How we live'))
    const changed = await run('knowledge apply -f both.yaml')
    assert.match(
      changed.out,
      /~ handbook {2}knowledge base, 1 change\n {4}description {2}"How we work" → "How we live"\n/,
    )
    await write(
      'stored.yaml',
      `knowledge:\n  - ${(await run('knowledge show handbook')).out.replaceAll('\n', '\n    ')}`,
    )
    assert.match((await run('knowledge apply -f stored.yaml')).out, /0 new, 0 changed, 1 unchanged/)
  })

  test('each mistake is reported with its place, and nothing is saved', async () => {
    const table: Readonly<Record<string, RegExp>> = {
      'knowledge:\n  - id: Big One\n': /wrong\.yaml:2 .*Big One/,
      'knowledge:\n  - id: one\n    pasageCharacters: 7\n': /wrong\.yaml:3 .*pasageCharacters/,
      'knowledge:\n  - id: one\n  - id: one\n': /wrong\.yaml:3 .*NAME_TAKEN.*Knowledge base `one` is there twice/,
      'knowledge: []\nbases: []\n': /"bases" beside "knowledge"/,
    }
    for (const [text, message] of Object.entries(table)) {
      await write('wrong.yaml', text)
      const { code, err } = await run('knowledge apply -f wrong.yaml')
      assert.equal(code, 2, text)
      assert.match(err, message)
    }
    assert.doesNotMatch((await run('knowledge list')).out, /one/)
    assert.match((await run('knowledge apply')).err, /witan knowledge apply needs -f FILE.*\n.*-f bases\.yaml/)
    assert.doesNotMatch((await run('knowledge apply --help')).out, /prune/)
    await write('empty.yaml', '')
    assert.match((await run('knowledge apply -f empty.yaml')).err, /"empty\.yaml" holds no .*knowledge base/)
  })

  test('what is there in a wrong form is not missing too', async () => {
    const agent = 'agents:\n  - id: boss\n    model: scripted/desk\n    instructions: Work.\n'
    const talk = 'protocols:\n  - name: talk\n    messages: 7\n'
    const table: Readonly<Record<string, RegExp>> = {
      [`knowledge:\n  - id: fr\n    language: fr\n${agent}    knowledgeBases: [fr]\n`]:
        /^✗ wrong\.yaml:3 .*"en"\|"none"\.\n.*for every other language\.\nNothing was changed\.\n$/,
      [`knowledge:\n  - id: fr\n    language: fr\n${agent}    knowledgeBases: [{ id: fr, limit: 3 }]\n`]:
        /^✗ wrong\.yaml:3 .*\n.*\nNothing was changed\.\n$/,
      [`${talk}${agent}    speaks: [{ protocol: talk, role: initiator, peers: [front-desk] }]\n`]:
        /^✗ wrong\.yaml:3 .*PROTOCOL_INVALID.*\n.*\nNothing was changed\.\n$/,
      [`knowledge:\n  - id: fr\n    language: fr\n${agent}    knowledgeBases: [en]\n`]: /KNOWLEDGE_UNKNOWN.*`en`/,
    }
    for (const [text, message] of Object.entries(table)) {
      await write('wrong.yaml', text)
      assert.match((await run('agents apply -f wrong.yaml')).err, message, text)
    }
  })

  test('[P23] an export of agents has their bases, and changes nothing when it is applied', async () => {
    await write('both.yaml', `${both}  - id: writer\n    model: scripted/desk\n    instructions: Write.\n`)
    await run('agents apply -f both.yaml')
    for (const format of ['yaml', 'json'] as const)
      for (const [names, bases] of [
        ['', ['handbook']],
        [' reader', ['handbook']],
        [' writer', []],
      ] as const) {
        const { out, code } = await run(`agents export${names} --format ${format}`)
        assert.equal(code, 0)
        for (const base of bases) assert.match(out, new RegExp(`knowledge"?:[^]*id"?: "?${base}`))
        if (bases.length === 0) assert.doesNotMatch(out, /How we work/)
        await write(`export.${format}`, out)
        assert.match((await run(`agents apply -f export.${format}`)).out, /\n0 new, 0 changed, \d+ unchanged\n$/)
      }
  })
})
