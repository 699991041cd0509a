/** Family G: callers over A2A. Whoever calls gets nothing of another's tasks, nothing that is for people, and no bound value. */
import { call, scriptedModel, toolResults } from '@witan/core/testing'
import { agent, until } from '../../support/stage.ts'
import { canary, scannerOf } from '../support/canary.ts'
import type { Ledger } from '../support/ledger.ts'
import { createOutsideWorld, type OutsideWorld, remote, type Sent, type Who, ways } from '../support/outside-world.ts'

const marks = ['hidden', 'prompt', 'instructions', 'message', 'approval', 'provider'] as const

const secret = { name: 'account', type: 'string', sendToModel: false } as const
const pay = { name: 'Pay', description: 'Pays.', parametersSchema: { type: 'object', properties: {} } }
const access = { call: ['@*@a.test', 'user:anna', 'user:eve', 'role:staff'] }
const rest = { instructions: canary('instructions'), model: 'play/model' }
const agents = [
  agent('actor', { ...rest, address: 'actor', access, parameters: [secret], actions: [pay] }),
  agent('held', { ...rest, address: 'held', access, actions: [pay], approvals: ['Pay'] }),
  agent('asker', { ...rest, address: 'asker', access, users: [{ id: 'bob' }] }),
  agent('broken', { ...rest, address: 'broken', access }),
  agent('closed', { ...rest, address: 'closed' }),
]

const model = scriptedModel(
  (request) => {
    const { content } = request.messages[0] ?? { content: '' }
    if (toolResults(request).length > 0) return 'done'
    const tools = request.tools.map(({ name }) => name)
    if (tools.includes('Pay')) return call('Pay', { note: canary('approval') })
    if (tools.includes('ask_user')) return call('ask_user', { message: canary('message') })
    return content === '' ? 'done' : new Error(canary('provider'))
  },
  { id: 'play/model' },
)

interface World extends OutsideWorld {
  readonly owner: Who
  readonly others: readonly Who[]
}

/** A server with the agents, the caller that owns the tasks, and everybody else. */
async function createWorld(): Promise<World> {
  const world = createOutsideWorld({ models: { 'play/model': model }, agents })
  return {
    ...world,
    owner: await world.key('anna', 'user:anna', ['run']),
    others: [
      await world.key('an admin', 'user:eve', ['admin', 'run', 'answer', 'read', 'staff']),
      remote('a remote that is let in', '@x@a.test'),
      remote('another one', '@anna@a.test'),
      remote('a remote that is not', '@anna@e.test'),
      remote('a remote with the name of a role', '@admin@e.test'),
      { name: 'nobody', bearer: () => null },
    ],
  }
}

/** A conversation that anna began over the API with this agent, as far as it goes. */
async function begun({ runtime }: World, local: string) {
  const witan = runtime.as({ database: runtime.principal.database, id: 'user:anna', roles: ['run'], address: null })
  const parameters = local === 'actor' ? { account: { value: canary('hidden'), sendToModel: false } } : {}
  const prompt = canary('prompt')
  const { id: contextId, run } = await witan.start({ agent: local, id: `chats/${local}`, parameters, prompt })
  await until(async () => (await runtime.getConversation(contextId)).status !== 'running')
  const { items } = await runtime.listInterruptions()
  const open = items.find(({ conversationId }) => conversationId === contextId)
  return { id: run?.runId ?? '', contextId, open }
}

const scan = scannerOf([...marks])

/** What its own caller gets of a task: its own words, what an action asks, and nothing else. */
async function playOwner(world: World, ledger: Ledger, local: string): Promise<{ id: string; sent: readonly Sent[] }> {
  const { id, contextId, open } = await begun(world, local)
  ledger.begin(`${local}: its own caller`)
  const own = await world.post(world.owner, ['GetTask', { id }], { local })
  ledger.control('its task', own.includes(id))
  if (local === 'actor') ledger.control('an inbox of this server', JSON.stringify(open).includes(canary('hidden')))
  const allowed = [canary('prompt'), ...(local === 'actor' ? [canary('approval')] : [])]
  ledger.deny('leak', 'task', scan(allowed.reduce((text, one) => text.replaceAll(one, ''), own)))
  const data = { type: 'answer', id: open?.id ?? 'none', answer: { decision: 'approved' } }
  if (local === 'held' || local === 'asker') {
    ledger.begin(`${local}: its caller answers what is for people`)
    const refused = await world.post(world.owner, ['SendMessage', { message: { parts: [{ data }], taskId: id } }], {
      local,
    })
    ledger.deny('edge', 'answer', refused.includes('ANSWER_INVALID') ? [] : [refused])
  }
  const all = { includeArtifacts: true, historyLength: 99 }
  const messages = [
    { parts: [{ text: 'x' }], contextId },
    { parts: [{ text: 'x' }], taskId: id },
    { parts: [{ data }], taskId: id },
  ]
  const sent: readonly Sent[] = [
    ...['GetTask', 'CancelTask', 'SubscribeToTask'].map((method) => [method, { id }] as const),
    ['ListTasks', all],
    ['ListTasks', { ...all, contextId }],
    ['ListTasks', { ...all, pageToken: id }],
    ...['GetTaskPushNotificationConfig', 'ListTaskPushNotificationConfigs'].map(
      (method) => [method, { taskId: id }] as const,
    ),
    ...messages.flatMap((message) =>
      ['SendMessage', 'SendStreamingMessage'].map((method) => [method, { message }] as const),
    ),
  ]
  return { id, sent }
}

/** Plays the family. */
export async function playOutside(ledger: Ledger): Promise<void> {
  const world = await createWorld()
  for (const local of ['actor', 'held', 'asker', 'broken']) {
    const { id, sent } = await playOwner(world, ledger, local)
    for (const who of world.others)
      for (const one of sent)
        for (const way of ways)
          for (const at of way.startsWith('the hub') ? [local] : [local, 'closed']) {
            ledger.begin(`${local} at ${at} by ${way}: ${who.name}, ${JSON.stringify(one)}`)
            const answer = await world.post(who, one, { local: at, way })
            ledger.deny('leak', 'answer', scan(answer))
            ledger.deny('leak', 'task id', answer.includes(id) ? [id] : [])
          }
    ledger.begin(`${local}: nothing moved`)
    const { status } = await world.runtime.getRun(id)
    ledger.deny('edge', 'run', status === (local === 'broken' ? 'failed' : 'waiting') ? [] : [status])
  }
  await world.close()
}
