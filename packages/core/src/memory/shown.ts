/** Blocks as models read them. */
import type { RememberedBlock } from '@witan/protocol/entries'

/** A core block as a model reads it. */
export function shownCore({ scope, key, text, revision }: RememberedBlock, isScoped: boolean) {
  return { ...(isScoped ? { scope } : {}), key, text, revision }
}

/** A found block as a model reads it, as in the result of `recall`. */
export function shownRecalled({ kind, key, text, revision, updatedAt }: RememberedBlock) {
  return { key, kind, text, revision, updated_at: new Date(updatedAt).toISOString() }
}
