/** A protocol between two agents as data: the messages that they exchange, and in which order. */
import { z } from 'zod'
import { messageNamePattern, protocolNamePattern } from './id.ts'
import { storedFields } from './stored.ts'

const jsonSchema = z.record(z.string(), z.unknown())
const text = z.string().max(100_000)
const messageName = z.string().regex(messageNamePattern)

/** The two ends of a protocol. The initiator sends the first message. */
const protocolRoles = ['initiator', 'responder'] as const
export type ProtocolRole = (typeof protocolRoles)[number]

/** One kind of message: who sends it, the JSON Schema of its content, and that of the reply; null: the reply is free text [T20]. */
export const protocolMessageSchema = z.strictObject({
  name: messageName,
  from: z.enum(protocolRoles),
  schema: jsonSchema.default({ type: 'object' }),
  reply: jsonSchema.nullable().default(null),
})
export type ProtocolMessage = z.infer<typeof protocolMessageSchema>

const stateName = z.string().min(1).max(64)

const hasAtMost = (most: number) => (value: object) => Object.keys(value).length <= most

/** The order of messages: for each state, the messages that are allowed in it, and the state that each leads to. */
export const protocolOrderSchema = z.strictObject({
  start: stateName,
  final: z.array(stateName).min(1).max(200),
  states: z
    .record(stateName, z.record(messageName, stateName).refine(hasAtMost(100), 'at most 100 messages'))
    .refine(hasAtMost(200), 'at most 200 states'),
})
export type ProtocolOrder = z.infer<typeof protocolOrderSchema>

/**
 * A protocol [T20, Tb19]. `purpose` and `processing` are for the responder's model: what the exchange is for, and what to do with a
 * message. Without an `order` every message is allowed at any time.
 */
export const protocolSchema = z.strictObject({
  name: z.string().regex(protocolNamePattern),
  purpose: text.default(''),
  processing: text.default(''),
  messages: z.array(protocolMessageSchema).min(1).max(100),
  order: protocolOrderSchema.nullable().default(null),
})
/** A checked protocol: every default filled in. */
export type Protocol = z.infer<typeof protocolSchema>
/** A protocol as written. */
export type ProtocolInput = z.input<typeof protocolSchema>

/** A protocol as stored: its data, its revision and the warnings of its check. */
export const storedProtocolSchema = protocolSchema.extend(storedFields)
export type StoredProtocol = z.infer<typeof storedProtocolSchema>

/** What two agents said by one protocol in a run, and what was not sent because it broke the protocol [T20]. */
const exchangeSchema = z.object({
  id: z.string(),
  protocol: z.string(),
  revision: z.number().int(),
  initiator: z.string(),
  responder: z.string(),
  /** Null without an order. */
  state: z.string().nullable(),
  finished: z.boolean(),
  violations: z.array(z.object({ seq: z.number().int(), code: z.string(), detail: z.string() })),
  /** `number` counts the messages of the whole run. */
  messages: z.array(
    z.object({
      seq: z.number().int(),
      number: z.number().int(),
      from: z.string(),
      to: z.string(),
      name: z.string(),
      isReply: z.boolean(),
      body: z.unknown(),
    }),
  ),
})
export type Exchange = z.infer<typeof exchangeSchema>

/** The exchanges of a run, in the order of their beginning: of the first message, or of the first one that was refused. */
export const exchangesSchema = z.object({ exchanges: z.array(exchangeSchema) })
