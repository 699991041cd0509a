/** Agents that are called over A2A with keys of their server, and two people who may call one of them. */
import { type A2aClient, a2aClient, keyOf } from './a2a.ts'
import { agent, createStage, type Stage, sub } from './stage.ts'

/** Agents on the domain `bots.example`, and clients of `docs` for two people. */
export interface CalledAgents {
  readonly stage: Stage
  /** The key of Anna. */
  readonly key: string
  readonly anna: A2aClient
  readonly bob: A2aClient
  /** A client at another path; `token` is the key of Anna unless another or none is given. */
  at(path: string, token?: string | null): A2aClient
}

export async function calledAgents(): Promise<CalledAgents> {
  const stage = await createStage({
    prepare: () => ({
      server: { domain: 'bots.example', domains: { 'acme.example': 'acme' } },
      federation: { maxOpenTasks: 3 },
    }),
  })
  const open = { call: ['user:anna', 'user:bob'] }
  await stage.save(
    agent('docs', { address: 'docs', access: open }),
    agent('closed', { address: 'closed', access: { call: ['user:nobody'] } }),
    agent('free', { address: 'free' }),
    agent('hidden'),
    agent('off', { address: 'off', disabled: true }),
    agent('boss', { address: 'boss', subAgents: [sub('worker', { blocking: 'never' })] }),
    agent('worker'),
  )
  const key = await keyOf(stage.witan, { id: 'user:anna', roles: ['run'] })
  const at = (path: string, token: string | null = key) => a2aClient(() => stage.witan, path, token)
  const bob = at('/a2a/docs', await keyOf(stage.witan, { id: 'user:bob', roles: ['run'] }))
  return { stage, key, anna: at('/a2a/docs'), bob, at }
}
