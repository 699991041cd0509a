/** Where most edges of a graph meet. */
import type { HotSpot } from '@witan/protocol/protocols'

const mostSpots = 10

/** The busiest nodes first, at most 10; among equals, the order of `ids`. A node without edges is none of them. */
export function hotSpotsOf(
  ids: Iterable<string>,
  edges: readonly { readonly from: string; readonly to: string }[],
): readonly HotSpot[] {
  const spots = new Map([...ids].map((id) => [id, { id, in: 0, out: 0 }]))
  for (const { from, to } of edges) {
    const [one, other] = [spots.get(from), spots.get(to)]
    if (one !== undefined) one.out += 1
    if (other !== undefined) other.in += 1
  }
  const busy = [...spots.values()].filter((spot) => spot.in + spot.out > 0)
  return busy.sort((one, other) => other.in + other.out - one.in - one.out).slice(0, mostSpots)
}
