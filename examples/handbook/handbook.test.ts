/** The guide as a reader types it: each of its commands, and the answers that it shows. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))
let root: string
let folder: string

/** What a clone has after `npm ci`, as far as the guide uses it. */
before(async () => {
  root = await mkdtemp(join(tmpdir(), 'witan-handbook-'))
  folder = join(root, 'examples/handbook')
  await cp(here('.'), folder, { recursive: true, filter: (path) => !path.endsWith('.witan') })
  await cp(here('../../.npmrc'), join(root, '.npmrc'))
  await writeFile(join(root, 'package.json'), '{ "private": true, "type": "module" }')
  await symlink(here('../../node_modules'), join(root, 'node_modules'), 'junction')
})
after(() => rm(root, { recursive: true, force: true }))

const { NODE_OPTIONS: _options, ...env } = process.env

/** Runs lines in a shell, from the root of the clone. */
function typed(lines: string): Promise<{ code: number; out: string }> {
  const quiet = {
    ...env,
    npm_config_update_notifier: 'false',
    npm_config_offline: 'true',
    WITAN_EXAMPLE_MODEL: undefined,
  }
  return new Promise((resolve) => {
    execFile('sh', ['-e', '-c', lines], { cwd: root, env: quiet }, (error, out, err) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, out: out + err }),
    )
  })
}

test('the commands of the guide, typed into a shell, give the answers that it shows', async () => {
  const guide = await readFile(here('../../docs/guides/answer-from-your-documents.md'), 'utf8')
  const blocks = [...guide.matchAll(/```sh\n(.*?)```/gs)].map(([, lines = '']) => lines)
  const answers = [...guide.matchAll(/```text\n(.*?)\n```/gs)].map(([, text = '']) => text)
  assert.deepEqual([blocks.length, answers.length], [2, 2])
  const { code, out } = await typed(blocks.join(''))
  assert.equal(code, 0, out)
  assert.equal(blocks[0]?.match(/^npx witan /gm)?.length, 5)
  for (const answer of answers) assert.ok(out.includes(answer), `${answer}\nin\n${out}`)
  const notices = out.split('\n').filter((line) => /^[│ ]*[!✗] /.test(line))
  assert.deepEqual(
    new Set(notices),
    new Set(['! The agents answer by rules of a script: no language model is called.']),
  )
  assert.doesNotMatch(out, /three months/, 'the contract of another customer')
  assert.doesNotMatch(out, /old rule|alert/, 'what no browser shows')
})

test('a file that is changed and one that is gone are so in the next answer', async () => {
  await writeFile(
    join(folder, 'docs/opening-hours.md'),
    '# Opening hours\n\n## Sauna\n\nThe sauna is closed for repairs.\n',
  )
  await rm(join(folder, 'docs/work/travel.html'))
  const { out } = await typed('cd examples/handbook; npx witan knowledge add handbook docs --prune --yes')
  assert.match(out, /added 0, changed 1, unchanged 1, deleted 1, failed 0/)
  assert.match(
    (await typed('cd examples/handbook; npx witan run desk "When does the sauna open?"')).out,
    /closed for repairs/,
  )
  const search = 'cd examples/handbook; npx witan knowledge search handbook "trains second class"'
  assert.doesNotMatch((await typed(search)).out, /Trains are booked/)
})
