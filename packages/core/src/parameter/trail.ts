/** Finds where a reading of a text began, if several characters may spell one. */

/**
 * A character that is spelled with several characters, or that represents nothing. `base` and `parent` belong to the
 * reading that meets it.
 */
interface Irregular {
  readonly from: number
  readonly base: number
  readonly units: number
  readonly parent: number
}

/** The irregular characters of all readings, each linked to the previous one on its reading; 0 means none. */
export interface Trail {
  /** Adds a character; returns its number. */
  add(one: Irregular): number
  /**
   * Where the last `units` units of a reading at `at` began. The reading's last irregular character is `trail`, which ended
   * at `base`.
   */
  start(reading: { readonly base: number; readonly trail: number }, at: number, units: number): number
}

/** The fields of a character in the list of all. */
const field = { from: 0, before: 1, after: 2, parent: 3, jump: 4, height: 5 } as const
const fields = 6

/** An empty trail. Besides its parent, each character has a link far back, so that `start` takes logarithmic time. */
export function createTrail(): Trail {
  let nodes = none
  let size = fields
  const get = (node: number, name: number) => nodes[node + name] as number
  return {
    add({ from, base, units, parent }) {
      if (nodes.length < size + fields) nodes = larger(nodes)
      const node = size
      size += fields
      const before = (parent === 0 ? 0 : get(parent, field.after)) + from - base
      const near = get(parent, field.jump)
      const far = get(near, field.jump)
      const height = get(parent, field.height)
      const isFar = height - get(near, field.height) === get(near, field.height) - get(far, field.height)
      nodes[node + field.from] = from
      nodes[node + field.before] = before
      nodes[node + field.after] = before + units
      nodes[node + field.parent] = parent
      nodes[node + field.jump] = isFar ? far : parent
      nodes[node + field.height] = height + 1
      return node
    },
    start({ base, trail }, at, units) {
      if (trail === 0 || at - base >= units) return at - units
      const target = get(trail, field.after) + at - base - units
      let node = trail
      for (;;) {
        const [far, near] = [get(node, field.jump), get(node, field.parent)]
        if (get(far, field.after) > target) node = far
        else if (get(near, field.after) > target) node = near
        else return get(node, field.from) - (get(node, field.before) - target)
      }
    },
  }
}

/** The first node stands for none: it ends before all others. */
const none = Int32Array.of(0, -1, -1, 0, 0, 0)

function larger(nodes: Int32Array): Int32Array<ArrayBuffer> {
  const more = new Int32Array(Math.max(64 * fields, 2 * nodes.length))
  more.set(nodes)
  return more
}
