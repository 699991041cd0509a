/** Paging, the same for every list. */
import { z } from 'zod'

/** The query of every list. */
export const pageQuery = {
  limit: z.number().int().min(1).max(200).optional().meta({ description: 'The most items of a page; default 50.' }),
  cursor: z.string().max(1000).optional().meta({ description: '`nextCursor` of the page before.' }),
}

/** A page of a list; `nextCursor` is null on the last one. */
export function pageOf(item: z.ZodType): z.ZodType {
  return z.object({ items: z.array(item), nextCursor: z.string().nullable() })
}

/** Removes keys that are undefined, since the runtime's options do not accept them. */
export function given<Options extends object>(
  options: Options,
): { [Key in keyof Options]: Exclude<Options[Key], undefined> } {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as {
    [Key in keyof Options]: Exclude<Options[Key], undefined>
  }
}
