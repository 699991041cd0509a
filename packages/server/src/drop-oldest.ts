/** Bounds a map that is filled by strangers. */

/** Deletes the entries that were set first, until at most `most` are left. */
export function dropOldest<Key>(map: Map<Key, unknown>, most: number): void {
  for (const oldest of map.keys()) {
    if (map.size <= most) return
    map.delete(oldest)
  }
}
