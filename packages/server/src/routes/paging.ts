/** How every list is read: a page at a time. */
import { z } from 'zod'

/** The query of every list. */
export const pageQuery = {
  limit: z.number().int().min(1).max(200).optional().meta({ description: 'At most so many items; 50 unless given.' }),
  cursor: z.string().max(1000).optional().meta({ description: '`nextCursor` of the page before.' }),
}

/** A page of a list; `nextCursor` is null on the last one. */
export function pageOf(item: z.ZodType): z.ZodType {
  return z.object({ items: z.array(item), nextCursor: z.string().nullable() })
}

/** Leaves out what was not given, as the runtime's options want it. */
export function given<Options extends object>(
  options: Options,
): { [Key in keyof Options]: Exclude<Options[Key], undefined> } {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as {
    [Key in keyof Options]: Exclude<Options[Key], undefined>
  }
}
