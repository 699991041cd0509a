/** API keys and principals on the wire. */
import { z } from 'zod'
import { databaseNamePattern } from './id.ts'
import { nameProblem } from './name.ts'
import { nameSchema } from './name-schema.ts'

const tenYears = 315_360_000

const holder = z
  .string()
  .refine((id) => holderProblem(id) === null, { error: ({ input }) => holderProblem(String(input)) ?? '' })
const role = nameSchema('word', 100).regex(/^[^,]*$/, { error: 'must be a word without blanks and commas' })
const address = z
  .string()
  .max(357)
  .regex(/^@[^\s@]{1,100}@[^\s@]{1,255}$/, {
    error: 'must be an address such as `@anna@example.com`',
  })
  .refine((given) => nameProblem(given.slice(0, 400), 'word') === null, {
    error: 'must have visible characters without brackets',
  })

function holderProblem(id: string): string | null {
  const person = id.startsWith('user:') ? id.slice('user:'.length) : ''
  if (person === '' || person.length > 100)
    return 'must be `user:` and the id of a person, such as `user:anna`; leave it out for a key of no person'
  const problem = nameProblem(person, 'id')
  return problem === null ? null : `is no id of a person: after \`user:\` it ${problem}`
}

/** What makes a key: whom it speaks for, with which roles, and for how long. Every role name is allowed. */
export const keyRequestSchema = z.strictObject({
  id: holder.nullable().default(null),
  roles: z.array(role).max(50).default([]),
  name: nameSchema('name', 200).nullable().default(null),
  address: address.nullable().default(null),
  expiresInSeconds: z.number().int().min(1).max(tenYears).nullable().default(null),
})
/** A request to create a key, as a caller writes it. */
export type KeyRequest = z.input<typeof keyRequestSchema>
/** The same with its defaults filled in. */
export type KeyRequestData = z.output<typeof keyRequestSchema>

const shown = {
  keyId: z.string(),
  /** The principal: `user:<person>`, or `key:<keyId>` for a key that names no person. */
  id: z.string(),
  roles: z.array(z.string()),
  name: z.string().nullable(),
  address: z.string().nullable(),
  createdAt: z.string(),
  expiresAt: z.string().nullable(),
}

/** A key in a list. `lastUsedAt` is to the minute, and may be a minute late. */
export const apiKeySchema = z.object({ ...shown, lastUsedAt: z.string().nullable() })
/** An API key as lists show it, without the key itself. */
export type ApiKey = z.infer<typeof apiKeySchema>

/** A key that was just created, with the key itself: nothing else ever shows it. */
export const createdKeySchema = z.object({ ...shown, key: z.string() })
/** An API key that was just created, with the key itself. */
export type CreatedKey = z.infer<typeof createdKeySchema>

/** Who asks. */
export const principalSchema = z.object({
  database: z.string().regex(databaseNamePattern),
  id: z.string(),
  roles: z.array(z.string()),
  address: z.string().nullable(),
})
/** A caller as the server knows it. */
export type PrincipalView = z.infer<typeof principalSchema>
