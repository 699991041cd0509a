/** Files that are sent from the command line: what is read, how it is typed, and what is refused before anything is sent [Rb53]. */
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { deskConfig, witan } from './testing/witan.ts'

const given = ['--config', deskConfig, '--param', 'userId=u/1']

describe('--attach', () => {
  let folder = ''
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'witan-attach-'))
    await writeFile(join(folder, 'picture'), Buffer.from('89504e470d0a1a0a00', 'hex'))
    await writeFile(join(folder, 'notes.md'), '# Notes')
    await writeFile(join(folder, 'empty.txt'), '')
    await writeFile(join(folder, 'huge.bin'), '')
    await truncate(join(folder, 'huge.bin'), 5_242_881)
    for (const name of ['a', 'b', 'c']) await writeFile(join(folder, `${name}.bin`), Buffer.alloc(4_000_000, 1))
    await mkdir(join(folder, 'sub'))
  })
  after(() => rm(folder, { recursive: true }))

  test('[Rb53] files go with the message, typed by their content or their name', async () => {
    const words = ['run', 'front-desk', 'Who is it?', '--attach', 'picture', '--attach', join(folder, 'notes.md')]
    const drawn = await witan([...words, ...given], { folder })
    assert.equal(drawn.code, 0, drawn.err)
    assert.match(drawn.out, / {2}\+ picture, image\/png, 9 bytes\n {2}\+ notes.md, text\/markdown, 7 bytes\n/)
    const { code, out } = await witan([...words, '--json', ...given], { folder })
    assert.equal(code, 0)
    const events = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    const files = events.find(({ type }) => type === 'message').content.files
    assert.deepEqual(
      files.map(({ name, mediaType, bytes }: Record<string, unknown>) => [name, mediaType, bytes]),
      [
        ['picture', 'image/png', 9],
        ['notes.md', 'text/markdown', 7],
      ],
    )
  })

  test('[Rb53] what cannot be sent is wrong usage, and no conversation begins', async () => {
    const wrong: readonly (readonly [paths: readonly string[], says: RegExp])[] = [
      [['none.png'], /"none.png" cannot be read: there is no such file/],
      [['sub'], /"sub" is not a file/],
      [['empty.txt'], /"empty.txt" is empty/],
      [['huge.bin'], /"huge.bin" has 5242881 bytes.*at most 5242880 bytes/s],
      [['a.bin', 'b.bin', 'c.bin'], /12000000 bytes together.*at most 10485760 bytes together/s],
      [Array.from({ length: 21 }, () => 'picture'), /21 files are attached.*at most 20/s],
    ]
    for (const [paths, says] of wrong) {
      const attached = paths.flatMap((path) => ['--attach', path])
      const { code, err } = await witan(['run', 'front-desk', 'x', ...attached, ...given], { folder })
      assert.equal(code, 2, err)
      assert.match(err, says)
    }
  })

  test('[Rb53] a line of a chat attaches a file to the next message', async () => {
    const input = '/attach notes.md\nWho is it?\nAnd now?\n'
    const { code, out } = await witan(['chat', 'front-desk', ...given], { folder, input })
    assert.equal(code, 0)
    assert.match(out, /\+ notes.md, text\/markdown, 7 bytes goes with the next message/)
    const none = await witan(['chat', 'front-desk', ...given], { folder, input: '/attach none\n' })
    assert.deepEqual([none.code, /there is no such file/.test(none.err)], [2, true])
  })
})
