/** A kept token is taken only from a file that nobody else could have written or read. */
import assert from 'node:assert/strict'
import { chmod, lstat, mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { loadConfig } from '@witan/server'
import { keepToken, readKeptToken, tokenFileOf } from './kept-token.ts'

const token = `${'A'.repeat(42)}_`

async function fileIn(context: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'witan-token-'))
  context.after(() => rm(folder, { recursive: true }))
  return join(folder, 'deep', 'app.db.dev-token')
}

describe('a kept token', () => {
  test('is read again as it was kept, from a file of mode 0600', async (context) => {
    const file = await fileIn(context)
    assert.equal(await readKeptToken(file), undefined)
    await keepToken(file, token)
    assert.equal(await readKeptToken(file), token)
    assert.equal((await stat(file)).mode & 0o777, 0o600)
    const other = token.replaceAll('A', 'B')
    await keepToken(file, other)
    assert.equal(await readKeptToken(file), other)
  })

  test('is not taken from a file that others may read or write, from a link, or in another form', async (context) => {
    const file = await fileIn(context)
    await keepToken(file, token)
    for (const mode of [0o644, 0o620, 0o604]) {
      await chmod(file, mode)
      assert.equal(await readKeptToken(file), undefined, mode.toString(8))
    }
    const planted = `${file}.planted`
    await writeFile(planted, token, { mode: 0o600 })
    await rm(file)
    await symlink(planted, file)
    assert.equal(await readKeptToken(file), undefined)
    await rm(file)
    for (const text of ['', 'short', `${token}${token}`, `${token} x`, '\0'.repeat(43)]) {
      await writeFile(file, text, { mode: 0o600 })
      assert.equal(await readKeptToken(file), undefined, text)
      await rm(file)
    }
    await mkdir(file)
    assert.equal(await readKeptToken(file), undefined)
  })

  test('takes the place of a link instead of writing through it, and of a file with another mode', async (context) => {
    const file = await fileIn(context)
    const target = `${file}.target`
    await keepToken(target, token)
    await symlink(target, file)
    const other = token.replaceAll('A', 'B')
    await keepToken(file, other)
    assert.equal((await lstat(file)).isSymbolicLink(), false)
    assert.equal((await readFile(target, 'utf8')).trim(), token)
    await chmod(file, 0o666)
    await keepToken(file, other)
    assert.equal((await stat(file)).mode & 0o777, 0o600)
  })

  test('lies beside the store file, else beside the configuration', async () => {
    const at = async (url: string) => tokenFileOf(await loadConfig({ cwd: '/tmp', env: { WITAN_STORE_URL: url } }))
    assert.equal(await at('file:./data/app.db'), '/tmp/data/app.db.dev-token')
    assert.equal(await at('memory:'), '/tmp/.witan/dev-token')
    assert.equal(await at('postgres://me:secret@localhost/app'), '/tmp/.witan/dev-token')
  })
})
