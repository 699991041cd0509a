/** A server whose agents are called from outside, a second server whose agents may call them, and a third one whose agents may not. */
import { type A2aClient, type A2aMessage, a2aClient, message } from './a2a.ts'
import { createRemoteServer, type RemoteServer } from './remote-server.ts'
import { agent, createStage, type Stage, sub } from './stage.ts'

const bots = 'bots.example'

/** How an agent of another server calls. */
interface Caller {
  readonly from?: RemoteServer
  readonly claims?: Record<string, unknown>
  readonly header?: Record<string, unknown>
}

/** Agents on the domain `bots.example`, and the servers of their callers. */
export interface CalledFromOutside {
  readonly stage: Stage
  readonly remote: RemoteServer
  readonly stranger: RemoteServer
  /** An agent of a remote server that calls the agent at this path; the hub for an empty one. */
  calling(local: string, caller?: Caller): A2aClient
  close(): Promise<void>
}

export async function calledFromOutside(): Promise<CalledFromOutside> {
  const remote = await createRemoteServer('a.test')
  const stranger = await createRemoteServer('c.test')
  const stage = await createStage({
    store: 'file',
    prepare: () => ({
      server: { domain: bots },
      federation: { maxHops: 4, resolve: { 'a.test': remote.url, 'c.test': stranger.url } },
    }),
  })
  const access = { call: ['@*@a.test'] }
  const users = [{ id: 'anna', name: 'Anna', roles: [], channel: 'inbox' }]
  await stage.save(
    agent('docs', { address: 'docs', access, subAgents: [sub('helper'), sub('digger', { blocking: 'never' })] }),
    agent('helper'),
    agent('digger'),
    agent('asking', { address: 'asking', access, users, subAgents: [sub('later', { blocking: 'never' })] }),
    agent('later', { users }),
    agent('quiz', {
      address: 'quiz',
      access: { call: ['@*@a.test', 'role:admin'] },
      questions: true,
      users: 'participants',
    }),
    agent('closed', { address: 'closed' }),
    agent('staff', { address: 'staff', access: { call: ['role:run', 'user:a'] } }),
    agent('only', { address: 'only', access: { call: ['@b@a.test'] } }),
    agent('fussy', {
      address: 'fussy',
      access,
      parameters: [{ name: 'region', type: 'string', description: 'Which.' }],
    }),
  )
  const calling = (local: string, { from = remote, claims = {}, header = {} }: Caller = {}): A2aClient => {
    const aud = local === '' ? `https://${bots}` : `@${local}@${bots}`
    const token = (params: unknown) => {
      const sent = (params as { message?: A2aMessage } | undefined)?.message
      return from.token({ aud, ...(sent === undefined ? {} : { jti: sent.messageId }), ...claims }, header)
    }
    return a2aClient(() => stage.witan, local === '' ? '/a2a' : `/a2a/${local}`, token)
  }
  return {
    ...{ stage, remote, stranger, calling },
    async close() {
      await stage.close()
      await remote.close()
      await stranger.close()
    },
  }
}

/** The model of an agent gives these replies next. */
export function replies(stage: Stage, model: string, ...all: Parameters<Stage['model']['script']>[1][]): void {
  const from = stage.model.of(model).length
  stage.model.on(model, ({ nth }) => all[nth - 1 - from] ?? { text: 'out of script' })
}

export const chainOf = (hop: number, max_hops: number, more = {}) => ({ hop, max_hops, ...more })
export const withChain = (text: string, agent_chain: unknown, more: object = {}) =>
  message(text, { metadata: { mentionable: { agent_chain, ...more } } })
