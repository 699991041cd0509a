/** Limits that no ready lint rule holds: classes, barrels, folder names, doc comments, the clock, seeds. */
import type { SourceFile, Tree, Violation } from './source.ts'
import { isTest, packageOf, withoutStrings } from './source.ts'

const maxClassMembers = 12
const maxBarrelNames = 60
const maxLoopLines = 100
const vagueFolder = /(^|\/)(utils?|helpers?|common)$/

/** Checks every folder name and every file. */
export function checkShape(tree: Tree): Violation[] {
  const folders = tree.folders.filter((folder) => vagueFolder.test(folder)).map(vague)
  return [...folders, ...[...tree.files.values()].flatMap(checkFile)]
}

function vague(folder: string): Violation {
  const allowed = 'no utils, helpers or common'
  return {
    file: folder,
    what: 'is a folder named for nothing',
    allowed,
    fix: 'put each part beside its user or name it for what it is',
  }
}

function checkFile(file: SourceFile): Violation[] {
  const bare = withoutStrings(file.code)
  const lines = bare.split('\n')
  return [
    ...checkClasses(file, lines),
    ...checkDecorators(file, lines),
    ...checkBarrel(file),
    ...checkLoop(file),
    ...checkClock(file, lines),
    ...checkComments(file, lines),
    ...checkHooks(file, lines),
    ...checkSeeds(file, bare),
  ]
}

/** Relies on the formatter: members of a class stand exactly one indent deeper than the class. */
function checkClasses(file: SourceFile, lines: readonly string[]): Violation[] {
  return lines.flatMap((line, index) => {
    const match = /^(\s*)(?:export )?(?:default )?(?:abstract )?class\s+(\w+)(?:<.*>)?(?:\s+extends\s+([\w.]+))?/.exec(
      line,
    )
    if (match === null) return []
    const [, indent = '', name = '', parent] = match
    const end = lines.findIndex((each, at) => at > index && each === `${indent}}`)
    const body = lines.slice(index + 1, end < 0 ? undefined : end)
    const members = body.filter((each) => new RegExp(`^${indent} {2}[\\w#*\\[]`).test(each)).length
    const found: Violation[] = []
    if (members > maxClassMembers) {
      const what = `class ${name} has ${members} members`
      found.push({
        file: at(file, index),
        what,
        allowed: `at most ${maxClassMembers}`,
        fix: 'use functions over values',
      })
    }
    if (parent !== undefined && !/(^|\.)\w*Error$/.test(parent)) {
      const what = `class ${name} extends ${parent}`
      found.push({
        file: at(file, index),
        what,
        allowed: 'inheritance only from Error',
        fix: 'compose, or pass a function',
      })
    }
    return found
  })
}

function checkDecorators(file: SourceFile, lines: readonly string[]): Violation[] {
  return lines.flatMap((line, index) => {
    if (!/^\s*@[A-Za-z]\w*(\(|\s*$|\s+(export|class|static|async|readonly)\b)/.test(line)) return []
    return [
      { file: at(file, index), what: 'uses a decorator', allowed: 'erasable syntax only', fix: 'call a function' },
    ]
  })
}

/** Barrels exist only as a package's own index.ts, and list their names one by one. */
function checkBarrel(file: SourceFile): Violation[] {
  if (!file.path.startsWith('packages/') || !/\/index\.tsx?$/.test(file.path)) return []
  const own = `${packageOf(file.path)}/src/index.ts`
  if (file.path !== own) {
    return [
      { file: file.path, what: 'is a barrel inside a package', allowed: own, fix: 'name the file for what it does' },
    ]
  }
  const found: Violation[] = []
  if (/^export \*/m.test(file.code)) {
    found.push({ file: file.path, what: 'exports with *', allowed: 'names, one by one', fix: 'list the names' })
  }
  const lists = [...file.code.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].map((match) => match[1] ?? '')
  const listed = lists.flatMap((list) => list.split(',')).filter((name) => name.trim() !== '').length
  const names = listed + [...file.code.matchAll(/^export (?!type \{|\{|\*)/gm)].length
  if (names > maxBarrelNames) {
    const what = `exports ${names} names`
    found.push({
      file: file.path,
      what,
      allowed: `at most ${maxBarrelNames}`,
      fix: 'make some private, or declare a second entry',
    })
  }
  return found
}

function checkLoop(file: SourceFile): Violation[] {
  const lines = file.text.trimEnd().split('\n').length
  if (file.path !== 'packages/core/src/run/loop.ts' || lines <= maxLoopLines) return []
  return [
    {
      file: file.path,
      what: `has ${lines} lines`,
      allowed: `at most ${maxLoopLines}`,
      fix: 'move work to perform or decide',
    },
  ]
}

/** The core takes time and chance from its runtime, so that a test can hand in its own. */
function checkClock(file: SourceFile, lines: readonly string[]): Violation[] {
  if (!file.path.startsWith('packages/core/src/') || isTest(file.path) || /\/(clock|ids)\.ts$/.test(file.path))
    return []
  return lines.flatMap((line, index) => {
    const match = /\bDate\.now\b|\bnew Date\(\s*\)|\bMath\.random\b|\bperformance\.now\b|\brandomUUID\b/.exec(line)
    if (match === null) return []
    const allowed = 'only in files named clock.ts or ids.ts'
    return [
      {
        file: at(file, index),
        what: `uses ${match[0]}`,
        allowed,
        fix: 'take the clock or the ids that the runtime hands in',
      },
    ]
  })
}

/** Every name that a published library package exports says what it promises. */
function checkComments(file: SourceFile, lines: readonly string[]): Violation[] {
  if (!/^packages\/(protocol|core|client)\/src\//.test(file.path) || isTest(file.path)) return []
  const text = file.text.split('\n')
  const form = /^export (?:declare )?(?:async )?(?:abstract )?(?:function\*?|const|let|class|interface|type) (\w+)/
  const derived = /^export type \w+ = .*\btypeof \w+/ // what it promises stands above the value it is drawn from
  const seen = new Set<string>()
  return lines.flatMap((line, index) => {
    const name = form.exec(line)?.[1]
    if (name === undefined || seen.has(name)) return []
    seen.add(name)
    if (derived.test(line)) return []
    if (text[index - 1]?.trimEnd().endsWith('*/')) return []
    const fix = 'say in a sentence above it what it promises and what happens at the limit'
    return [
      {
        file: at(file, index),
        what: `exports ${name} without a doc comment`,
        allowed: 'every exported name has one',
        fix,
      },
    ]
  })
}

/** Files of one process share its root: a hook at the top of one file would run around the tests of all. */
function checkHooks(file: SourceFile, lines: readonly string[]): Violation[] {
  if (!isTest(file.path) || /^(examples|test\/(acceptance|faults|browser))\//.test(file.path)) return []
  return lines.flatMap((line, index) => {
    const hook = /^(before|after|beforeEach|afterEach)\(/.exec(line)?.[1]
    if (hook === undefined) return []
    const allowed = 'hooks inside a describe'
    return [{ file: at(file, index), what: `calls ${hook} for the whole file`, allowed, fix: 'wrap it in a describe' }]
  })
}

/** What is drawn without a seed is red by luck, and what fails without the command that repeats it costs hours. */
function checkSeeds(file: SourceFile, bare: string): Violation[] {
  if (!file.path.endsWith('.test.ts') || !/\bfc\.(assert|check)\(/.test(bare)) return []
  const fix = 'call `holds` of test/support/seeds.ts'
  return [
    { file: file.path, what: 'checks a property by itself', allowed: 'test/support/seeds.ts checks them all', fix },
  ]
}

const at = (file: SourceFile, index: number): string => `${file.path}:${index + 1}`
