/** Stems are those that the Snowball project's own code gives, as PostgreSQL has it. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { testServer } from '../../../../test/postgres/support/server.ts'
import { asAdmin } from '../../../../test/postgres/support/stores.ts'
import { stemOf } from './stem.ts'

/** All words of these pages, and endings of every rule on stems of several lengths. */
function words(): string[] {
  const texts = globSync('{docs,packages}/**/*.md', { exclude: ['**/node_modules/**'] }).map((file) =>
    readFileSync(file, 'utf8'),
  )
  const written =
    texts
      .join(' ')
      .toLowerCase()
      .match(/[a-z]{3,40}/g) ?? []
  const stems = [
    'a',
    'by',
    'cat',
    'add',
    'hop',
    'relat',
    'gener',
    'happ',
    'controll',
    'y',
    'arsen',
    'commun',
    'flow',
    'abil',
  ]
  const endings = `s es ied ies ss us sses ed edly ing ingly eed eedly y ational tional enci anci abli entli izer ization ation ator alism
    aliti alli fulness ousli ousness iveness iviti biliti bli ogi logi fulli lessli li alize icate iciti ical ful ness ative al ance ence er ic
    able ible ant ement ment ent ism ate iti ous ive ize ion sion tion e l ll le`
  const made = stems.flatMap((stem) => endings.split(/\s+/).map((ending) => stem + ending))
  const special =
    'skis skies dying idly gently news howe atlas inning outings herrings exceeding proceed earrings egging added off'
  return [...new Set([...written, ...made, ...special.split(' ')])].filter((word) => word.length > 2)
}

test('every word has the stem of Porter2', async () => {
  const all = words()
  assert.ok(all.length > 2_000)
  const rows = await asAdmin(await testServer(), async (client) => {
    await client.query('begin')
    await client.query('create text search dictionary pg_temp.bare (template = snowball, language = english)')
    const sql = "select w as word, (ts_lexize('pg_temp.bare', w))[1] as stem from unnest($1::text[]) w"
    const found = await client.query(sql, [all])
    await client.query('rollback')
    return found.rows as readonly { readonly word: string; readonly stem: string }[]
  })
  const wrong = rows
    .filter(({ word, stem }) => stemOf(word) !== stem)
    .map(({ word, stem }) => [word, stemOf(word), stem])
  assert.deepEqual(wrong, [])
})
