/** A map that allocates nothing while it is empty. Every warm conversation has several, nearly always empty. */
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

  /** In insertion order. */
  values(): Iterable<Value> {
    return this.#map?.values() ?? []
  }
}
