/** A map that is nearly always empty: it takes no room before something is in it. Every warm conversation has some. */
export class SparseMap<Key, Value> {
  #map: Map<Key, Value> | null = null

  get size(): number {
    return this.#map?.size ?? 0
  }

  get(key: Key): Value | undefined {
    return this.#map?.get(key)
  }

  set(key: Key, value: Value): void {
    this.#map ??= new Map()
    this.#map.set(key, value)
  }

  delete(key: Key): void {
    this.#map?.delete(key)
    if (this.#map?.size === 0) this.#map = null
  }

  /** In the order in which they were put in. */
  values(): Iterable<Value> {
    return this.#map?.values() ?? []
  }
}
