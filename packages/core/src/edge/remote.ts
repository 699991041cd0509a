/** The edge to an agent on another server: a tool that calls it, and the body of the call [M18]. */
import type { AgentData, ErrorCode } from '@witan/protocol'
import { cardBytes, mostCardBytes, type RemoteAgent } from '@witan/protocol/entries'
import { linkOfRemote, remoteAgent, remoteOf, remotesOf } from '../agent/remote-agent.ts'
import { isFinal } from '../identity/chain.ts'
import { refusing } from '../tool/delegation.ts'
import { failed, type Outcome } from '../tool/outcome.ts'
import type { RemoteCaller, RemoteLink } from '../tool/remote.ts'
import { checkSchema, type JsonSchema } from '../tool/schema.ts'
import type { Caller, ImmediateTool, RunningTool, Tool, ToolSource } from '../tool/tool.ts'
import type { Spawn } from '../tool/waiting.ts'

/** The agents on other servers that an agent calls, as its tools; in such a call itself, its body. `remotes` is null where nothing may be called. */
export function remoteTools(remotes: RemoteCaller | null): ToolSource {
  const offered = new WeakMap<RemoteAgent, ImmediateTool>()
  return (caller) => {
    const own = linkOfRemote(caller.agent)
    if (own !== null) return [bodyOf(own, remotes)]
    return remotesOf(caller.agent).map((edge): Tool => {
      const why = obstacle(edge, caller, remotes)
      if (why !== null)
        return refusing(
          { tool: edge.name, kind: 'remote', of: remoteOf(edge), agent: edge.name, map: {} },
          why.detail,
          why.code,
        )
      const known = offered.get(edge) ?? callTool(edge, remoteAgent(caller.agent, edge.name) as AgentData, remotes)
      offered.set(edge, known)
      return known
    })
  }
}

interface Obstacle {
  readonly code: Extract<ErrorCode, 'CHAIN_EXHAUSTED' | 'DEPTH_EXCEEDED' | 'REMOTE_CARD_INVALID' | 'TOOL_UNKNOWN'>
  readonly detail: string
}

/** Why an agent is not offered; null if it is. */
function obstacle(edge: RemoteAgent, caller: Caller, remotes: RemoteCaller | null): Obstacle | null {
  const { name, mentionRelay, card = '' } = edge
  const { incoming } = caller.principal
  if (remotes === null)
    return {
      code: 'TOOL_UNKNOWN',
      detail: `\`${name}\` is not available: this server has no domain, so it calls no other.`,
    }
  // Saved by a version that took any.
  if (card.length > mostCardBytes / 3 && cardBytes(card) > mostCardBytes) {
    const detail = `\`${name}\` is not called: the URL of its card has ${cardBytes(card)} bytes, at most ${mostCardBytes} are taken. Save the agent with a shorter one.`
    return { code: 'REMOTE_CARD_INVALID', detail }
  }
  if (incoming?.chain !== undefined && isFinal(incoming.chain)) {
    const { hop, maxHops } = incoming.chain
    return {
      code: 'CHAIN_EXHAUSTED',
      detail: `this is the final hop (${hop} of ${maxHops}); answer with what you have.`,
    }
  }
  // The called agent brings others in by a mention; those below it have no such way.
  if (incoming?.mentionRelay === 'inline' && mentionRelay === 'none' && caller.lineage.length === 1)
    return {
      code: 'TOOL_UNKNOWN',
      detail: `\`${name}\` is not called from here: write its address at the beginning of your answer.`,
    }
  if (caller.depth < caller.maxDepth) return null
  const detail = `a call of \`${name}\` would go deeper than ${caller.maxDepth}; answer with what you have.`
  return { code: 'DEPTH_EXCEEDED', detail }
}

/** Whether a call has come through an agent already, its caller included [M28]. */
function loops({ address }: RemoteAgent, { agent, principal }: Caller): boolean {
  if (address === undefined) return false
  const path = principal.incoming?.chain?.path ?? []
  return agent.address === address || path.includes(address) || path.length >= longestPath
}

/** The most addresses of a path, with the one that calls. */
const longestPath = 64

function callTool(edge: RemoteAgent, agent: AgentData, remotes: RemoteCaller | null): ImmediateTool {
  const { name, description, blocking } = edge
  const parameters = schemaOf(edge)
  const at = remoteOf(edge)
  return {
    name,
    kind: 'remote',
    of: at,
    offer: { name, description: description || `Asks the agent ${at} on another server.`, parameters },
    notice: null,
    effect: 'none',
    bound: [],
    immediate: true,
    check: (args) => checkSchema(parameters, args),
    invoke({ arguments: args }, caller): Outcome {
      if (loops(edge, caller))
        return failed('CHAIN_LOOP', `${at} is among those that this call came through; answer it yourself.`)
      const child: Spawn = {
        agent: name,
        message: String(args['message']),
        generated: null,
        map: {},
        history: edge.history,
        remote: { at, agent },
      }
      const isTask = blocking === 'never' || (blocking === 'model' && args['blocking'] === false)
      const noBudget = (how: string) =>
        failed('BUDGET_EXCEEDED', `The budget leaves no room for \`${name}\`${how}; do it yourself.`)
      if (isTask) return { kind: 'pending', child, background: { noBudget: noBudget(' in the background') } }
      if (remotes?.sharesBudget?.(at) !== true) return { kind: 'pending', child }
      return { kind: 'pending', child, share: { noBudget: noBudget('') } }
    },
  }
}

function schemaOf({ blocking }: RemoteAgent): JsonSchema {
  const message = { type: 'string', minLength: 1, description: 'The task or question, complete in itself.' }
  const wait = {
    type: 'boolean',
    description: 'False: it works in the background and you go on at once. Otherwise you wait for its answer.',
  }
  const properties = blocking === 'model' ? { message, blocking: wait } : { message }
  return Object.freeze({ type: 'object', properties, required: ['message'], additionalProperties: false })
}

/** A remote call takes as long as it takes: the other server, a cancel or the time of its run ends it. */
const mostMs = 2_147_483_647

/** Calls the other server. It may run again at any time: what it must know then is in its notes. */
function bodyOf(link: RemoteLink, remotes: RemoteCaller | null): RunningTool {
  const { name } = link.edge
  return {
    name,
    kind: null,
    offer: null,
    notice: null,
    effect: 'keyed',
    bound: [],
    immediate: false,
    timeoutMs: mostMs,
    check: (args) => ({ ok: true, arguments: args }),
    async invoke({ callId, arguments: { message } }, context) {
      const { body } = context
      if (body === undefined || remotes === null)
        return failed('REMOTE_UNREACHABLE', `\`${name}\` cannot be called: this server calls no other.`)
      return remotes.call({ ...link, callId, message: String(message), context, body })
    },
  }
}
