/** The address under which parts that a model keeps are stored. */
import { createHash } from 'node:crypto'

/** A whole address without its login. A query may hold a key: in its place stands a short digest, which tells two of them apart and no more. */
export function keptAddress({ origin, pathname, search }: URL): string {
  const query = search === '' ? '' : `?${createHash('sha256').update(search).digest('base64url').slice(0, 6)}`
  return `${origin}${pathname}${query}`
}
