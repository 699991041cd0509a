/** The guide as a reader types it: the one command that starts the desk, the commands beside it, and what each row of its table gives. */
import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const guide = await readFile(here('../../docs/guides/desk.md'), 'utf8')
const [start = '', ...typed] = [...guide.matchAll(/```sh\n(.*?)```/gs)].map(([, lines = '']) => lines)
const [first = '', ...answers] = [...guide.matchAll(/```text\n(.*?)\n```/gs)].map(([, text = '']) => text)

const kept = /^(PATH|HOME|NODE_COMPILE_CACHE|npm_config_cache)$/
const env = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => kept.test(name))),
  ...{ npm_config_update_notifier: 'false', npm_config_offline: 'true', DESK_PACE_MS: '0' },
}
let root: string
let server: ChildProcess
let [printed, api] = ['', '']

/** What a clone has after `npm ci`, as far as the guide uses it; then `npm run desk`, on a free port. */
before(async () => {
  root = await mkdtemp(join(tmpdir(), 'witan-desk-guide-'))
  await cp(here('.'), join(root, 'examples/desk'), { recursive: true, filter: (path) => !path.endsWith('.witan') })
  for (const file of ['.npmrc', 'package.json']) await cp(here(`../../${file}`), join(root, file))
  for (const folder of ['node_modules', 'packages'])
    await symlink(here(`../../${folder}`), join(root, folder), 'junction')
  const [command = '', ...words] = start.trim().split(' ')
  server = spawn(command, [...words, '--', '--port', '0'], { cwd: root, env, detached: true })
  const heard = (text: Buffer) => {
    printed += text
  }
  server.stdout?.on('data', heard)
  server.stderr?.on('data', heard)
  while (!/API +http:\S+\n/.test(printed)) {
    assert.equal(server.exitCode, null, printed)
    if (server.stdout !== null) await Promise.race([once(server.stdout, 'data'), once(server, 'exit')])
  }
  api = /API +(http:\S+)\n/.exec(printed)?.[1] ?? ''
})
after(async () => {
  if (server.exitCode === null && server.pid !== undefined) {
    process.kill(-server.pid, 'SIGTERM')
    await once(server, 'exit')
  }
  await rm(root, { recursive: true, force: true })
})

/** Runs lines in a shell, in the folder of the example. */
function shell(lines: string): Promise<string> {
  const cwd = join(root, 'examples/desk')
  return new Promise((resolve, reject) => {
    execFile('sh', ['-e', '-c', lines], { cwd, env }, (error, out, err) => {
      if (error === null) resolve(out + err)
      else reject(new Error(`${lines}\n${out}${err}`))
    })
  })
}

test('one command makes the data, asks a first question and serves', () => {
  assert.ok(printed.includes(first), printed)
  assert.match(printed, /no language model is called/)
  assert.match(printed, /│ meetings .*│ emails .*│ critique ✓.*Studio +http:/s)
})

test('the commands beside it give the answers that the guide shows', async () => {
  const lines = typed.join('').replace(/^cd examples\/desk\n/, '')
  const [asked = '', added = ''] = lines.replaceAll('http://127.0.0.1:4747/api/v1', api).split(/(?=^curl )/m)
  const outs = await Promise.all([...asked.trim().split('\n'), added].map(shell))
  const out = outs.join('')
  assert.equal(lines.match(/^npx witan /gm)?.length, 7)
  for (const answer of answers) assert.ok(out.includes(answer), `${answer}\nin\n${out}`)
  assert.doesNotMatch(out, /acct-(alpine|baltic)(?!\/)/, 'the value that no model reads')
  const notices = out.split('\n').filter((line) => /^[│ ]*[!✗] /.test(line))
  assert.deepEqual(
    new Set(notices),
    new Set(['! The agents answer by rules of a script: no language model is called.']),
  )
})

test('each row of the table is understood, said in one conversation', async () => {
  const rows = [...guide.matchAll(/^\| (`.+?`(?:, `.+?`)*) \|/gm)].flatMap(
    ([, cell = '']) => cell.match(/(?<=`)[^`,][^`]*(?=`)/g) ?? [],
  )
  assert.equal(rows.length, 11)
  const input = join(root, 'said.txt')
  await writeFile(input, `${rows.join('\n')}\n`)
  const out = await shell(
    `npx witan chat main --param accountId=acct-alpine --hide accountId < '${input}' || [ $? = 3 ]`,
  )
  assert.doesNotMatch(out, /I have no specialist|I am a script, not/)
  for (const seen of [/\[x?☑|☑ /, /critique ↻/, /I shall remember/, /Kind regards, Nora/, /send_mail/])
    assert.match(out, seen)
})
