/** Help is wrapped at words: to the terminal, and to 80 columns on a pipe. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { witan } from './testing/witan.ts'

/** The help of the program, of each group and of each command. */
async function helps(columns?: number): Promise<ReadonlyMap<string, string>> {
  const around = columns === undefined ? {} : { columns, environment: { NO_COLOR: '1' } }
  const program = (await witan(['--help'], around)).out
  const named = (await witan(['--help'])).out.matchAll(/^ {2}([a-z]+(?: [a-z]+)?)/gm)
  const names = [...named].map(([, name = '']) => name)
  assert.ok(names.length > 20 && names.includes('agents list'))
  const helped = new Map([['', program]])
  for (const name of new Set([...names, ...names.map((one) => one.split(' ')[0] ?? '')]))
    helped.set(name, (await witan([...name.split(' '), '--help'], around)).out)
  return helped
}

function widestOf(text: string): number {
  return Math.max(...text.split('\n').map((line) => line.length))
}

for (const columns of [60, 80, 120, undefined])
  test(`no line of any help is wider than ${columns ?? 'the 80 columns of a pipe'}`, async () => {
    for (const [name, text] of await helps(columns))
      assert.ok(widestOf(text) <= (columns ?? 80), `witan ${name} --help\n${text}`)
  })

test('a wide terminal is used, and what stands beside an option goes on below itself', async () => {
  assert.ok(widestOf((await witan(['--help'], { columns: 120 })).out) > 100)
  const { out } = await witan(['run', '--help'])
  assert.match(out, /\n {2}--config FILE {7}The configuration; default: .*\n {22}\S/)
})

test('where it is narrow the explanation stands below its option', async () => {
  const { out } = await witan(['interruptions', 'answer', '--help'], { columns: 60 })
  assert.match(out, /\n {2}--choose QUESTION=OPTION\n {6}Choose an option by its id;/)
})

test('an example that is too long can still be copied', async () => {
  const { out } = await witan(['dev', '--help'])
  assert.match(
    out,
    /\n {2}witan dev --run front-desk --message "Who is my manager\?" \\\n {6}--param userId=employees\/3\n/,
  )
})

test('a group has one help, however it is asked for', async () => {
  const { out } = await witan(['help', 'agents'])
  assert.match(out, /^Usage: witan agents list\|show/)
  assert.equal((await witan(['agents', '--help'])).out, out)
})
