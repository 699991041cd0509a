/** The edges of an agent: whom it may call, hand over to and write to, here and on other servers. */
import { z } from 'zod'
import { agentId, nameMap, temperature, text, toolName } from './agent-fields.ts'
import { protocolNamePattern } from './id.ts'

/** What a calling model may choose for one delegation: one of these models, and a temperature in this range [F14, D22]. */
const overridesSchema = z.strictObject({
  model: z.array(z.string().min(1).max(200)).max(50).default([]),
  temperature: z
    .tuple([temperature, temperature])
    .refine(([least, most]) => least <= most, 'the first must not be above the second')
    .nullable()
    .default(null),
})

/**
 * An edge to a sub-agent that is called as a tool [R02]: as a delegate, or wrapped with one `request` [K15]. `map` gives
 * the parent's parameter for a child's parameter, or `null` for none [E17]. `history` says what the child's model sees of
 * the past: its own earlier delegations, nothing, or these and the caller's document [C5]. The caller reads the child's
 * final text, or all its texts with `collect: all` [K20].
 */
export const subAgentEdgeSchema = z.strictObject({
  agent: agentId,
  description: text.default(''),
  style: z.enum(['delegate', 'agentTool']).default('delegate'),
  /** Whether the caller waits: always, never, or as its model decides with the argument `blocking` [F14]. */
  blocking: z.enum(['always', 'never', 'model']).default('always'),
  history: z.enum(['agent', 'isolated', 'shared']).default('agent'),
  collect: z.enum(['final', 'all']).default('final'),
  overrides: overridesSchema.nullable().default(null),
  map: nameMap.default({}),
})
export type SubAgentEdge = z.infer<typeof subAgentEdgeSchema>
/** The edge in a request that names the agent elsewhere. */
export const namelessEdgeSchema = subAgentEdgeSchema.partial({ agent: true })
export type SubAgentEdgeInput = z.input<typeof namelessEdgeSchema>

/**
 * An edge to an agent that its agent may hand the conversation over to [K01]. `map` is as for a sub-agent. `history` says what
 * the target reads of earlier agents: everything, or only people's words and final texts. With `returnsTo: "caller"` control
 * comes back once the target has answered; null: the target keeps it to the end of the run.
 */
export const transferSchema = z.strictObject({
  agent: agentId,
  description: text.default(''),
  map: nameMap.default({}),
  history: z.enum(['all', 'words']).default('all'),
  returnsTo: z.enum(['caller']).nullable().default(null),
})
export type TransferEdge = z.infer<typeof transferSchema>

/**
 * A protocol that its agent speaks, in one role [T19]. An initiator names the `peers` that it may write to. A responder takes messages
 * from the peers that it names; null: from every initiator that names it. `map` is as for a sub-agent; no model supplies a value.
 */
export const speaksSchema = z
  .strictObject({
    protocol: z.string().regex(protocolNamePattern),
    role: z.enum(['initiator', 'responder']),
    peers: z.array(agentId).min(1).max(200).nullable().default(null),
    map: nameMap.default({}),
  })
  .refine(({ role, peers }) => role === 'responder' || peers !== null, {
    path: ['peers'],
    message: 'an initiator names at least one peer',
  })
export type Speaks = z.infer<typeof speaksSchema>

/** How long the URL of a card may be: it stands in indexes of a store, of which some take no more than 2,704 bytes. */
export const mostCardBytes = 2000

/** The length of a card's URL as a store counts it. */
export function cardBytes(card: string): number {
  return new TextEncoder().encode(card).byteLength
}

/** The URL of a card. */
export const cardSchema = z
  .url({ protocol: /^https?$/ })
  .max(mostCardBytes)
  .refine((card) => cardBytes(card) <= mostCardBytes, `must have at most ${mostCardBytes} bytes in UTF-8`)

/**
 * An edge to an agent on another server [M18], found by its `address` or by the URL of its `card`. `history: "agent"` keeps one context
 * there for each document; `isolated`: a new one for each call. `mentionRelay` is what it is told of mentions [M13]. `pin` is the thumbprint of
 * the key that must have signed its card; null: the key that signed first is kept. `onBehalfOf`: whether it learns for whom it is
 * called; absent: only one with an `address` does.
 */
export const remoteSchema = z
  .strictObject({
    name: toolName,
    address: z.string().max(400).optional(),
    card: cardSchema.optional(),
    /** The environment variable with the credential for a server that is known by its card. */
    bearerEnv: z
      .string()
      .regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/)
      .optional(),
    description: text.default(''),
    blocking: z.enum(['always', 'never', 'model']).default('always'),
    history: z.enum(['agent', 'isolated']).default('agent'),
    mentionRelay: z.enum(['none', 'inline']).default('none'),
    pin: z
      .string()
      .regex(/^[A-Za-z0-9_-]{43}$/)
      .nullable()
      .default(null),
    onBehalfOf: z.boolean().optional(),
  })
  .refine(({ address, card }) => (address === undefined) !== (card === undefined), {
    path: ['address'],
    message: 'expected either `address` or `card`',
  })
  .refine(({ card, bearerEnv }) => card !== undefined || bearerEnv === undefined, {
    path: ['bearerEnv'],
    message: 'goes with `card`: an address gets a credential of this server',
  })
export type RemoteAgent = z.infer<typeof remoteSchema>
