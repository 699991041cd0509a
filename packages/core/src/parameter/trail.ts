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

/** An empty trail. Besides its parent, each character has a link far back, so that `start` takes logarithmic time. */
export function createTrail(): Trail {
  const from: number[] = [0]
  const before: number[] = [-1]
  const after: number[] = [-1]
  const parent: number[] = [0]
  const jump: number[] = [0]
  const height: number[] = [0]
  const level = (node: number) => height[node] as number
  const unitsUpTo = (node: number) => after[node] as number
  return {
    add(one) {
      const units = (one.parent === 0 ? 0 : unitsUpTo(one.parent)) + one.from - one.base
      const near = jump[one.parent] as number
      const far = jump[near] as number
      from.push(one.from)
      before.push(units)
      after.push(units + one.units)
      parent.push(one.parent)
      jump.push(level(one.parent) - level(near) === level(near) - level(far) ? far : one.parent)
      height.push(level(one.parent) + 1)
      return from.length - 1
    },
    start({ base, trail }, at, units) {
      if (trail === 0 || at - base >= units) return at - units
      const target = unitsUpTo(trail) + at - base - units
      let node = trail
      for (;;) {
        if (unitsUpTo(jump[node] as number) > target) node = jump[node] as number
        else if (unitsUpTo(parent[node] as number) > target) node = parent[node] as number
        else return (from[node] as number) - ((before[node] as number) - target)
      }
    },
  }
}
