/** What pages say of the code: what is missing is missing, a table of keys has the keys of its schema, and a table is a table. */
import assert from 'node:assert/strict'
import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import {
  actionSchema,
  agentSchema,
  limitsSchema,
  parameterSchema,
  protocolSchema,
  querySchema,
  subAgentEdgeSchema,
  userSchema,
} from '@witan/protocol/schemas'
import { loadConfig } from '@witan/server'
import { isWitanError } from '@witan/protocol'
import { pagePaths, readPage, root } from './pages.ts'
import { rulesOf } from './rules.ts'

const pages = pagePaths().filter(
  (path) => path.endsWith('.md') && path !== 'CHANGELOG.md' && !path.includes('decisions/'),
)

const has = (schema: { shape: object }, ...keys: string[]) => keys.some((key) => Object.hasOwn(schema.shape, key))
const route = (pattern: RegExp) =>
  globSync('packages/server/src/**/*.ts', { cwd: root }).some((path) => pattern.test(readPage(path)))
const studioPage = (pattern: RegExp) =>
  globSync('packages/studio/src/pages/**/*.tsx', { cwd: root }).some((path) => pattern.test(path))
const isPlanned = (id: string) =>
  rulesOf(readPage('docs/rules.md')).some((rule) => rule.id === id && rule.state === 'planned')

/** What a configuration is refused with. */
async function refusalOf(config: object): Promise<{ readonly message: string; readonly hint: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'witan-claims-'))
  try {
    writeFileSync(join(folder, 'witan.config.json'), JSON.stringify(config))
    await loadConfig({ cwd: folder, env: {} })
  } catch (error) {
    if (isWitanError(error)) return { message: error.message, hint: String(error.hint) }
    throw error
  } finally {
    rmSync(folder, { recursive: true })
  }
  return { message: '', hint: '' }
}
const noTrust = await refusalOf({ federation: { trust: [] } })
/** The refusal of a key that is like no other names all that there are. */
const configKeys = /Known: (.*)\./.exec((await refusalOf({ zzqqxxyyzzqqxxyy: 1 })).hint)?.[1]?.split(', ') ?? []
const configSchema = { shape: Object.fromEntries(configKeys.map((key) => [key, true])) }

/** What a page may say is missing, and how the code tells that it was built meanwhile. */
const missing: Readonly<Record<string, () => boolean>> = {
  'remote agents': () => has(agentSchema, 'remotes'),
  'agents as MCP tools': () => route(/['"`]\/mcp['"`]/),
  'knowledge search': () => has(agentSchema, 'knowledgeBases'),
  knowledge: () => has(agentSchema, 'knowledgeBases'),
  memory: () => has(agentSchema, 'memory'),
  plans: () => has(agentSchema, 'enablePlanning'),
  hooks: () => has(agentSchema, 'hooks'),
  guardrails: () => has(agentSchema, 'guardrails'),
  A2A: () => route(/['"`/]a2a\b/i),
  'AI SDK and AG-UI endpoints': () => route(/ag-ui|['"`/]ui-streams?\b/i),
  'AI SDK': () => route(/['"`/]ui-streams?\b/i),
  'AG-UI': () => route(/ag-ui/i),
  '`federation.trust`': () => !/is not built in this version/.test(noTrust.message),
  'other channels': () => userSchema.shape.channel.unwrap().options.length > 1,
  'one open question at a time for a person': () => !isPlanned('E61'),
  'editing agents': () => studioPage(/agent.*edit|edit.*agent/),
  'comparing runs': () => studioPage(/compar/),
  'a search in whole conversations': () => studioPage(/search/),
}

/** Each thing that a page says is missing, under the heading or after the words. */
function missingIn(page: string): readonly string[] {
  const parts = [
    ...page.matchAll(
      /(?:^## Not built yet\n\n|(?:Not built yet|Not there yet)[^:\n]*: )([\s\S]*?)(?=\n\n|\n*$(?![\s\S]))/gm,
    ),
  ]
  return parts.flatMap(([, list = '']) => {
    const [first = ''] = list
      .replace(/\[([^\]]+)\]\([^)]*\)/g, '$1')
      .replace(/\s+/g, ' ')
      .split(/\.(?: |$)/)
    return first
      .replace(/^the log in other formats \((.*)\)$/, '$1')
      .split(/, and |, | and (?=MCP)/)
      .map((word) =>
        word
          .replace(/^UI messages of the /, '')
          .replaceAll("'", '’')
          .replace(/^(?!AI|AG|A2A|MCP)./, (sign) => sign.toLowerCase()),
      )
  })
}

describe('what a page says is not built', () => {
  test('is known here by name, and is not built', () => {
    const wrong = pages.flatMap((path) =>
      missingIn(readPage(path)).flatMap((word) => {
        const isBuilt = Object.hasOwn(missing, word) ? missing[word] : undefined
        if (isBuilt === undefined) return [`${path}: "${word}" has no check in this test`]
        return isBuilt() ? [`${path}: "${word}" is built`] : []
      }),
    )
    assert.deepEqual(wrong, [])
    assert.ok(pages.flatMap((path) => missingIn(readPage(path))).length >= 10, 'the sections are found')
  })

  test('stands under its heading or after its words, and nowhere else', () => {
    const wrong = pages.flatMap((path) =>
      readPage(path)
        .split('\n')
        .filter((line) => /\b(?:(?:is|are) planned\b|no edge asks yet|(?:is|are) not (?:built|there) yet)/i.test(line))
        .filter((line) => !/Keys and values of features that are not built yet/.test(line))
        .map((line) => `${path}: ${line}`),
    )
    assert.deepEqual(wrong, [])
  })
})

/** The keys in the first column of the table of a page whose head begins with that word: those below `prefix`, or those that stand alone. */
function keysIn(path: string, head: string, prefix: string): ReadonlySet<string> {
  const lines = readPage(path).split('\n')
  const at = lines.findIndex((line) => line.startsWith(`| ${head} |`))
  assert.ok(at >= 0, `${path} has a table of ${head}`)
  const end = lines.findIndex((line, index) => index > at && !line.startsWith('|'))
  const cells = lines.slice(at + 2, end).map((line) => line.split('|')[1] ?? '')
  const keys = cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, key = '']) => key))
  return new Set(
    keys
      .filter((key) => key.startsWith(prefix))
      .map((key) => key.slice(prefix.length))
      .filter((key) => /^\w+$/.test(key)),
  )
}

/** The tables of keys, with the schema of each. */
const tables: readonly {
  readonly path: string
  readonly head: string
  readonly schema: { readonly shape: object }
  readonly prefix?: string
}[] = [
  { path: 'docs/concepts/agents.md', head: 'field', schema: agentSchema },
  { path: 'docs/concepts/configuration.md', head: 'key', schema: configSchema },
  { path: 'docs/concepts/budgets.md', head: 'limit', schema: limitsSchema },
  { path: 'docs/concepts/sub-agents.md', head: 'field', schema: subAgentEdgeSchema },
  {
    path: 'docs/concepts/transfers.md',
    head: 'key',
    schema: agentSchema.shape.transfers.unwrap().element,
    prefix: 'transfers[].',
  },
  { path: 'docs/concepts/workflows.md', head: 'key', schema: agentSchema.shape.workflow.unwrap().unwrap() },
  { path: 'docs/concepts/peers.md', head: 'key', schema: agentSchema.shape.speaks.unwrap().element },
  { path: 'docs/concepts/protocols.md', head: 'field', schema: protocolSchema },
]

describe('a table of keys', () => {
  for (const { path, head, schema, prefix = '' } of tables)
    test(`${path} has each key of its schema, and no other`, () => {
      const known = keysIn(path, head, prefix)
      const keys = Object.keys(schema.shape)
      assert.deepEqual(
        keys.filter((key) => !known.has(key)),
        [],
        'missing in the table',
      )
      assert.deepEqual(
        [...known].filter((key) => !keys.includes(key)),
        [],
        'unknown to the schema',
      )
    })

  test('an agent’s parameters, queries, actions and people have each of their keys on their page', () => {
    for (const [path, schema] of [
      ['parameters', parameterSchema],
      ['queries', querySchema],
      ['actions', actionSchema],
      ['channels', userSchema.pick({ channel: true })],
      ['interruptions', userSchema.omit({ channel: true })],
    ] as const) {
      const page = readPage(`docs/concepts/${path}.md`)
      const lost = Object.keys(schema.shape).filter((key) => !new RegExp(`\\b${key}\\b`).test(page))
      assert.deepEqual(lost, [], path)
    }
  })
})

/** The blocks of lines that look like rows. */
function tableBlocks(page: string): readonly (readonly string[])[] {
  const prose = page.replace(/^(`{3,})[^\n]*\n[\s\S]*?^\1$/gm, '')
  return [...prose.matchAll(/(?:^[ \t]*\|.*(?:\n|$))+/gm)].map(([block = '']) => block.trimEnd().split('\n'))
}

const cellsOf = (row: string) => row.replace(/`[^`]*`/g, (code) => code.replaceAll('\\|', '')).split(/(?<!\\)\|/).length

test('a table has a head, a line below it, and as many cells in each row', () => {
  const broken = pages.flatMap((path) =>
    tableBlocks(readPage(path)).flatMap((rows) => {
      const [head = '', line = ''] = rows
      if (!/^\s*\|(?:\s*:?-{3,}:?\s*\|)+\s*$/.test(line)) return [`${path}: no head above: ${head}`]
      return rows
        .filter((row) => cellsOf(row) !== cellsOf(head) || !row.trimEnd().endsWith('|'))
        .map((row) => `${path}: ${row}`)
    }),
  )
  assert.deepEqual(broken, [])
})
