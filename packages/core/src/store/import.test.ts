/** An imported file: every line belongs to a database of its first line and fits its type, or nothing is stored. */
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import type { WitanError } from '@witan/protocol'
import { defineAgent } from '../agent/define-agent.ts'
import { createRuntime } from '../runtime.ts'
import { call, scriptedModel, toolResults } from '../testing/scripted-model.ts'
import { memoryStore } from './drivers/memory.ts'
import { type ReadExportOptions, readExport } from '../conversation/read-export.ts'
import { exportStore, importInto } from './export.ts'
import { exportText, readMovingLine } from './export-lines.ts'

type Line = Record<string, unknown> & { readonly kind: string }

const porter = defineAgent({
  id: 'porter',
  instructions: 'x',
  model: scriptedModel((request) => toolResults(request)[0] ?? call('OpenGate', { what: 1 }), { id: 'script/porter' }),
  actions: [{ name: 'OpenGate', description: 'Opens.' }],
  parameters: [{ name: 'userId', sendToModel: false }],
})
const guide = defineAgent({
  id: 'guide',
  instructions: 'x',
  model: scriptedModel(() => 'here', { id: 'script/guide' }),
})
const usher = defineAgent({
  id: 'usher',
  instructions: 'x',
  model: scriptedModel(() => call('transfer_to_agent', { agent_name: 'guide' }), { id: 'script/usher' }),
  transfers: [{ agent: 'guide' }],
})
const panel = defineAgent({ id: 'panel', workflow: { kind: 'parallel', agents: ['usher', 'guide'] } })

/** What a store of two databases exports. */
async function written(): Promise<readonly Line[]> {
  const store = memoryStore()
  const runtime = createRuntime({ store: { ...store, close: async () => {} }, agents: [porter, usher, guide, panel] })
  for (const database of ['acme', 'beta']) {
    const witan = runtime.as({ id: 'user:anna', database, roles: ['admin', 'run'] } as never)
    await witan.keys.create({ id: 'user:anna', roles: ['admin'] })
    await (await witan.start({ agent: 'panel', id: 'chats/1', prompt: 'Go.', users: [{ id: 'bob' }] })).run?.result
    const parameters = { userId: 'u/1' }
    await (await witan.start({ agent: 'porter', id: 'chats/2', prompt: 'Open.', parameters })).run?.result
  }
  await runtime.close()
  const lines: Line[] = []
  for await (const line of exportStore(store, ['acme', 'beta'])) lines.push(JSON.parse(exportText(line)) as Line)
  return lines
}

/** Imports as the command does: looks through first. Returns the databases that the store holds afterwards. */
async function taken(lines: readonly unknown[], options: ReadExportOptions = {}): Promise<readonly string[]> {
  const store = memoryStore()
  await store.open()
  const text = async function* () {
    for (const line of lines) yield JSON.stringify(line)
  }
  try {
    for await (const item of readExport(text(), options)) void item
    for await (const item of readExport(text(), options)) await importInto(store)(item)
    return await store.listDatabases()
  } finally {
    await store.close()
  }
}

describe('what an import takes', () => {
  let good: readonly Line[]
  before(async () => {
    good = await written()
  })

  const refused = (lines: readonly unknown[], says: RegExp, options: ReadExportOptions = {}) =>
    assert.rejects(taken(lines, options), (error: WitanError) => {
      assert.equal(error.code, 'BODY_INVALID', error.message)
      assert.match(error.message, says)
      return true
    })
  const changed = (at: number, change: (line: never) => unknown) =>
    good.map((line, index) => (index === at ? change(structuredClone(line) as never) : line))

  test('every line belongs to a database that the first line names', async () => {
    const lines = good.map((line, index) => (index === 0 ? { ...line, databases: ['acme'] } : line))
    await refused(lines, /belongs to the database `beta`, which the first line does not name/)
    for (const kind of ['agent', 'key', 'conversation']) {
      const at = good.findIndex((line) => line.kind === kind)
      for (const database of ['gamma', 'Acme', '../acme', ''])
        await refused(
          changed(at, (line: Line) => ({ ...line, database })),
          new RegExp(`^line ${at + 1} `),
        )
    }
    for (const databases of [['acme', 'be/ta'], ['acme', ''], [{}]])
      await refused(
        changed(0, (line: Line) => ({ ...line, databases })),
        /^line 1 is not valid at `databases/,
      )
  })

  test('the operator says which databases a file may hold', async () => {
    assert.deepEqual(await taken(good), ['acme', 'beta'])
    assert.deepEqual(await taken(good, { databases: ['beta', 'acme', 'more'] }), ['acme', 'beta'])
    await refused(good, /holds the database `beta`, which is not allowed/, { databases: ['acme'] })
    await refused(good, /not allowed/, { databases: [] })
  })

  test('a key speaks for a person, and an agent line holds revisions of its own agent', async () => {
    const key = good.findIndex(({ kind }) => kind === 'key')
    for (const holder of ['key:other', '@a@b.example', 'user:', 'user:a b', 'admin', 7])
      await refused(
        changed(key, (line: { key: object }) => ({ ...line, key: { ...line.key, holder } })),
        /key\.holder/,
      )
    const agent = good.findIndex(({ kind }) => kind === 'agent')
    await refused(
      changed(agent, (line: Line) => ({ ...line, id: 'other' })),
      /revision of another agent/,
    )
  })

  test('every field of every entry, job and interruption has the form of its type', async () => {
    const odd: readonly unknown[] = [{ a: { b: 1 } }, [[1]], 'x', 7, true, null]
    const parts = { entry: ['body', 'place'], job: ['about', 'result'], interruption: ['view', 'terms'] } as const
    const free = /^(response|arguments|result|answer|output|note|parts|left)$/
    const seen = new Set<string>()
    let tried = 0
    for (const [at, line] of good.entries()) {
      const kind = line.kind as keyof typeof parts
      const row = line[kind] as Record<string, unknown> & { readonly type?: string }
      for (const part of parts[kind] ?? []) {
        const value = (row[part] ?? {}) as Record<string, unknown>
        for (const field of Object.keys(value)) {
          if (free.test(field)) continue
          const name = `${kind} ${row.type ?? ''} ${String(row['kind'] ?? '')} ${part} ${field}`
          if (seen.has(name)) continue
          seen.add(name)
          const results = await Promise.all(
            odd.map((other) => {
              const next = { ...line, [kind]: { ...row, [part]: { ...value, [field]: other } } }
              return taken(changed(at, () => next)).then(
                () => false,
                (error: WitanError) => {
                  // What a later entry does not fit is refused there: the id of a call, say.
                  const line = Number(/^line (\d+) /.exec(error.message)?.[1])
                  assert.ok(line > at || error.message.includes('cannot be stored'), `${name}: ${error.message}`)
                  return true
                },
              )
            }),
          )
          // One or two of the values may fit: an object, a text, a number, a flag, or null.
          assert.ok(results.filter(Boolean).length >= 4, `${name}: ${results}`)
          tried += odd.length
        }
      }
    }
    assert.ok(tried > 500, String(tried))
  })

  test('a number that JavaScript would change keeps its digits, and is refused where a number belongs', () => {
    const at = good.findIndex((line) => JSON.stringify(line).includes('"arguments":{"what":1}'))
    const given = JSON.stringify(good[at])
    const read = readMovingLine(given.replace('"what":1', '"what":9007199254740993'), 7)
    assert.equal(exportText(read), given.replace('"what":1', '"what":"9007199254740993"'))
    const wrong = given.replace(/"seq":\d+/, '"seq":9007199254740993')
    assert.throws(() => readMovingLine(wrong, 7), /line 7 is not valid at `entry\.seq`/)
  })

  test('a body of another form, or an entry of an unknown type, is refused at its line', async () => {
    const at = good.findIndex(({ entry }) => (entry as { type?: string; kind?: string } | undefined)?.type === 'end')
    const entry = good[at]?.['entry'] as object
    for (const change of [
      { body: { a: { b: 1 } } },
      { body: {} },
      { type: 'mood', kind: null },
      { type: 'start', kind: 'model' },
      { type: '__proto__', kind: null },
      { type: 'constructor', kind: null },
    ])
      await refused(
        changed(at, (line: Line) => ({ ...line, entry: { ...entry, ...change } })),
        new RegExp(`^line ${at + 1} is not valid`),
      )
  })

  test('[P19] an entry that cannot stand where it stands is refused at its line', async () => {
    type Row = Record<string, unknown> & { readonly body: object; readonly place: Record<string, unknown> }
    const first = good.findIndex(({ kind }) => kind === 'conversation')
    const count = ((good[first] as Line)['row'] as { readonly lastSeq: number }).lastSeq
    const log: Row[] = good.slice(first + 1, first + 1 + count).map(({ entry }) => entry as Row)
    const at = (index: number) => log[index] as Row
    const where = (type: string, kind: string | null, more: (entry: Row) => boolean = () => true) =>
      log.findIndex((entry) => entry['type'] === type && entry['kind'] === kind && more(entry))
    const isChild = ({ place }: Row) => place['parentCall'] !== null
    const child = where('start', 'agent', isChild)
    const tool = where('start', 'tool')
    const placed = (entry: Row, place: object) => ({ ...entry, place: { ...entry?.place, ...place } })
    const given = (entry: Row, body: object) => ({ ...entry, body: { ...entry?.body, ...body } })
    const holding = ({ body, ...start }: Row, name: string) => {
      const { toolCallId } = body as { readonly toolCallId?: unknown }
      const asked = { kind: 'approval', tool: name, arguments: {}, digest: 'd', id: 'i_x', path: name, callId: 'c_x' }
      const rest = { agent: 'a', addressee: null, state: 'open', expiresAt: null, held: { toolCallId } }
      return { ...start, type: 'approval_required', kind: null, body: { ...asked, ...rest } }
    }
    /** Each gives the log, and the index of the entry that is refused. */
    const cases: readonly (readonly [string, readonly unknown[], number, RegExp])[] = [
      [
        'a call that never began',
        log.with(where('end', 'agent'), placed(at(where('end', 'agent')), { call: 'c_x' })),
        where('end', 'agent'),
        /call `c_x`, which is not under way/,
      ],
      [
        'a parent that is not there',
        log.with(child, placed(at(child), { parentCall: 'c_x' })),
        child,
        /child of `c_x`/,
      ],
      [
        'a result for no call',
        log.toSpliced(tool, 1),
        log.findIndex((entry, index) => index > tool && entry.place['call'] === at(tool).place['call']) - 1,
        /not under way/,
      ],
      ['two starts of one call', log.toSpliced(child + 1, 0, at(child)), child + 1, /a second time/],
      [
        'two ends of one call',
        log.toSpliced(where('end', 'agent') + 1, 0, at(where('end', 'agent'))),
        where('end', 'agent') + 1,
        /not under way/,
      ],
      [
        'two runs at once',
        log.toSpliced(tool, 0, given(placed(at(where('start', 'agent')), { call: 'c_x' }), {})),
        tool,
        /run .* is under way/,
      ],
      ['another document', log.with(tool, placed(at(tool), { document: 'chats/9' })), tool, /place of the call/],
      ['another agent', log.with(child, given(at(child), { agent: 'porter' })), child, /place of a child/],
      ['an unknown revision', log.with(child, given(at(child), { revision: 9 })), child, /revision 9/],
      [
        'a reply to nothing',
        log.with(where('end', 'model'), given(at(where('end', 'model')), { taken: 9 })),
        where('end', 'model'),
        /messages that are not there/,
      ],
      ['an approval of another call', log.with(tool, holding(at(tool), 'other')), tool, /holds the call/],
      ['no tool call', log.with(tool, given(at(tool), { toolCallId: 't_x' })), tool, /tool call `t_x`/],
    ]
    for (const [name, entries, index, says] of cases) {
      const lines = entries.map((entry, before) => ({ kind: 'entry', entry: { ...(entry as Row), seq: before + 1 } }))
      const row = { ...(good[first]?.['row'] as object), lastSeq: lines.length }
      const file = [...good.slice(0, first), { ...good[first], row }, ...lines, ...good.slice(first + 1 + count)]
      await assert.rejects(taken(file), (error: WitanError) => {
        assert.match(error.message, new RegExp(`^line ${first + 2 + index} `), `${name}: ${error.message}`)
        assert.match(error.message, says, name)
        return error.code === 'BODY_INVALID'
      })
    }
  })

  test('[P19] a job that its log does not have, or that stands otherwise in it, is refused at its line', async () => {
    const at = good.findIndex(({ kind }) => kind === 'job')
    const job = good[at]?.['job'] as object
    for (const change of [
      { id: 'c_x' },
      { kind: 'task' },
      { status: 'running' },
      { endedAt: null },
      { result: null },
      { firstSeq: 99 },
    ]) {
      const about = 'kind' in change ? { about: { agent: 'a', agentPath: 'a', toolCallId: 't', runId: 'r' } } : {}
      await refused(
        changed(at, (line: Line) => ({ ...line, job: { ...job, ...about, ...change } })),
        new RegExp(`^line ${at + 1} `),
      )
    }
  })
})
