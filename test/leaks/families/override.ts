/** Family B: the model writes a name that is bound for it, in every spelling; what do executors work with? */
import { defineTool, memoryStore, type QuerySource } from '@witan/core'
import { type Rule, systemText } from '@witan/core/testing'
import type { AgentInput, AnyEvent } from '@witan/protocol'
import { storedEntries } from '../../support/claims.ts'
import { actionsIn, type AgentDraft, createStage } from '../../support/stage.ts'
import { canary, scannerOf } from '../support/canary.ts'
import { schemaOf } from '../support/careless.ts'
import type { Ledger } from '../support/ledger.ts'
import { textOf } from '../support/texts.ts'

type Parameter = NonNullable<AgentInput['parameters']>[number]

/** What the model writes, as raw JSON beside `"topic":"x"`; `isName` where a reader would take it for the bound name, and not for one within another. */
const spellings: Readonly<Record<string, { readonly text: string; readonly isName: boolean }>> = {
  'the name': { text: '"userId":"evil"', isName: true },
  'upper case': { text: '"USERID":"evil"', isName: true },
  'other case': { text: '"UserId":"evil"', isName: true },
  'full width': { text: '"ｕｓｅｒＩｄ":"evil"', isName: true },
  'zero-width behind': { text: '"userId\u200b":"evil"', isName: true },
  'byte order mark': { text: '"\ufeffuserId":"evil"', isName: true },
  'word joiner within': { text: '"us\u2060erId":"evil"', isName: true },
  'Cyrillic letter': { text: '"us\u0435rId":"evil"', isName: true },
  'Greek capital': { text: '"user\u0399d":"evil"', isName: true },
  'a prototype': { text: '"__proto__":{"userId":"evil"}', isName: false },
  'constructor.prototype': { text: '"constructor":{"prototype":{"userId":"evil"}}', isName: false },
  nested: { text: '"parameters":{"userId":"evil"}', isName: false },
  twice: { text: '"userId":"evil","userId":"evil"', isName: true },
  'an array': { text: '"userId":["evil"]', isName: true },
  null: { text: '"userId":null', isName: true },
}
const kinds = ['query', 'action', 'sub-agent', 'wrapped agent', 'function', 'open function'] as const
const isChild = (kind: (typeof kinds)[number]) => kind === 'sub-agent' || kind === 'wrapped agent'
const policies: Readonly<Record<string, Partial<Parameter>>> = {
  shown: {},
  hidden: { sendToModel: false },
  'hidden and forbidden': { sendToModel: false, policy: 'forbidModelGeneration' },
}

interface Case {
  readonly kind: (typeof kinds)[number]
  readonly spelling: string
  readonly policy: Partial<Parameter>
  /** The tool itself asks for the bound name. */
  readonly conflict: boolean
  readonly id: string
}

/** Plays every case. */
export async function playOverrides(ledger: Ledger): Promise<void> {
  let number = 0
  for (const kind of kinds)
    for (const [policyName, policy] of Object.entries(policies))
      for (const conflict of [true, false])
        for (const spelling of Object.keys(spellings)) {
          ledger.begin(
            `${kind}, ${policyName}, ${conflict ? 'asked for by the tool too' : 'not asked for'}, ${spelling}`,
          )
          const one = { kind, spelling, policy, conflict, id: `b${++number}` }
          if (kind === 'query' && conflict) await refuseConflict(one, ledger)
          else await playCase(one, ledger)
        }
}

const schema = (conflict: boolean) => ({
  type: 'object',
  properties: { topic: { type: 'string' }, ...(conflict ? { userId: { type: 'string' } } : {}) },
  required: conflict ? ['topic', 'userId'] : ['topic'],
})
const sql = 'select $userId as owner, $topic as topic'

function agentsOf({ kind, policy, conflict }: Case): readonly AgentDraft[] {
  const userId = { name: 'userId', ...policy }
  const root: AgentDraft = { id: 'root', parameters: [userId] }
  if (kind === 'query')
    return [{ ...root, queries: [{ name: 'target', source: 'fake', query: sql, parametersSchema: schema(conflict) }] }]
  if (kind === 'action') return [{ ...root, actions: [{ name: 'target', parametersSchema: schema(conflict) }] }]
  if (!isChild(kind)) return [{ ...root, tools: ['target'] }]
  const own = conflict ? userId : { ...userId, name: 'owner' }
  const style = kind === 'wrapped agent' ? ('agentTool' as const) : ('delegate' as const)
  return [
    { ...root, subAgents: [{ agent: 'target', style, map: conflict ? {} : { owner: 'userId' } }] },
    { id: 'target', parameters: [own, { name: 'topic' }], tools: ['see'] },
  ]
}

/** A name is a parameter or an argument of a query, never both: such an agent is not even saved [Rb42]. */
async function refuseConflict(one: Case, ledger: Ledger): Promise<void> {
  const stage = createStage({ agents: agentsOf(one), plays: {}, options: { sources: { fake: sourceInto([]) } } })
  const refused = await stage.runtime.ready.then(
    () => '',
    (error: unknown) => String((error as { code?: unknown }).code),
  )
  ledger.claim('it was saved', refused === 'NAME_TAKEN')
}

/** A database that answers nothing and keeps what it was asked with. */
function sourceInto(got: unknown[]): QuerySource {
  return {
    kind: 'fake',
    check: async () => ({ ok: true, placeholders: ['userId', 'topic'] }),
    run: async ({ bindings }) => {
      got.push(Object.fromEntries([...bindings].filter(([name]) => name === 'userId' || name === 'topic')))
      return { ok: true, rows: [], truncated: false }
    },
    close: async () => {},
  }
}

function toolsInto(got: unknown[], { kind, conflict }: Case) {
  const jsonSchema =
    kind === 'open function'
      ? { type: 'object', ...(conflict ? { additionalProperties: true } : {}) }
      : schema(conflict)
  const target = defineTool({
    name: 'target',
    description: 'Does it.',
    parameters: schemaOf(),
    jsonSchema,
    effect: 'none',
    execute: (args, { parameters }) => {
      // What code reads, inherited properties included.
      const read = { userId: args['userId'], topic: args['topic'] }
      const alike = Object.keys(args).filter((name) => name !== 'userId' && plain(name) === 'userid')
      got.push(read, ...alike.map((name) => args[name]), { ...parameters })
      return 'done'
    },
  })
  const see = defineTool({
    name: 'see',
    description: 'Sees.',
    parameters: schemaOf(),
    jsonSchema: { type: 'object', properties: {} },
    effect: 'none',
    execute: (_args, { parameters }) => void got.push({ ...parameters }),
  })
  return [target, see]
}

const plain = (name: string) =>
  name
    .normalize('NFKC')
    .replace(/\p{Cf}/gu, '')
    .toLowerCase()

async function playCase(one: Case, ledger: Ledger): Promise<void> {
  const got: unknown[] = []
  const store = memoryStore()
  const beside = isChild(one.kind) && !one.conflict ? '"owner":"evil",' : ''
  const written = `{"topic":"x","message":"go","request":"go",${beside}${spellings[one.spelling]?.text}}`
  const play: Rule = (request, turn) => {
    if (turn > 0) return 'done'
    if (systemText(request).startsWith('You are target.')) return { toolCalls: [{ name: 'see', arguments: {} }] }
    return { toolCalls: [{ name: 'target', arguments: written }] }
  }
  const agents = agentsOf(one)
  const tools = one.kind.endsWith('function')
    ? toolsInto(got, one).slice(0, 1)
    : isChild(one.kind)
      ? toolsInto(got, one).slice(1)
      : []
  const stage = createStage({
    agents,
    plays: { root: play, target: play },
    options: { store, tools, sources: { fake: sourceInto(got) } },
  })
  const result = await stage.ask('root', 'go', { id: 'chats/1', parameters: { userId: canary(one.id) } })
  for (const { arguments: args } of actionsIn(result.interruptions)) got.push(args)
  if (result.status === 'waiting')
    await stage.run('chats/1', { actionResponses: result.interruptions.map(({ id }) => ({ id, response: 1 })) })
  judge(one, got, { ledger, events: await stage.events('chats/1'), entries: await storedEntries(store, 'chats/1') })
}

function judge(
  one: Case,
  got: readonly unknown[],
  { ledger, events, entries }: { ledger: Ledger; events: readonly AnyEvent[]; entries: readonly unknown[] },
): void {
  const scan = scannerOf([one.id])
  ledger.control('what is executed', got.length > 0 && scan(textOf(got)).size > 0)
  ledger.deny('override', 'what is executed', evilIn(got))
  const codes = events.filter(({ type }) => type === 'notice').map(({ content }) => String(content['code']))
  // Where any argument is taken, one that only holds the name within is the tool's own.
  const isTools = one.kind === 'open function' && !spellings[one.spelling]?.isName && one.spelling !== 'a prototype'
  const wanted = 'ARGUMENT_OVERRIDE_IGNORED'
  if (!isTools) ledger.claim(`no ${wanted} is recorded, but ${codes.join(', ')}`, codes.includes(wanted))
  if (one.policy.sendToModel === false) ledger.deny('leak', 'log', scan(textOf(entries)))
}

/** Where a value that is read under a bound name is the model's. Arguments of other names, nested ones too, are the tool's own. */
function evilIn(got: readonly unknown[]): string[] {
  const found: string[] = []
  for (const one of got) {
    if (one === 'evil' || one === null || Array.isArray(one)) found.push(JSON.stringify(one))
    if (typeof one !== 'object' || one === null) continue
    for (const name of ['userId', 'owner']) {
      const value = (one as Record<string, unknown>)[name]
      if (value !== undefined && !String(value).startsWith('cny_')) found.push(`${name} = ${JSON.stringify(value)}`)
      if (value === null) found.push(`${name} = null`)
    }
    if (Object.keys(one).some((name) => name !== 'userId' && plain(name) === 'userid'))
      found.push('a name that looks like userId')
  }
  return found
}
