/** A server with agents that are called over A2A: one that asks and acts, and others who let in whom they must. */
import { type A2aClient, a2aClient, keyOf } from './a2a.ts'
import { agent, createStage, type Stage } from './stage.ts'

/** A model, and its next replies. */
export type Script = readonly [model: string, ...replies: Parameters<Stage['model']['script']>[1][]]

/** The stage, its caller, and the agent `desk` as that caller reaches it. */
export interface Desk {
  readonly stage: Stage
  readonly key: string
  readonly desk: A2aClient
}

/** Starts it on a file, so that it can be restarted. */
export async function createDesk(): Promise<Desk> {
  const stage = await createStage({
    store: 'file',
    prepare: () => ({ server: { domain: 'bots.example' }, federation: { defaultAgent: 'desk' } }),
  })
  const act = {
    name: 'Pay',
    description: 'Pays.',
    parametersSchema: { type: 'object', properties: { amount: { type: 'integer' } } },
  }
  await stage.save(
    agent('desk', {
      address: 'desk',
      questions: true,
      actions: [act],
      parameters: [{ name: 'account', type: 'string', sendToModel: false }],
    }),
    agent('other', { address: 'other' }),
    agent('guarded', { address: 'guarded', actions: [act], approvals: ['Pay'] }),
    agent('people', { address: 'people', users: [{ id: 'anna', name: 'Anna', roles: [], channel: 'inbox' }] }),
    agent('open', { address: 'open', access: { call: ['anonymous'] } }),
  )
  const key = await keyOf(stage.witan, { id: 'user:eve', roles: ['run'] })
  return { stage, key, desk: a2aClient(() => stage.witan, '/a2a/desk', key) }
}

/** The next replies of a model, after those that it has given. */
export function scriptNext({ model: server }: Stage, ...[model, ...replies]: Script): void {
  const from = server.of(model).length
  server.on(model, ({ nth }) => replies[nth - 1 - from] ?? { text: 'out of script' })
}
