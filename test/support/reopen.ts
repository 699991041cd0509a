/** A store that outlives its runtimes: closing it changes nothing, so that the next runtime finds what the last one left. */
import type { Store } from '@witan/core'

export function outliving(store: Store): Store {
  return new Proxy(store, {
    get(target, name) {
      if (name === 'close') return async () => {}
      const member: unknown = Reflect.get(target, name, target)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
}
