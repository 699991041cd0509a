/** The pages themselves: links that lead somewhere, pages of one screen or two, and nothing of the machine they were written on. */
import assert from 'node:assert/strict'
import { existsSync, statSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, test } from 'node:test'
import { anchorsOf, pagePaths, prose, readPage, root } from './pages.ts'

const paths = pagePaths()
const own = paths.filter((path) => !path.startsWith('examples/'))

function linksOf(path: string): readonly string[] {
  const text = prose(readPage(path))
  const inline = [...text.matchAll(/\]\(\s*<?([^)\s>]+)>?[^)]*\)/g)].map(([, target = '']) => target)
  const attributes = [...text.matchAll(/\b(?:src|srcset|href)="([^"]+)"/g)].map(([, target = '']) => target)
  return [...inline, ...attributes].filter((target) => !/^[a-z][a-z0-9+.-]*:/i.test(target))
}

/** What is wrong with a link, or null. */
function broken(path: string, target: string): string | null {
  const [file = '', anchor] = target.split('#', 2)
  const place = file === '' ? path : normalize(join(dirname(path), decodeURIComponent(file)))
  if (place.startsWith('..') || !existsSync(join(root, place))) return `${path}: ${target} leads nowhere`
  if (anchor === undefined || !place.endsWith('.md') || statSync(join(root, place)).isDirectory()) return null
  return anchorsOf(readPage(place)).has(anchor) ? null : `${path}: ${target} names no heading`
}

describe('the pages', () => {
  test('every relative link leads to a file, and its anchor to a heading', () => {
    const wrong = paths.flatMap((path) => linksOf(path).map((target) => broken(path, target)))
    assert.deepEqual(
      wrong.filter((one) => one !== null),
      [],
    )
  })

  test('every page under docs is reached from its index', () => {
    const index = new Set(
      linksOf('docs/README.md').map((target) => normalize(join('docs', target.split('#')[0] ?? ''))),
    )
    const lost = own.filter((path) => path.startsWith('docs/') && path !== 'docs/README.md' && !index.has(path))
    assert.deepEqual(lost, [])
  })

  test('the front page and every concept have at most 120 lines', () => {
    const long = own
      .filter((path) => path === 'README.md' || path.startsWith('docs/concepts/'))
      .filter((path) => path !== 'docs/concepts/errors.md')
      .filter((path) => readPage(path).split('\n').length > 121)
    assert.deepEqual(long, [])
  })

  test('no page names a folder of somebody’s machine', () => {
    const local = own.filter((path) => /(^|[\s`("'])\/(work|home|root|Users|tmp)\//.test(readPage(path)))
    assert.deepEqual(local, [])
  })

  test('decisions are numbered without a gap, and each has its three parts', () => {
    const decisions = own.filter((path) => path.startsWith('docs/decisions/'))
    decisions.forEach((path, index) => {
      assert.ok(path.startsWith(`docs/decisions/${String(index + 1).padStart(4, '0')}-`), path)
      const parts = [...readPage(path).matchAll(/^## (.+)$/gm)].map(([, heading]) => heading)
      assert.deepEqual(parts, ['Context', 'Choice', 'Cost'], path)
    })
  })
})
