/** What a store adds to a definition: its revision, who made that and when, and the warnings of its check. */
import { z } from 'zod'
import { changeVias } from './audit.ts'
import { findingSchema } from './finding.ts'

/** The fields of a stored definition beside its data. `by`, `via` and `at` are null if an earlier version stored the revision. */
export const storedFields = {
  revision: z.number().int(),
  source: z.enum(['code', 'data']),
  warnings: z.array(findingSchema),
  /** The principal that made this revision, how it was known, and when. */
  by: z.string().nullable(),
  via: z.enum(changeVias).nullable(),
  at: z.string().nullable(),
}

/** The names of those fields, and of `modelKind`, which only agents have. */
export type StoredField = keyof typeof storedFields | 'modelKind'

const names: readonly string[] = [...Object.keys(storedFields), 'modelKind']

/** A definition without the fields that a read adds, so that what was read can be written. Anything else stays as it is. */
export function withoutStored<Value>(input: Value): Omit<Value, StoredField> {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return input
  return Object.fromEntries(Object.entries(input).filter(([name]) => !names.includes(name))) as Omit<Value, StoredField>
}
