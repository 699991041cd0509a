/** Hints that the command line shows name commands and options, never requests. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { test } from 'node:test'
import { asCommand } from './hints.ts'

const packages = fileURLToPath(new URL('../../', import.meta.url))

/** Every hint that is written down in the library and the server; what is put in is a word. */
function writtenHints(): string[] {
  const files = globSync('{core,server}/src/**/*.ts', { cwd: packages }).filter(
    (file) => !/\.test\.ts$|openapi/.test(file),
  )
  return files.flatMap((file) =>
    [
      ...readFileSync(join(packages, file), 'utf8').matchAll(
        /(['`])((?:(?!\1)[^\n\\]|\\.)*(?:\/api\/v1|\bPUT\b|\?force)(?:(?!\1)[^\n\\]|\\.)*)\1/g,
      ),
    ]
      .map(([, , text = '']) => text.replace(/\$\{[^}]*\}/g, 'front-desk'))
      .filter((text) => text.includes(' ')),
  )
}

test('no hint of a request reaches somebody at a terminal', () => {
  const hints = writtenHints()
  assert.ok(hints.length >= 8, `only ${hints.length} hints were found`)
  for (const hint of hints) assert.doesNotMatch(asCommand(hint), /\/api\/v1|\bPUT\b|\?force/, hint)
  assert.equal(asCommand('GET /api/v1/agents lists the agents.'), '`witan agents list` lists the agents.')
  assert.equal(
    asCommand('Take it out of those agents first, or delete with ?force=true.'),
    'Take it out of those agents first, or delete with `--force`.',
  )
})
