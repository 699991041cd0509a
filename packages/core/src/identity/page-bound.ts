/** Where a page of JSON ends beside its number of items: in bytes. */
import { jsonLength } from './json-length.ts'
import { jsonBytes } from './json-pieces.ts'

/** How many bytes of JSON the items of a page have at most. A single item that is larger comes alone. */
const mostPageBytes = 4 * 1_048_576

/** How many bytes a character of an estimate has at most: six, as an escape such as `\u0001`. */
const mostOfCharacter = 6

/** Decides for each item of a page, in the order in which the page grows, whether it still fits. The first item always does. */
export interface PageBound {
  fits(item: unknown): boolean | Promise<boolean>
}

/** A bound of `most` bytes for one page. Items are written to count them only if their estimates at worst are too much. */
export function pageBound(most = mostPageBytes): PageBound {
  let bytes = 1
  let count = 0
  /** The items that `bytes` counts with the most that they could take. */
  let estimated: unknown[] = []
  let counted = bytes
  const recount = async (): Promise<boolean> => {
    for (const item of estimated) counted += (await jsonBytes(item)) + 1
    estimated = []
    bytes = counted
    return bytes <= most
  }
  return {
    fits(item) {
      bytes += mostOfCharacter * jsonLength(item) + 1
      estimated.push(item)
      count += 1
      return count === 1 || bytes <= most || recount()
    },
  }
}
