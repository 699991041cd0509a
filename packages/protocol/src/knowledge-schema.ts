/** Knowledge bases, their documents, what an ingest reports, and the passages that a search finds [F08, Fb09]. */
import { z } from 'zod'
import { parameterNamePattern } from './id.ts'
import { passagesByDefault } from './knowledge-limits.ts'
import { storedFields, type StoredField, withoutStored } from './stored.ts'

/** The id of a knowledge base; a UUID is one. */
export const knowledgeIdPattern = /^[a-z0-9-]{1,64}$/

/** What the value of an attribute may be. A document has a list for `string[]`, and is seen by a filter if one of its values equals the filter's. */
const attributeTypes = ['string', 'number', 'boolean', 'string[]'] as const
export type AttributeType = (typeof attributeTypes)[number]

/** The name of an attribute of a document; a filter names it. */
export const attributeNamePattern = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/
const attributeName = z.string().regex(attributeNamePattern)

/** A base over an existing table or view: `$query`, `$limit`, each attribute of a filter and, with `embedding`, `$embedding` are bound [D16]. */
const knowledgeQuerySchema = z.strictObject({
  source: z.string().min(1).max(64),
  query: z.string().min(1).max(100_000),
})

/**
 * A knowledge base as data. `language`: how words are compared, `en` by their stem and `none` as they are written. `requiredFilters`: the
 * attributes that each agent must bind. `passageCharacters`: how long a passage may be. `embedding`: the model that places texts, such as
 * `local/embed-small`; null: words alone rank. With a `query` the base has no documents of its own.
 */
export const knowledgeBaseSchema = z.strictObject({
  id: z.string().regex(knowledgeIdPattern),
  name: z.string().min(1).max(200).optional(),
  description: z.string().max(2000).default(''),
  language: z.enum(['en', 'none']).default('en'),
  attributes: z.record(attributeName, z.enum(attributeTypes)).default({}),
  requiredFilters: z.array(attributeName).max(20).default([]),
  passageCharacters: z.number().int().min(200).max(4000).default(1200),
  embedding: z.string().min(1).max(200).nullable().default(null),
  query: knowledgeQuerySchema.nullable().default(null),
})
/** A checked base: every default filled in. */
export type KnowledgeBase = z.infer<typeof knowledgeBaseSchema>
/** A base as written: only `id` is required. */
export type KnowledgeBaseInput = z.input<typeof knowledgeBaseSchema>

/** A base as stored, with how much it has, and how many documents wait to be read. A base over a query counts nothing: null. */
export const storedKnowledgeBaseSchema = knowledgeBaseSchema.extend({
  ...storedFields,
  documents: z.number().int().nullable(),
  passages: z.number().int().nullable(),
  waiting: z.number().int().nullable(),
})
export type StoredKnowledgeBase = z.infer<typeof storedKnowledgeBaseSchema>

const counts = ['documents', 'passages', 'waiting'] as const
type KnowledgeCount = (typeof counts)[number]

/** A base without the fields that a read adds, so that what was read can be written. Anything else stays as it is. */
export function withoutStoredBase<Value>(input: Value): Omit<Value, StoredField | KnowledgeCount> {
  const data: unknown = withoutStored(input)
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return input
  const rest = Object.fromEntries(
    Object.entries(data).filter(([name]) => !(counts as readonly string[]).includes(name)),
  )
  return rest as Omit<Value, StoredField | KnowledgeCount>
}

const attributeValue = z.union([z.string().max(1000), z.number(), z.boolean(), z.array(z.string().max(1000)).max(100)])
export type AttributeValue = z.infer<typeof attributeValue>

/** The key of a document in its base: a path or a name, without control characters and without a part `..`. */
export const documentKeySchema = z
  .string()
  .min(1)
  .max(300)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it refuses
  .regex(/^[^\u0000-\u001f\u007f-\u009f\u2028\u2029]*$/, 'a key has no control characters')
  .refine((key) => key.isWellFormed(), 'a key has no half of a surrogate pair')
  .refine((key) => !key.split(/[/\\]/).includes('..'), 'a key has no part `..`')

/** A document to ingest: `text`, or `data` in base64. `uri` is a text for people; nothing is fetched. */
export const documentInputSchema = z.strictObject({
  key: documentKeySchema,
  title: z.string().max(300).nullable().default(null),
  uri: z.string().max(2000).nullable().default(null),
  mediaType: z.string().max(200).default('text/plain'),
  text: z.string().optional(),
  data: z.string().optional(),
  attributes: z.record(attributeName, attributeValue).default({}),
})
/** A document as written: only `key` and one of `text` and `data` are required. */
export type KnowledgeDocumentInput = z.input<typeof documentInputSchema>

/**
 * Why a document could not be read again since its base reads otherwise. It is found in its old form meanwhile. `retryAt` is when it is tried
 * next; null: not until it or its base changes.
 */
const rereadFailureSchema = z.object({
  code: z.string(),
  detail: z.string(),
  at: z.string(),
  attempts: z.number().int(),
  retryAt: z.string().nullable(),
})

/** A document in a list. `title` is the given one, else the first heading, else the key. `passages` is how many it has. */
export const documentLineSchema = z.object({
  key: z.string(),
  title: z.string(),
  uri: z.string().nullable(),
  mediaType: z.string(),
  attributes: z.record(z.string(), attributeValue),
  digest: z.string(),
  revision: z.number().int(),
  passages: z.number().int(),
  ingestedAt: z.string(),
  failure: rereadFailureSchema.nullable(),
})
export type KnowledgeDocumentLine = z.infer<typeof documentLineSchema>

/** A document as it was read, with its text. */
export const knowledgeDocumentSchema = documentLineSchema.extend({ text: z.string() })
export type KnowledgeDocument = z.infer<typeof knowledgeDocumentSchema>

/** What an ingest has done so far. A document that fails is listed, and fails alone. */
export const ingestSchema = z.object({
  id: z.string(),
  status: z.enum(['running', 'completed']),
  total: z.number().int(),
  done: z.number().int(),
  added: z.number().int(),
  changed: z.number().int(),
  unchanged: z.number().int(),
  deleted: z.number().int(),
  failed: z.array(z.object({ key: z.string(), code: z.string(), detail: z.string() })),
  startedAt: z.string(),
  endedAt: z.string().nullable(),
})
export type Ingest = z.infer<typeof ingestSchema>

/** The most documents of one request. */
export const mostDocuments = 1_000

/** Documents to ingest. `prune`: documents under this prefix that are not in the body are deleted. */
export const ingestRequestSchema = z.strictObject({
  documents: z.array(z.unknown()).max(mostDocuments),
  prune: z.string().max(300).nullable().default(null),
  wait: z.boolean().default(true),
})
export type IngestRequest = z.input<typeof ingestRequestSchema>

/** Where a passage stands. */
const place = {
  id: z.string(),
  base: z.string(),
  document: z.string(),
  title: z.string(),
  uri: z.string().nullable(),
  heading: z.string(),
}

/** A passage that a search found. `id` is `k` and eight characters, the same for as long as its document is unchanged. */
export const passageSchema = z.object({
  ...place,
  text: z.string(),
})
export type Passage = z.infer<typeof passageSchema>

/**
 * What a person is told of a search: that words alone ranked, that a base elsewhere was not searched, or that documents wait to be read
 * (`KNOWLEDGE_PENDING`), and so are not found yet.
 */
const searchNoticeSchema = z.object({
  code: z.enum(['EMBEDDING_FAILED', 'KNOWLEDGE_FAILED', 'KNOWLEDGE_PENDING']),
  detail: z.string(),
  base: z.string(),
})

/** What a search found, best first, and what a person is told of it. */
export const foundPassagesSchema = z.object({
  passages: z.array(passageSchema),
  notices: z.array(searchNoticeSchema),
})
export type FoundPassages = z.infer<typeof foundPassagesSchema>

/** A search of a base, as an administrator makes it. `filter` must hold every attribute of `requiredFilters`. */
export const knowledgeSearchSchema = z.strictObject({
  query: z.string().min(1).max(10_000),
  limit: z.number().int().min(1).max(20).default(6),
  filter: z.record(attributeName, attributeValue).default({}),
})
export type KnowledgeSearchInput = z.input<typeof knowledgeSearchSchema>

/** A passage that an answer names in brackets. */
export const sourceSchema = z.object({
  ...place,
  digest: z.string(),
})
export type Source = z.infer<typeof sourceSchema>

const knowledgeId = z.string().regex(knowledgeIdPattern)

/** How an agent searches a base. */
const knowledgeSettings = {
  filter: z.record(attributeName, z.string().regex(parameterNamePattern)).default({}),
  retrieval: z.enum(['tool', 'auto', 'both']).default('tool'),
  limit: z.number().int().min(1).max(20).default(passagesByDefault),
}

/** The settings of a base that an agent gets by itself. */
export const knowledgeSettingsSchema = z.strictObject(knowledgeSettings)

/**
 * A base that an agent searches: its id, or the id with settings. `filter`: the agent's parameter for an attribute of the base; it sees only
 * documents whose attribute equals the bound value. `retrieval`: by a tool of its model, with each message that begins its work, or both.
 */
export const knowledgeUseSchema = z.union(
  [
    knowledgeId,
    z.strictObject({
      id: knowledgeId,
      ...knowledgeSettings,
    }),
  ],
  {
    error:
      'expected the id of a base, or { "id": "contracts", "filter": { attribute: parameter }, "retrieval": "tool", "limit": 6 }',
  },
)

/** A base of an agent, with every setting. */
export type KnowledgeUse = Exclude<z.infer<typeof knowledgeUseSchema>, string>
