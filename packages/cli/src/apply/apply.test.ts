/** Agents from files: read with their places, compared field by field, applied whole or not at all. */
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { createClient } from '@witan/client'
import { loadConfig, startServer, type WitanServer } from '@witan/server'
import { toYaml } from '../commands/export.ts'
import { sitting } from '../testing/person.ts'
import { type Around, deskConfig, witan } from '../testing/witan.ts'

const pair = `# two that list each other
agents:
  - id: left
    model: scripted/desk
    instructions: |
      One.
      Two.
      Three.
    subAgents: [{ agent: right, description: Knows. }]
  - id: right
    model: scripted/desk
    instructions: Help.
    subAgents:
      - agent: left
---
id: third
model: scripted/desk
instructions: Third.
`

let server: WitanServer
let folder: string
let at: string[]
describe('agents in files', () => {
  before(async () => {
    server = await startServer(await loadConfig({ file: deskConfig, env: { WITAN_LOG_LEVEL: 'error' } }))
    folder = await mkdtemp(join(tmpdir(), 'witan-apply-'))
    at = ['--url', server.url]
  })
  after(async () => {
    await server.close()
    await rm(folder, { recursive: true })
  })

  const apply = (words: readonly string[], around: Around = {}) =>
    witan(['agents', 'apply', ...words, ...at], { folder, ...around })
  const file = async (name: string, text: string) => {
    await writeFile(join(folder, name), text)
    return ['-f', name]
  }
  const ids = async () => {
    const listed: string[] = []
    for await (const { id } of createClient({ url: server.url }).agents.all()) listed.push(id)
    return listed
  }
  /** Leaves the two agents of code. */
  const clear = async () => {
    for (const id of await ids())
      if (id !== 'clerk' && id !== 'front-desk') await witan(['agents', 'delete', id, '--force', ...at])
  }

  describe('witan agents apply', () => {
    test('in a narrow terminal nothing of what would change is cut, and no mistake either', async () => {
      const instructions = `Say yes to everybody, ${'and to everything, '.repeat(6)}but never to the taxman.`
      const told = `id: narrow\nmodel: scripted/desk\ninstructions: ${instructions}\n`
      const wrong = `${told}subAgents: [{ agent: narrow-and-rather-long-name-that-nobody-has-given-to-anything }]\n`
      await file('narrow.yaml', told)
      const { screen } = await sitting(['agents', 'apply', '-f', join(folder, 'narrow.yaml'), ...at], ['no'])
      assert.ok(screen.includes('never to the taxman.'), screen)
      await file('wrong.yaml', wrong)
      const refused = await sitting(['agents', 'apply', '-f', join(folder, 'wrong.yaml'), ...at], [])
      assert.match(
        refused.screen.replace(/\s+/g, ' '),
        /lists sub-agent `narrow-and-rather-long-name[a-z-]+`, which does not exist\./,
      )
    })

    test('a warning that a change brings for an agent that stays as it is is told', async () => {
      const parameters = (shown: boolean) => `parameters: [{ name: userId, sendToModel: ${shown} }]`
      const agent = (id: string, rest: string) => `id: ${id}\nmodel: scripted/desk\ninstructions: Work.\n${rest}\n`
      const below = agent('below', `description: Acts.\n${parameters(false)}\nactions: [{ name: Act }]`)
      const above = (shown: boolean) => agent('above', `${parameters(shown)}\nsubAgents: [{ agent: below }]`)
      const quiet = await apply([...(await file('two.yaml', `${above(false)}---\n${below}`)), '--yes'])
      assert.ok(!quiet.out.includes('PARAM_EXPOSED_UPSTREAM'), quiet.out)
      const loud = await apply([...(await file('two.yaml', `${above(true)}---\n${below}`)), '--yes'])
      assert.match(loud.out, /= below {2}unchanged\n! two\.yaml:\d+ {2}below parameters\.0 {2}PARAM_EXPOSED_UPSTREAM/)
      await clear()
    })

    test('[R04] [E02] YAML documents that list each other are shown, and saved in one batch', async () => {
      const from = await file('pair.yaml', pair)
      const looked = await apply([...from, '--dry-run'])
      assert.equal(looked.code, 0, looked.err)
      assert.match(looked.out, /\+ left {2}new\n {4}model {2}"scripted\/desk"\n {4}instructions\n {6}\+ One\.\n/)
      assert.match(looked.out, /! pair\.yaml:9 {2}left subAgents {2}AGENT_CYCLE/)
      assert.match(looked.out, /\n3 new, 0 changed, 0 unchanged\n$/)
      assert.deepEqual(await ids(), ['clerk', 'front-desk'])
      const done = await apply([...from, '--yes'])
      assert.match(done.out, /saved left \(revision 1\)\nsaved right \(revision 1\)\nsaved third \(revision 1\)\n$/)
      const again = await apply(from)
      assert.deepEqual([again.code, again.err], [0, ''], 'nothing to change needs no yes')
      assert.match(
        again.out,
        /= left {2}unchanged\n= right {2}unchanged\n= third {2}unchanged\n\n0 new, 0 changed, 3 unch/,
      )
      await clear()
    })

    test('what changes is shown field by field, old and new, in colours where they are wanted', async () => {
      await apply([...(await file('pair.yaml', pair)), '--yes'])
      const changed = pair
        .replace('Two.', 'Zwei.')
        .replace('description: Knows.', 'description: Knows all.')
        .replace('instructions: Third.', 'instructions: Third.\nlimits: { maxDepth: 3 }\nactions: [{ name: Stamp }]')
      const { out } = await apply([...(await file('pair.yaml', changed)), '--dry-run'])
      assert.match(
        out,
        /~ left {2}2 changes\n {4}instructions\n {8}1 line as before\n {6}- Two\.\n {6}\+ Zwei\.\n {8}1 line/,
      )
      assert.match(out, / {4}subAgents\.right\.description {2}"Knows\." → "Knows all\."\n/)
      assert.match(out, /= right {2}unchanged\n~ third {2}2 changes\n {4}actions\.Stamp {2}\+ \{ name: "Stamp"/)
      assert.match(out, / {4}limits\.maxDepth {2}8 → 3\n/)
      const coloured = await apply([...(await file('pair.yaml', changed)), '--dry-run'], {
        environment: { FORCE_COLOR: '1' },
      })
      assert.ok(coloured.out.includes('\u001b[31m8\u001b[39m\u001b[2m → \u001b[22m\u001b[32m3\u001b[39m'))
      await clear()
    })

    test('a person is asked; in a pipe the files are word enough, and what would change is shown first', async () => {
      const from = await file('third.json', JSON.stringify({ id: 'third', model: 'scripted/desk', instructions: 'x' }))
      const words = ['agents', 'apply', '-f', join(folder, 'third.json'), ...at]
      const no = await sitting(words, ['no'])
      assert.equal(no.code, 1)
      assert.match(no.screen, /Change these agents\? yes or no › .*Nothing was changed\./s)
      assert.deepEqual(await ids(), ['clerk', 'front-desk'])
      const yes = await sitting(words, ['yes'])
      assert.equal(yes.code, 0)
      assert.match(yes.screen, /saved third \(revision \d\)/)
      await clear()
      const piped = await apply(from)
      assert.equal(piped.code, 0, piped.err)
      assert.match(piped.out, /\+ third {2}new.*1 new, 0 changed, 0 unchanged\nsaved third \(revision \d\)\n$/s)
      assert.deepEqual(await ids(), ['clerk', 'front-desk', 'third'])
      await clear()
    })

    test('[R04] all or nothing: one bad agent keeps the others out, and every one is named with its line', async () => {
      const bad = `- id: good
  model: scripted/desk
  instructions: x
- id: left
  model: scripted/desk
  instructions: x
  subAgents:
    - agent: right
      descripton: x
- id: deep
  model: scripted/desk
  instructions: x
  limits:
    maxDepth: 0
- just text
- id: good
  model: scripted/desk
  instructions: y
- id: not-a-number
  model: scripted/desk
  instructions: y
  limits: { maxTokens: .nan }
`
      const { code, out, err } = await apply([...(await file('bad.yml', bad)), '--yes'])
      assert.deepEqual([code, out], [2, ''])
      assert.deepEqual(
        err
          .split('\n')
          .filter((line) => line.startsWith('✗'))
          .map((line) => line.slice(0, 60).trimEnd()),
        [
          '✗ bad.yml:8  left subAgents.0.agent  AGENT_REF_UNKNOWN  Agen',
          '✗ bad.yml:9  left subAgents.0.descripton  UNKNOWN_KEY  Agent',
          '✗ bad.yml:14  deep limits.maxDepth  LIMIT_INVALID  limits.ma',
          '✗ bad.yml:15  AGENT_INVALID  This is not an agent.',
          '✗ bad.yml:16  good id  NAME_TAKEN  Agent `good` is there twi',
          '✗ bad.yml:22  not-a-number limits.maxTokens  LIMIT_INVALID',
        ],
      )
      assert.match(err, /Did you mean `description`\?/)
      assert.match(err, /It is already at bad\.yml:1/)
      const wired = '- id: left\n  model: scripted/dusk\n  instructions: x\n  subAgents:\n    - agent: clerc\n'
      const refs = await apply([...(await file('refs.yaml', wired)), '--yes'])
      assert.match(refs.err, /refs\.yaml:5 {2}left subAgents\.0\.agent {2}AGENT_REF_UNKNOWN .*Did you mean `clerk`\?/)
      assert.match(refs.err, /refs\.yaml:2 {2}left model {2}MODEL_UNKNOWN .*\n {2}→ Did you mean `scripted\/desk`\?/)
      assert.deepEqual(await ids(), ['clerk', 'front-desk'])
    })

    test('mistakes of form and of wiring in several files come in one round, file by file, line by line, each once', async () => {
      const first = `- id: upper
  modell: scripted/desk
  instructions: x
  subAgents:
    - agent: lower
    - agent: loer
- id: lower
  model: scripted/dusk
  instructions: x
  parents: [other]
  temperature: 9
`
      const second = '- id: last\n  model: scripted/desk\n  instructions: x\n  tools: [lok]\n  name: upper\n'
      await file('a-second.yaml', second)
      const { code, err } = await apply([...(await file('first.yaml', first)), '-f', 'a-second.yaml', '--yes'])
      assert.equal(code, 2)
      assert.deepEqual(
        err.split('\n').flatMap((line) => /^✗ (\S+ {2}\S+ \S+ {2}\w+)/.exec(line)?.[1] ?? []),
        [
          'first.yaml:1  upper model  AGENT_INVALID',
          'first.yaml:1  upper id  NAME_TAKEN',
          'first.yaml:2  upper modell  UNKNOWN_KEY',
          'first.yaml:5  upper subAgents.0.agent  PARENT_NOT_ALLOWED',
          'first.yaml:6  upper subAgents.1.agent  AGENT_REF_UNKNOWN',
          'first.yaml:8  lower model  MODEL_UNKNOWN',
          'first.yaml:11  lower temperature  AGENT_INVALID',
          'a-second.yaml:4  last tools.0  TOOL_UNKNOWN',
          'a-second.yaml:5  last name  NAME_TAKEN',
        ],
      )
      assert.doesNotMatch(err, /\/api\/v1/)
      assert.deepEqual(await ids(), ['clerk', 'front-desk'])
    })

    test('text that cannot be read is named with file and line', async () => {
      const rows: [name: string, text: string, said: RegExp][] = [
        ['twice.yaml', 'id: a\nid: b\n', /twice\.yaml:2 cannot be read: Map keys must be unique/],
        ['open.yaml', 'a: [1,\n', /open\.yaml:1 cannot be read/],
        ['next.yaml', 'id: a\nsubAgents: [x\nmodel: b\n', /next\.yaml:2 cannot be read: Flow sequence/],
        ['quote.yaml', 'id: a\nmodel: "x\n', /quote\.yaml:2 cannot be read: Missing closing/],
        ['indent.yaml', 'id: a\n  model: b\n', /indent\.yaml:2 cannot be read/],
        ['colon.yaml', 'id: a\nmodel\ninstructions: x\n', /colon\.yaml:2 cannot be read/],
        ['deep.yaml', 'id: a: b\nmodel: c\n', /deep\.yaml:1 cannot be read/],
        ['comma.json', '{\n "id": "a"\n "model": "b"\n}', /comma\.json:2 cannot be read: Missing ,/],
        ['tag.yaml', 'id: !secret x\n', /tag\.yaml:1 cannot be read: Unresolved tag/],
        ['broken.json', '{\n "id": "a",\n "id": "b" }', /broken\.json:3 cannot be read/],
        [
          'stray.yaml',
          'agents: []\nagent: x\n',
          /stray\.yaml:2 has the key "agent" beside "agents"\.\n→ Did you mean "agents"/,
        ],
        ['empty.yaml', '# nothing\n---\n', /"empty\.yaml" holds no agent/],
        [
          'bomb.yaml',
          `a: &a [x]\n${'bcdefghij'
            .split('')
            .map((n, i) => `${n}: &${n} [${`*${'abcdefghij'[i]},`.repeat(9)}]`)
            .join('\n')}\n`,
          /bomb\.yaml cannot be read/,
        ],
      ]
      for (const [name, text, said] of rows) {
        const { code, err } = await apply(await file(name, text))
        assert.equal(code, 2, name)
        assert.match(err, said)
      }
      assert.match((await apply(['-f', 'none.yaml'])).err, /There is no file "none\.yaml"/)
      assert.match((await apply([])).err, /needs -f FILE/)
    })

    test('a folder is read whole, by name, and standard input as YAML or JSON', async () => {
      await mkdir(join(folder, 'all/deep/.git'), { recursive: true })
      const one = (id: string) => ({ id, model: 'scripted/desk', instructions: 'x' })
      await file('all/b.yaml', 'id: b\nmodel: scripted/desk\ninstructions: x\n')
      await file('all/deep/a.json', JSON.stringify([one('a'), one('c')], null, '\t'))
      await file('all/deep/.git/x.yaml', 'not: [')
      await file('all/notes.txt', 'no agents')
      const { out } = await apply(['-f', 'all', '--dry-run'])
      assert.deepEqual(out.match(/^\+ \w/gm), ['+ b', '+ a', '+ c'])
      for (const input of [JSON.stringify(one('d')), toYaml({ agents: [one('d')] }), `[${JSON.stringify(one('d'))}]`]) {
        assert.match((await apply(['-f', '-', '--dry-run'], { input })).out, /^\+ d {2}new/)
      }
      await mkdir(join(folder, 'bare'))
      assert.match((await apply(['-f', 'bare'])).err, /holds no \.yaml, \.yml or \.json file/)
    })

    test('--prune deletes agents of data that the files leave out, never those of code, and shows them before', async () => {
      await apply([...(await file('pair.yaml', pair)), '--yes'])
      const third = await file('third.yaml', 'id: third\nmodel: scripted/desk\ninstructions: Third.\n')
      const shown = await apply([...third, '--prune', '--dry-run'])
      assert.match(
        shown.out,
        /= third {2}unchanged\n- left {2}goes\n- right {2}goes\n\n0 new, 0 changed, 1 unchanged, 2 to delete/,
      )
      assert.doesNotMatch(shown.out, /clerk|front-desk/)
      const unasked = await apply([...third, '--prune'])
      assert.equal(unasked.code, 2)
      assert.match(
        unasked.err,
        /Nothing was changed: without a terminal, deleting agents cannot be confirmed\.\n→ Add --yes/,
      )
      assert.equal((await ids()).length, 5)
      const lists = {
        'subAgents.0.agent': 'model: scripted/desk\ninstructions: T\nsubAgents:\n  - agent: left\n',
        'transfers.0.agent': 'model: scripted/desk\ninstructions: T\ntransfers:\n  - agent: left\n',
        'workflow.agents.0': 'workflow:\n  kind: sequence\n  agents:\n    - left\n',
      }
      for (const [path, listing] of Object.entries(lists)) {
        const held = await file('held.yaml', `id: third\n${listing}`)
        const refused = await apply([...held, '--prune', '--yes'])
        assert.equal(refused.code, 2)
        assert.match(refused.err, /held\.yaml:5 {2}third \S+ {2}AGENT_REFERENCED .*`left`, which --prune/)
        assert.ok(refused.err.includes(`third ${path}  AGENT_REFERENCED`), refused.err)
      }
      const done = await apply([...third, '--prune', '--yes'])
      assert.match(done.out, /deleted left\ndeleted right\n$/)
      assert.deepEqual(await ids(), ['clerk', 'front-desk', 'third'])
      await clear()
    })

    test('an agent of code stays as it is where nothing differs; where something does, it says what comes of it', async () => {
      const text = (await witan(['agents', 'export', 'clerk', '--format', 'yaml', ...at])).out
      const { out } = await apply([...(await file('clerk.yaml', text.replace('Say who', 'Tell who'))), '--dry-run'])
      assert.match(
        out,
        /~ clerk {2}1 change\n {4}instructions {2}"Say who it is\." → "Tell who it is\."\n {4}! It is defined in code/,
      )
    })
  })

  describe('export and apply', () => {
    test('[P23] what is exported changes nothing when it is applied, as YAML and as JSON, all or some', async () => {
      await apply([...(await file('pair.yaml', pair)), '--yes'])
      const before_ = (await witan(['agents', 'export', ...at])).out
      for (const words of [[], ['--format', 'yaml'], ['--format', 'json'], ['left', 'clerk', '--format', 'yaml']]) {
        const exported = await witan(['agents', 'export', ...words, ...at])
        assert.equal(exported.code, 0, exported.err)
        const { code, out } = await apply(['-f', '-'], { input: exported.out })
        assert.equal(code, 0)
        assert.match(out, /\n0 new, 0 changed, [25] unchanged\n$/)
      }
      assert.equal((await witan(['agents', 'export', ...at])).out, before_)
      assert.match((await witan(['agents', 'export', '--format', 'xml', ...at])).err, /--format "xml" is not known/)
      assert.equal((await witan(['agents', 'export', 'left', 'nobody', ...at])).code, 2)
      await clear()
    })
  })
})
