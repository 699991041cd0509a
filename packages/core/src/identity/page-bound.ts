/** Where a page of JSON ends beside its number of items: in bytes. */

import { jsonLength } from './json-length.ts'

/** How many bytes of JSON a page has at most. A single item that is larger comes alone. */
export const mostPageBytes = 4 * 1_048_576

/** Decides for each item of a page, in the order in which the page grows, whether it still fits. The first item always does. */
export interface PageBound {
  fits(item: unknown): boolean | Promise<boolean>
}

/** A bound of about `most` bytes for one page, by an estimate that writes no JSON. */
export function pageBound(most = mostPageBytes): PageBound {
  let length = 0
  let count = 0
  return {
    fits(item) {
      length += jsonLength(item) + 1
      count += 1
      return count === 1 || length <= most
    },
  }
}
