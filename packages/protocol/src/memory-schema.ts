/** What agents remember: the settings of an agent, blocks, and the requests about them [F02, F39]. */
import { z } from 'zod'

/** Whose a block is: of an agent and a person; of both in one conversation; or of an agent, for everybody. */
export const memoryScopes = ['person', 'conversation', 'agent'] as const
export type MemoryScope = (typeof memoryScopes)[number]

/** `core` blocks are read with the first message; `archival` ones are found by a search. */
export const memoryKinds = ['core', 'archival'] as const
export type MemoryKind = (typeof memoryKinds)[number]

/** The key of a block: no two blocks of an owner have the same one. */
export const memoryKeyPattern = /^[a-z0-9-]{1,64}$/

/** The longest text of one block, in characters. The limits of its agent are lower. */
export const longestMemory = 100_000
/** The most archival blocks that an agent keeps of one owner. */
export const mostArchivalBlocks = 1_000

/**
 * What an agent remembers. `coreCharacters` and `coreBlocks` bound what its model reads each time, `archivalCharacters` what it can search: for
 * each owner, keys not counted. `archival`: by the tool `recall`; `auto`: also with each message that begins its work; `off`: no archival
 * blocks. `inGroups`: also where two people take part.
 */
export const memorySettingsSchema = z.strictObject({
  scopes: z
    .array(z.enum(memoryScopes))
    .min(1)
    .max(3)
    .default(['person'])
    .refine((all) => new Set(all).size === all.length, { error: 'a scope is there twice' }),
  coreCharacters: z.number().int().min(100).max(40_000).default(4_000),
  coreBlocks: z.number().int().min(1).max(100).default(20),
  archivalCharacters: z.number().int().min(0).max(200_000).default(8_000),
  archival: z.enum(['tool', 'auto', 'off']).default('tool'),
  inGroups: z.boolean().default(false),
})
export type MemorySettings = z.infer<typeof memorySettingsSchema>

/** Who wrote a block: a principal or person, the agent whose model did, and where; null for a request. */
export const memoryWriterSchema = z.object({
  id: z.string(),
  agent: z.string().nullable(),
  conversationId: z.string().nullable(),
  runId: z.string().nullable(),
})
export type MemoryWriter = z.infer<typeof memoryWriterSchema>

/** A block. `subject` is whom it is about, such as `user:anna`; null in the scope `agent`. */
export const memoryBlockSchema = z.object({
  id: z.string(),
  agent: z.string(),
  scope: z.enum(memoryScopes),
  subject: z.string().nullable(),
  conversationId: z.string().nullable(),
  kind: z.enum(memoryKinds),
  key: z.string(),
  text: z.string(),
  revision: z.number().int(),
  createdAt: z.string(),
  updatedAt: z.string(),
  writtenBy: memoryWriterSchema,
})
export type MemoryBlock = z.infer<typeof memoryBlockSchema>

/** One revision of a block. */
export const memoryRevisionSchema = z.object({
  revision: z.number().int(),
  text: z.string(),
  at: z.string(),
  writtenBy: memoryWriterSchema,
})
export type MemoryRevision = z.infer<typeof memoryRevisionSchema>

const blockText = z
  .string()
  .min(1)
  .max(longestMemory)
  .refine((text) => text.isWellFormed(), 'a text has no half of a surrogate pair')
const idText = z.string().min(1).max(300)

/** A new block. `subject` is left out in the scope `agent`, `conversationId` in all but `conversation`. */
export const newMemorySchema = z.strictObject({
  agent: idText,
  scope: z.enum(memoryScopes).default('person'),
  subject: idText.nullable().default(null),
  conversationId: idText.nullable().default(null),
  kind: z.enum(memoryKinds).default('core'),
  key: z.string().regex(memoryKeyPattern),
  text: blockText,
})
export type NewMemory = z.input<typeof newMemorySchema>

/** Another text for a block that has this revision. */
export const changedMemorySchema = z.strictObject({ text: blockText, expectedRevision: z.number().int().min(1) })
export type ChangedMemory = z.input<typeof changedMemorySchema>

/** A conversation whose log holds what a model read or wrote of somebody's blocks. */
export const memoryConversationSchema = z.object({ conversationId: z.string() })
export type MemoryConversation = z.infer<typeof memoryConversationSchema>

/** What an erasure did: how many blocks are gone, and the conversations whose logs hold what a model read or wrote of them. */
export const erasedMemorySchema = z.object({
  erased: z.number().int(),
  conversations: z.array(z.string()),
  /** Those of them that were deleted, if that was asked for. */
  deleted: z.array(z.string()).optional(),
})
export type ErasedMemory = z.infer<typeof erasedMemorySchema>
